#include "reports/claims/change_claim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "reports/words/counted.h"

namespace mpsprobe {

std::string sure_in_words(double confidence) {
  constexpr double kMost = 99.9;  // nothing that was counted is certain
  const double percent = std::floor(std::max(0.0, confidence) * 1000) / 10;
  return fmt::format("{:.1f}% sure", std::min(kMost, percent));
}

std::string change_in_words(const ChangePoint& change, const std::vector<std::string>& builds) {
  const size_t place = change.likeliest();
  const std::string sure = sure_in_words(change.confidence);
  if (place > 0) {
    // What is seen less often has not ended.
    return change.began[place] > 0.5
               ? fmt::format("the failure began with {} ({})", builds[place], sure)
               : fmt::format("the failure is rarer from {} on ({})", builds[place], sure);
  }
  // A rate that rises and falls again between builds that were not tried is not seen.
  std::string untried;
  if (change.untried > 0) {
    untried = fmt::format("; {} of {} builds were not tried, and may differ", change.untried,
                          builds.size());
  }
  return fmt::format("no change of the rate by {:g} points or more among the builds tried ({}){}",
                     kLeastChange * 100, sure, untried);
}

std::string undecided_in_words(const ChangePoint& change, const std::vector<std::string>& builds,
                               double sure) {
  std::vector<int> places;
  std::vector<std::string> names;
  for (const size_t place : change.possible(sure)) {
    if (place == 0) {
      names.emplace_back("no culprit");
    } else {
      places.push_back(static_cast<int>(place));
    }
  }
  for (const auto& [first, last] : runs_of(places)) {
    names.push_back(builds.at(static_cast<size_t>(first)));
    if (last == first) continue;
    names.back() += fmt::format(" {} {}", last == first + 1 ? "or" : "to",
                                builds.at(static_cast<size_t>(last)));
  }
  const std::string_view how = names.size() > 1 ? "one of " : places.size() > 1 ? "" : "likely ";
  return fmt::format("undecided: {}{} ({:g}% confidence)", how, fmt::join(names, ", "), sure * 100);
}

std::string shift_in_words(const RateShift& shift) {
  return fmt::format("fails {} ({:.1f}% -> {:.1f}%, {})",
                     shift.after > shift.before ? "more often" : "less often", 100 * shift.before,
                     100 * shift.after, sure_in_words(shift.chance));
}

}  // namespace mpsprobe

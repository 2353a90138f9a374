#include "reports/claims/change_claim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

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
  const std::vector<size_t> places = change.possible(sure);
  std::vector<std::string> names;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] == 0) {
      names.emplace_back("no culprit");
      continue;
    }
    const size_t first = i;
    while (i + 1 < places.size() && places[i + 1] == places[i] + 1) ++i;
    names.push_back(first == i ? builds[places[i]]
                               : fmt::format("{} {} {}", builds[places[first]],
                                             i == first + 1 ? "or" : "to", builds[places[i]]));
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

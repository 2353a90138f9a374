#include "tools/runner/bisect/bisect_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "harness/statistics/anytime.h"
#include "reports/claims/change_claim.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr const char* kBisectSimulated =
    "SIMULATED. This ran on a simulated Metal device with planted defects: no evidence about "
    "Apple's software.\n\n";

// A reason may be what a compiler printed.
constexpr size_t kMostReason = 90;

/// The names of the builds that `change` is over.
std::vector<std::string> usable_names(const BisectResult& result) {
  std::vector<std::string> names;
  for (const size_t build : result.usable) names.push_back(result.builds[build].name);
  return names;
}

/// Those of the builds from one to before another that could not be tried.
std::string untried(const BisectResult& result, size_t from, size_t to) {
  std::string names;
  for (size_t i = from; i < to; ++i) {
    const Build& build = result.builds[i];
    if (!build.unusable.empty()) names += (names.empty() ? "" : ", ") + build.name;
  }
  return names;
}

std::string seen_in_words(const Build& build) {
  if (build.seen.trials == 0) return "not tried";
  const Interval interval = anytime_interval(build.seen.failures, build.seen.trials);
  return fmt::format("{}/{}, {} to {}", build.seen.failures, build.seen.trials,
                     percent_down(interval.low), percent_up(interval.high));
}

std::string untried_in_words(const Build& build) {
  return "could not be tried: " + shortened(printable(build.unusable), kMostReason);
}

std::string posterior_in_words(double chance) {
  return chance < 0.001 ? "below 0.1%" : fmt::format("{:.1f}%", std::floor(1000 * chance) / 10);
}

std::string posterior_of(const BisectResult& result, size_t build) {
  const size_t place = result.place_of(build).value_or(0);
  return place == 0 ? "" : posterior_in_words(result.change.chances[place]);
}

std::string confirmation(const BisectResult& result) {
  if (!result.confirmed.has_value()) return "";
  const size_t place = result.change.likeliest();
  return fmt::format(
      "Afterwards, in trials that chose nothing: {} failed in {} of {}, {} in {} of {} (p {:.2g} "
      "by Fisher's exact test).\n",
      result.builds[result.usable[place - 1]].name, result.confirmed->before.failures,
      result.confirmed->before.trials, result.builds[result.usable[place]].name,
      result.confirmed->after.failures, result.confirmed->after.trials, result.confirmed->p);
}

std::string bisect_summary(const BisectResult& result) {
  std::string text = fmt::format("{}\n{} of {}", answer_of(result),
                                 counted(result.trials_here(), "trials"), printable(result.cell));
  if (!result.signature.empty()) {
    text += fmt::format(", failures with \"{}\"", printable(result.signature));
  }
  return text + ".\n" + confirmation(result);
}

}  // namespace

bool BisectResult::settled() const {
  return !change.chances.empty() && change.confidence >= confidence / 100;
}

int BisectResult::trials_here() const {
  int trials = 0;
  for (const Build& build : builds) trials += build.here;
  return trials;
}

std::optional<size_t> BisectResult::place_of(size_t build) const {
  const auto at = std::find(usable.begin(), usable.end(), build);
  if (at == usable.end()) return std::nullopt;
  return static_cast<size_t>(at - usable.begin());
}

std::string answer_of(const BisectResult& result) {
  if (result.usable.size() < 2) return "Fewer than two builds can run the cell.";
  const std::vector<std::string> names = usable_names(result);
  if (!result.settled()) {
    return fmt::format("Not settled: {}. It is {}.", result.stopped,
                       undecided_in_words(result.change, names, result.confidence / 100));
  }
  std::string answer = change_in_words(result.change, names);
  answer.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(answer.front())));
  const size_t place = result.change.likeliest();
  if (place > 0) {
    // The change may be at one of these.
    const std::string between = untried(result, result.usable[place - 1], result.usable[place]);
    if (!between.empty()) answer += ", or with what could not be tried before it: " + between;
  } else if (result.usable.size() < result.builds.size()) {
    answer += ". Of the others nothing is known, which could not be tried: " +
              untried(result, 0, result.builds.size());
  }
  return answer + ".";
}

nlohmann::ordered_json to_json(const BisectResult& result) {
  nlohmann::ordered_json builds = nlohmann::ordered_json::array();
  for (size_t i = 0; i < result.builds.size(); ++i) {
    const Build& build = result.builds[i];
    nlohmann::ordered_json entry{{"name", build.name},
                                 {"failures", build.seen.failures},
                                 {"trials", build.seen.trials},
                                 {"trials_here", build.here},
                                 {"worker", printable(build.path)}};
    if (!build.unusable.empty()) entry["unusable"] = printable(build.unusable);
    if (const size_t place = result.place_of(i).value_or(0); place > 0) {
      entry["chance_of_change"] = result.change.chances[place];
      entry["chance_it_began"] = result.change.began[place];
    }
    builds.push_back(entry);
  }
  nlohmann::ordered_json object{{"mpsprobe_bisect", 1},
                                {"cell", result.cell},
                                {"signature", printable(result.signature)},
                                {"simulated", result.simulated},
                                {"confidence", result.confidence / 100},
                                {"settled", result.settled()},
                                {"answer", answer_of(result)},
                                {"trials", result.trials_here()}};
  if (result.usable.size() > 1) {
    const std::vector<std::string> names = usable_names(result);
    const size_t place = result.change.likeliest();
    object["build"] = place == 0 ? nlohmann::ordered_json()
                                 : nlohmann::ordered_json(result.builds[result.usable[place]].name);
    object["direction"] =
        place == 0 ? "none" : (result.change.began[place] > 0.5 ? "began" : "rarer");
    object["sure"] = result.change.confidence;
    object["chance"] = result.change.chances[place];
    object["chance_of_no_culprit"] = result.change.chances[0];
    object["possible"] = nlohmann::ordered_json::array();
    for (const size_t each : result.change.possible(result.confidence / 100)) {
      object["possible"].push_back(each == 0 ? nlohmann::ordered_json()
                                             : nlohmann::ordered_json(names[each]));
    }
  }
  if (result.confirmed.has_value()) {
    object["confirmed"] = {{"before_failures", result.confirmed->before.failures},
                           {"before_trials", result.confirmed->before.trials},
                           {"after_failures", result.confirmed->after.failures},
                           {"after_trials", result.confirmed->after.trials},
                           {"p", result.confirmed->p}};
  }
  object["builds"] = builds;
  return object;
}

std::string bisect_terminal(const BisectResult& result) {
  std::string text = result.simulated ? kBisectSimulated : "";
  size_t width = 0;
  for (const Build& build : result.builds) width = std::max(width, build.name.size());
  for (size_t i = 0; i < result.builds.size(); ++i) {
    const Build& build = result.builds[i];
    const std::string chance = posterior_of(result, i);
    text += fmt::format("{:<{}}  {:<26}{}\n", build.name, width,
                        build.unusable.empty() ? seen_in_words(build) : untried_in_words(build),
                        chance.empty() ? "" : "  posterior of a change here: " + chance);
  }
  if (result.usable.size() > 1) {
    text += "posterior of no culprit: " + posterior_in_words(result.change.chances[0]) + "\n";
  }
  return text + "\n" + bisect_summary(result);
}

std::string bisect_markdown(const BisectResult& result) {
  std::string text = "# mpsprobe bisect\n\n";
  if (result.simulated) text += std::string("> ") + kBisectSimulated;
  text += bisect_summary(result);
  text +=
      "\n| build | failures / trials, 95% interval | posterior of a change here |\n"
      "|---|---|---|\n";
  for (size_t i = 0; i < result.builds.size(); ++i) {
    const Build& build = result.builds[i];
    text += fmt::format("| {} | {} | {} |\n", build.name,
                        build.unusable.empty() ? seen_in_words(build)
                                               : "could not be tried: " + escaped(build.unusable),
                        posterior_of(result, i));
  }
  if (result.usable.size() > 1) {
    text += "| no culprit | | " + posterior_in_words(result.change.chances[0]) + " |\n";
  }
  return text +
         "\nIntervals hold at whatever moment the trials ended. Which build was tried next "
         "followed from all trials before it. The posterior is over where the rate changed, with "
         "the rates of both sides integrated out; how sure the answer is allows for rates at which "
         "such a posterior is too sure.\n";
}

}  // namespace mpsprobe

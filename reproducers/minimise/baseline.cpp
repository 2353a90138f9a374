#include "reproducers/minimise/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/statistics/interval.h"
#include "reports/words/counted.h"

namespace mpsprobe {
namespace {

constexpr int kAlwaysFailures = 5;
constexpr int kEnoughFailures = 8;

/// How often each signature occurred, in the order in which they came.
class Occurrences {
 public:
  void add(const std::string& signature) {
    const auto at = std::find_if(counts_.begin(), counts_.end(),
                                 [&](const auto& entry) { return entry.first == signature; });
    if (at == counts_.end()) {
      counts_.emplace_back(signature, 1);
    } else {
      ++at->second;
    }
  }
  int of(const std::string& signature) const {
    const auto at = std::find_if(counts_.begin(), counts_.end(),
                                 [&](const auto& entry) { return entry.first == signature; });
    return at == counts_.end() ? 0 : at->second;
  }
  std::string most_frequent() const {
    const auto most =
        std::max_element(counts_.begin(), counts_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts_.end() ? "" : most->first;
  }

 private:
  std::vector<std::pair<std::string, int>> counts_;
};

std::string why_not_failing(const Minimum& minimum) {
  const Tally& seen = minimum.baseline;
  // It ran as often as was to be without one that ends it: a fixed number of trials, for which the
  // exact interval is right.
  std::string text = confidence_in_words(seen.failures, seen.trials);
  if (!minimum.signature.empty()) text = "with this signature, " + text;
  if (seen.other > 0) {
    text += fmt::format("; {} of {} failed with another signature", seen.other, seen.trials);
  }
  const double bound = exact_interval(seen.failures, seen.trials).high;
  // ln(0.05) / ln(1 - p): trials of which one fails with 95%, at a rate of p.
  const auto needed = static_cast<int>(std::ceil(std::log(0.05) / std::log1p(-bound / 5)));
  return text +
         fmt::format(
             ". To see one failure with 95% at a fifth of that rate takes {} trials: --patience {}",
             needed, needed);
}

}  // namespace

bool measure_baseline(const MinimiseRequest& request, Questions& questions, Minimum& minimum) {
  const Spending spending(questions, minimum.trials.baseline);
  Occurrences occurrences;
  Tally& tally = minimum.baseline;
  int failed = 0;
  const auto known = [&] {
    return tally.failures >= kEnoughFailures ||
           (tally.failures >= kAlwaysFailures && tally.failures == tally.trials);
  };
  while (!known()) {
    if (!questions.run("start cell", request.start, tally)) break;
    const TrialResult& last = questions.last();
    if (is_failure(last.outcome)) {
      ++failed;
      occurrences.add(last.signature);
    }
    if (request.signature.empty()) {
      minimum.signature = occurrences.most_frequent();
      tally.failures = occurrences.of(minimum.signature);
      tally.other = failed - tally.failures;
    }
    const int most =
        tally.failures == 0 ? request.patience : std::max(request.patience, request.most_trials);
    if (tally.trials >= most) break;
  }
  minimum.question = question_for(tally.proportion(), request.most_trials);
  if (tally.failures > 0) return true;
  if (tally.trials == 0) {
    minimum.state = MinimumState::not_run;
    minimum.note = fmt::format("none of {} of the start cell came to a result that counts",
                               counted(tally.no_evidence, "trials"));
  } else {
    minimum.state = MinimumState::not_failing;
    minimum.note = why_not_failing(minimum);
  }
  return false;
}

}  // namespace mpsprobe

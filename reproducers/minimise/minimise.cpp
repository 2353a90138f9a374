#include "reproducers/minimise/minimise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/statistics/interval.h"
#include "reports/words/counted.h"
#include "reproducers/minimise/questions.h"
#include "reproducers/minimise/search.h"
#include "reproducers/minimise/simplification.h"

namespace mpsprobe {
namespace {

constexpr double kLevel = 0.05;
/// The table of conditions is to see a drop of the rate by half with this chance.
constexpr double kPower = 0.9;
constexpr double kDrop = 0.5;
constexpr int kFewestConditionTrials = 5;
// Of the unchanged cell: what is said of how often it fails is to be worth something.
constexpr int kFewestFreshTrials = 10;

constexpr int kAlwaysFailures = 5;
constexpr int kEnoughFailures = 8;

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

/// Runs the start cell until the rate of its failure is known well enough: 5 failures in 5 trials,
/// or 8 failures. Where no signature was asked for, it is the one that occurred most often, of
/// several the one that came first. Sets `minimum.signature`, `baseline` and `question`. False
/// where there is nothing to reduce; `minimum.state` and `note` then say why. Throws Stopped.
bool measure_baseline(const MinimiseRequest& request, Questions& questions, Minimum& minimum) {
  using Seen = std::pair<std::string, int>;  // a signature, and how often
  std::vector<Seen> signatures;              // in the order in which they came
  Tally& tally = minimum.baseline;
  int failed = 0;
  const auto known = [&] {
    return tally.failures >= kEnoughFailures ||
           (tally.failures >= kAlwaysFailures && tally.failures == tally.trials);
  };
  while (!known()) {
    if (!questions.run("start cell", request.start, tally, minimum.trials.baseline)) break;
    const TrialResult& last = questions.last();
    if (request.signature.empty() && is_failure(last.outcome)) {
      auto at = std::ranges::find(signatures, last.signature, &Seen::first);
      if (at == signatures.end()) at = signatures.insert(at, {last.signature, 0});
      ++at->second;
      std::tie(minimum.signature, tally.failures) =
          *std::ranges::max_element(signatures, {}, &Seen::second);
      tally.other = ++failed - tally.failures;
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

class Minimisation {
 public:
  Minimisation(const MinimiseRequest& request, const RunTrial& run_trial,
               const MinimiseObserver& observer)
      : request_(request), observer_(observer), trials_(request, run_trial, observer, minimum_) {
    minimum_.start = request.start;
    minimum_.cell = request.start;
    minimum_.signature = request.signature;
    minimum_.question.most_trials = request.most_trials;
  }

  Minimum run() {
    try {
      if (!measure_baseline(request_, trials_, minimum_)) return minimum_;
      if (observer_.on_baseline) observer_.on_baseline(minimum_);
      Search search(request_, trials_, minimum_);
      do {
        search.run();
      } while (!verified(search) || !confirmed(search));
      minimum_.state = MinimumState::complete;
    } catch (const Stopped&) {
      minimum_.state = MinimumState::stopped;
    }
    return minimum_;
  }

 private:
  /// Fresh trials of what was found, the first of those that say how reliable it is. False where it
  /// does not hold: then the last step that led to it is taken back.
  bool verified(Search& search) {
    minimum_.reliability = {};
    if (minimum_.cell == minimum_.start) return true;
    Decision decision = Decision::go_on;
    while (decision == Decision::go_on) {
      if (!trials_.run("verifying", minimum_.cell, minimum_.reliability, minimum_.trials.steps))
        break;
      decision = decide(minimum_.question, minimum_.reliability.proportion());
    }
    if (decision == Decision::often) return true;
    search.take_back(minimum_.reliability);
    return false;
  }

  /// The table of conditions. False where one that can be left out is not needed, or where the cell
  /// turns out to fail too seldom after all: the search has to go on.
  bool confirmed(Search& search) {
    minimum_.conditions.clear();
    const std::vector<ConditionChange> changes = conditions_of(minimum_.cell, request_.operations);
    int size = request_.conditions ? condition_trials(changes.size()) : 0;
    fill("unchanged", minimum_.cell, minimum_.reliability, std::max(size, kFewestFreshTrials));
    if (request_.conditions) {
      // The start cell showed a few failures: where its rate was flattered, that is seen by now. A
      // table that is longer since the unchanged cell seems to fail seldom calls fewer conditions
      // rarer, and none by that alone.
      size = std::max(size, condition_trials(changes.size()));
      fill("unchanged", minimum_.cell, minimum_.reliability, size);
    }
    const bool from_start = minimum_.cell == minimum_.start;
    if (!from_start &&
        decide(minimum_.question, minimum_.reliability.proportion()) == Decision::seldom) {
      search.take_back(minimum_.reliability);
      return false;
    }
    if (!request_.conditions) return true;
    for (const ConditionChange& change : changes) {
      if (!measure(change, size)) continue;
      search.adopt(minimum_.conditions.back());
      return false;
    }
    judge_conditions();
    return true;
  }

  /// True where it can be left out and the failure stays.
  bool measure(const ConditionChange& change, int size) {
    Condition condition;
    condition.change = change_between(minimum_.cell, change.cell);
    condition.cell = change.cell;
    condition.simplification = change.simplification;
    condition.skipped = trials_.contradiction_of(change.cell);
    if (condition.skipped.empty()) {
      // What can be left out is soon seen to fail as often, and then needs no table.
      while (condition.tally.trials < size && !stays(condition) &&
             trials_.run(condition.change, condition.cell, condition.tally,
                         minimum_.trials.conditions)) {
      }
      if (condition.tally.trials == 0) condition.skipped = "no trial of it could be run";
    }
    minimum_.conditions.push_back(condition);
    return stays(condition);
  }

  bool stays(const Condition& condition) const {
    return condition.simplification && condition.tally.trials > 0 &&
           decide(minimum_.question, condition.tally.proportion()) == Decision::often;
  }

  void fill(const std::string& asked, const Cell& cell, Tally& tally, int size) {
    while (tally.trials < size && trials_.run(asked, cell, tally, minimum_.trials.conditions)) {
    }
  }

  /// As many as see a drop by half of the rate that is to be expected, when all rows are corrected
  /// for.
  int condition_trials(size_t rows) {
    const double level = kLevel / static_cast<double>(std::max<size_t>(rows, 1));
    // The expected rate of a defect that always showed is a little below 1; it needs no more trials
    // for that.
    const bool always = minimum_.baseline.failures == minimum_.baseline.trials;
    double rate = always ? 1 : minimum_.question.often_rate;
    const Tally& fresh = minimum_.reliability;
    if (fresh.trials >= kFewestFreshTrials && fresh.failures < fresh.trials) {
      rate = std::min(rate, (fresh.failures + 0.5) / (fresh.trials + 1));
    }
    const int most = request_.most_condition_trials;
    const int needed = static_cast<int>(
        std::min(1e9, std::ceil(trials_to_see(rate, rate * kDrop, level, kPower))));
    minimum_.condition_trials_missing = needed > most ? needed : 0;
    return std::clamp(needed, std::min(kFewestConditionTrials, most), most);
  }

  void judge_conditions() {
    std::vector<double> values;
    for (Condition& condition : minimum_.conditions) {
      if (!condition.skipped.empty()) continue;
      condition.p = fisher_exact(minimum_.reliability.proportion(), condition.tally.proportion());
      values.push_back(condition.p);
    }
    const std::vector<double> corrected = holm_corrected(values);
    size_t next = 0;
    for (Condition& condition : minimum_.conditions) {
      if (condition.skipped.empty()) {
        condition.corrected_p = corrected[next++];
        const auto rate = [](const Tally& tally) {
          return static_cast<double>(tally.failures) / tally.trials;
        };
        condition.rarer =
            condition.corrected_p < kLevel && rate(condition.tally) < rate(minimum_.reliability);
      }
    }
  }

  const MinimiseRequest& request_;
  const MinimiseObserver& observer_;
  Minimum minimum_;
  Questions trials_;
};

}  // namespace

Minimum minimise(const MinimiseRequest& request, const RunTrial& run_trial,
                 const MinimiseObserver& observer) {
  return Minimisation(request, run_trial, observer).run();
}

}  // namespace mpsprobe

// What minimising takes, on planted defects of known minimal form, against a plain bisection that
// asks an oracle; and how often the table of conditions is right: true conditions (without them
// nothing fails) that are called necessary, changes that halve the rate that are seen, and tables
// that call anything necessary without which it fails as well. Prints a table in Markdown;
// `minimise_bench [SEEDS [PROFILE [CONDITION_TRIALS]]]`, 100, all ("") and 200 by default.
#include <fmt/format.h>

#include <cstdlib>

#include "reproducers/minimise/planted.h"

namespace {

using namespace mpsprobe;

/// How often the tables of conditions were right.
struct Conditions {
  Proportion necessary;  ///< of the true ones, those that are called so
  Proportion halved;     ///< of the changes that halve the rate, those that are seen
  int false_tables = 0;

  void count(const Planted& profile, const Minimum& minimum) {
    bool wrong = false;
    const double rate = true_rate(profile, minimum.cell);
    for (const Condition& condition : minimum.conditions) {
      if (!condition.skipped.empty()) continue;
      const double without = true_rate(profile, condition.cell);
      if (without <= 0) {
        ++necessary.trials;
        necessary.failures += condition.necessary() ? 1 : 0;
        continue;
      }
      wrong = wrong || condition.necessary();
      if (without > rate * 0.6) continue;
      ++halved.trials;
      halved.failures += condition.rarer ? 1 : 0;
    }
    false_tables += wrong ? 1 : 0;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string only = argc > 2 ? argv[2] : "";
  const int most_condition_trials =
      argc > 3 ? std::atoi(argv[3]) : MinimiseRequest{}.most_condition_trials;
  fmt::print(
      "| profile | rate | minimum found | signature changed | trials: start cell + search | table "
      "of conditions | true conditions necessary | halved seen | tables with a false necessary | "
      "questions of the plain bisection | trials of it | ratio | ratio to one pass "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Planted& profile : planted_profiles()) {
    if (!only.empty() && profile.name != only) continue;
    Conditions conditions;
    int found = 0;
    int changed = 0;
    double search = 0;
    double table = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      MinimiseRequest request;
      request.start = profile.start;
      request.signature = profile.signature;
      request.operations = planted_operations();
      request.most_condition_trials = most_condition_trials;
      const Minimum minimum =
          minimise(request, PlantedTrials(profile, static_cast<uint64_t>(seed)));
      conditions.count(profile, minimum);
      found += minimum.state == MinimumState::complete && minimum.cell == profile.minimum;
      changed += true_rate(profile, minimum.cell) == 0;
      search += minimum.trials.baseline + minimum.trials.steps;
      table += minimum.trials.conditions;
    }
    const PlainBisection plain = plain_bisection(profile);
    const double rate = true_rate(profile, profile.start);
    RateQuestion question;
    question.often_rate = rate * (3 + rate) / 4;
    question.seldom_rate = question.often_rate / 10;
    const int each = rate == 1 ? 1 : fixed_size(question);
    const double mean = search / seeds;
    fmt::print(
        "| {} | {:.2f} | {} of {} | {} | {:.1f} | {:.1f} | {} of {} | {} of {} | {} | {} ({}{}) | "
        "{} "
        "| {:.2f} | {:.2f} |\n",
        profile.name, rate, found, seeds, changed, mean, table / seeds,
        conditions.necessary.failures, conditions.necessary.trials, conditions.halved.failures,
        conditions.halved.trials, conditions.false_tables, plain.repeated, plain.once,
        plain.minimum == profile.minimum ? "" : ", another minimum", plain.repeated * each,
        mean / (plain.repeated * each), mean / (plain.once * each));
  }
}

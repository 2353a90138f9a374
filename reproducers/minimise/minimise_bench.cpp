// What minimising takes, on planted defects of known minimal form, against a plain bisection that
// asks an oracle. Prints a table in Markdown; `minimise_bench [SEEDS]`, 100 by default.
#include <fmt/format.h>

#include <cstdlib>

#include "reproducers/minimise/planted.h"

int main(int argc, char** argv) {
  using namespace mpsprobe;
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 100;
  fmt::print(
      "| profile | rate | minimum found | signature changed | trials: start cell + search | table "
      "of conditions | questions of the plain bisection | trials of it | ratio | ratio to one pass "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Planted& profile : planted_profiles()) {
    int found = 0;
    int changed = 0;
    double search = 0;
    double table = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      MinimiseRequest request;
      request.start = profile.start;
      request.signature = profile.signature;
      request.operations = planted_operations();
      const Minimum minimum =
          minimise(request, PlantedTrials(profile, static_cast<uint64_t>(seed)));
      found += minimum.state == MinimumState::complete && minimum.cell == profile.minimum;
      changed += true_rate(profile, minimum.cell) == 0;
      search += minimum.trials_baseline + minimum.trials_steps;
      table += minimum.trials_conditions;
    }
    const PlainBisection plain = plain_bisection(profile);
    const double rate = true_rate(profile, profile.start);
    RateQuestion question;
    question.often_rate = rate * (3 + rate) / 4;
    question.seldom_rate = question.often_rate / 10;
    const int each = rate == 1 ? 1 : fixed_size(question);
    const double mean = search / seeds;
    fmt::print(
        "| {} | {:.2f} | {} of {} | {} | {:.1f} | {:.1f} | {} ({}{}) | {} | {:.2f} | {:.2f} |\n",
        profile.name, rate, found, seeds, changed, mean, table / seeds, plain.repeated, plain.once,
        plain.minimum == profile.minimum ? "" : ", another minimum", plain.repeated * each,
        mean / (plain.repeated * each), mean / (plain.once * each));
  }
}

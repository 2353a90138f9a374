// How often what a report says is right, read from the report: journals of simulated trials whose
// truth is known go through the analysis that every report is made from. Prints tables in Markdown;
// `claims_bench [WORLDS [SET]]`, 1,000 by default, which takes some minutes; another SET has other
// seeds. The chances of comparisons and of intervals of a fixed plan are exact: a sum over all
// results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "harness/campaign/simulated_campaign.h"
#include "harness/statistics/anytime.h"
#include "reports/analysis/analysis.h"
#include "reports/sample_fallen_rates.h"
#include "reports/sample_headlines.h"
#include "reports/sample_journal.h"

namespace {

using namespace mpsprobe;

uint64_t set = 0;  ///< which seeds

SimulatedTrials trials_of(uint64_t seed) {
  return SimulatedTrials(set * 1'000'003 + seed);
}

bool holds(const Interval& interval, double rate) {
  return interval.low <= rate && rate <= interval.high;
}

double binomial(int failures, int trials, double rate) {
  if (rate <= 0 || rate >= 1) return failures == (rate <= 0 ? 0 : trials) ? 1 : 0;
  return std::exp(std::lgamma(trials + 1.0) - std::lgamma(failures + 1.0) -
                  std::lgamma(trials - failures + 1.0) + failures * std::log(rate) +
                  (trials - failures) * std::log1p(-rate));
}

Analysis settled_report(double rate, const std::vector<Proportion>& points) {
  SampleJournal sample;
  sample.journal.header.settle_rate = rate;
  for (size_t i = 0; i < points.size(); ++i) {
    sample.plan(fmt::format("cpu/mm/default/threads={}", i + 1));
    sample.ran(points[i].trials, points[i].failures);
  }
  return analyse(sample.journal);
}

// From how many threads the report's table says that it fails; one more than there are for nowhere.
size_t place_said(const Analysis& analysis, size_t counts) {
  const std::string said = analysis.answer.table.rows.front().fields.front();
  constexpr std::string_view kFrom = " or more from ";
  const size_t at = said.find(kFrom);
  return at == std::string::npos ? counts + 1 : std::stoul(said.substr(at + kFrom.size()));
}

// What is printed first, where that is hard; of the bound, in how many reports that print one all
// cells without a failure are below it.
void headlines(int worlds) {
  fmt::print(
      "\nThe headline in hard worlds\n\n| world | reports | contradict their counts, or are too "
      "long | hide the worst cell | print a bound | all below it |\n|---|---|---|---|---|---|\n");
  for (const HardWorld world : hard_worlds()) {
    for (const bool settles : {false, true}) {
      int wrong = 0;
      int hidden = 0;
      int printed = 0;
      int held = 0;
      for (int seed = 0; seed < worlds; ++seed) {
        const SimulatedReport report =
            simulated_report(world, settles, (set + 1) * 1'000'000 + static_cast<uint64_t>(seed));
        const std::vector<std::string> faults = faults_of(report.analysis);
        const bool hides = std::any_of(faults.begin(), faults.end(), [](const std::string& fault) {
          return fault.starts_with("hides");
        });
        hidden += hides ? 1 : 0;
        wrong += faults.size() > (hides ? 1U : 0U) ? 1 : 0;
        if (!faults.empty()) fmt::print(stderr, "{} {}: {}\n", name_of(world), seed, faults[0]);
        const double bound = printed_bound(report.analysis);
        if (bound >= 1) continue;
        ++printed;
        bool all = true;
        for (size_t i = 0; i < report.rates.size(); ++i) {
          all = all && (report.analysis.cells[i].failures > 0 || report.rates[i] <= bound);
        }
        held += all ? 1 : 0;
      }
      fmt::print("| {}{} | {} | {} | {} | {} | {} |\n", name_of(world), settles ? ", settled" : "",
                 worlds, wrong, hidden, printed, held);
    }
  }
}

void fallen_rates(int worlds) {
  int claimed = 0;
  for (int seed = 0; seed < worlds; ++seed) {
    const std::vector<std::string> lines =
        absences_claimed((set + 1) * 1'000'000 + static_cast<uint64_t>(seed));
    claimed += lines.empty() ? 0 : 1;
    if (!lines.empty()) fmt::print(stderr, "fallen rates {}: {}\n", seed, lines.front());
  }
  fmt::print(
      "\nEach rate falls to 1 to 10%\n\n| worlds | call something gone, fixed, needed "
      "|\n|---|---|\n"
      "| {} | {} |\n",
      worlds, claimed);
}

void settled_boundaries(int worlds) {
  fmt::print(
      "\nThe boundary that a settled run prints\n\n| settled at | planted | right | trials "
      "|\n|---|---|---|---|\n");
  for (const double rate : {0.1, 0.05}) {
    const RateQuestion question = settling_question(rate);
    for (const PlantedBoundary& planted : planted_boundaries(question)) {
      const bool flat = planted.name.find("flat") != std::string::npos;
      if (!planted.of_the_question && !flat) continue;
      SimulatedTrials random = trials_of(35);
      int right = 0;
      double trials = 0;
      for (int world = 0; world < worlds; ++world) {
        const std::vector<Proportion> points = settled_points(question, planted.rates, random);
        for (const Proportion& point : points) trials += point.trials;
        const size_t said = place_said(settled_report(rate, points), points.size());
        right += said == planted.first_failing + 1 ? 1 : 0;
      }
      fmt::print("| {:g}% | {} | {:.1f}% | {:.0f} |\n", rate * 100, planted.name,
                 100.0 * right / worlds, trials / worlds);
    }
  }
}

RateEffect effect_of(const Proportion& with, const Proportion& without) {
  SampleJournal sample;
  sample.plan("cpu/mm/default/threads=4").ran(without.trials, without.failures);
  sample.plan("cpu/mm/default/threads=4/lock=forward").ran(with.trials, with.failures);
  const std::vector<RateClaim> claims = analyse(sample.journal).rate_claims;
  return claims.empty() ? RateEffect::not_shown : claims.front().effect;
}

void comparisons() {
  fmt::print(
      "\nA lock, of rates from 0 to 100% by tens on either side: exact\n\n| trials a cell | wrong "
      "at most | 90% lowered to 10% is seen | 50% lowered to 10% |\n|---|---|---|---|\n");
  for (const int n : {10, 30, 59}) {
    double less[11][11] = {};
    double more[11][11] = {};
    for (int with = 0; with <= n; ++with) {
      for (int without = 0; without <= n; ++without) {
        const RateEffect effect = effect_of({with, n}, {without, n});
        if (effect == RateEffect::not_shown || effect == RateEffect::cannot_compare) continue;
        auto& said = effect == RateEffect::more_often ? more : less;
        for (int a = 0; a <= 10; ++a) {
          for (int b = 0; b <= 10; ++b) {
            said[a][b] += binomial(with, n, a / 10.0) * binomial(without, n, b / 10.0);
          }
        }
      }
    }
    double wrong = 0;
    for (int a = 0; a <= 10; ++a) {
      for (int b = 0; b <= 10; ++b) {
        wrong = std::max(wrong, (a >= b ? less[a][b] : 0) + (a <= b ? more[a][b] : 0));
      }
    }
    fmt::print("| {} | {:.2f}% | {:.1f}% | {:.1f}% |\n", n, 100 * wrong, 100 * less[1][9],
               100 * less[1][5]);
  }
}

// Six kinds of cell, each with a lock, in processes, and without: of the first `helped` kinds a
// lock lowers the rate from 80% to 10%; nothing else changes anything. All claims of a run are
// counted, those of several comparisons together as well.
void families(int worlds) {
  fmt::print(
      "\nA lock and processes over six kinds of cell: reports with a false claim\n\n| trials a "
      "cell "
      "| kinds that the lock helps | with a false claim | these are shown |\n|---|---|---|---|\n");
  for (const int n : {10, 30}) {
    for (const int helped : {0, 3}) {
      SimulatedTrials random = trials_of(38);
      int with_a_false_one = 0;
      int shown = 0;
      for (int world = 0; world < worlds; ++world) {
        SampleJournal sample;
        const auto cell = [&](const std::string& id, double rate) {
          int failures = 0;
          for (int i = 0; i < n; ++i) failures += random.fails(rate) ? 1 : 0;
          sample.plan(id).ran(n, failures);
        };
        for (int kind = 1; kind <= 6; ++kind) {
          const double rate = kind <= helped ? 0.8 : 0.1 * kind + 0.2;
          const std::string id = fmt::format("cpu/mm/default/threads=4/iterations={}", kind);
          cell(id, rate);
          cell(id + "/lock=forward", kind <= helped ? 0.1 : rate);
          cell(fmt::format("cpu/mm/default/processes=4/iterations={}", kind), rate);
        }
        const Analysis analysis = analyse(sample.journal);
        bool wrong = false;
        for (const RateClaim& claim : analysis.rate_claims) {
          const int kind = analysis.cells[claim.cells_with.front()].cell.iterations;
          const bool helps = claim.about == "lock" && kind <= helped;
          const bool said = claim.effect == RateEffect::less_often ||
                            claim.effect == RateEffect::no_failure ||
                            claim.effect == RateEffect::more_often;
          wrong = wrong || (said && (!helps || claim.effect == RateEffect::more_often));
          shown += said && helps ? 1 : 0;
        }
        for (const RateClaim& claim : analysis.claims_together) {
          const bool said = claim.effect != RateEffect::not_shown;
          wrong = wrong || (said && (helped == 0 || claim.about != "lock"));
        }
        with_a_false_one += wrong ? 1 : 0;
      }
      fmt::print("| {} | {} | {:.1f}% | {:.1f}% |\n", n, helped, 100.0 * with_a_false_one / worlds,
                 100.0 * shown / std::max(1, helped * worlds));
    }
  }
}

// Each trial's speed is off by up to 30% to either side.
void prices(int worlds) {
  fmt::print(
      "\nThe price of a lock, noise of 30%\n\n| true ratio | pairs | the interval holds it | none "
      "shown | its width |\n|---|---|---|---|---|\n");
  for (const double truth : {1.0, 0.8, 0.5}) {
    for (const int pairs : {6, 10, 30}) {
      SimulatedTrials random = trials_of(36);
      int held = 0;
      int shown = 0;
      double width = 0;
      for (int world = 0; world < worlds; ++world) {
        SampleJournal sample;
        const auto cell = [&](const std::string& id, double ratio) {
          sample.plan(id);
          for (int i = 0; i <= pairs; ++i) {
            sample.operations_per_second = 1000 * ratio * std::exp(0.6 * (random.uniform() - 0.5));
            // A price is stated beside a comparison, which needs a failure.
            sample.ran(1, ratio == 1 && i == 0 ? 1 : 0).last().trial = i;
          }
        };
        cell("cpu/mm/default/threads=4", 1);
        cell("cpu/mm/default/threads=4/lock=forward", truth == 1 ? 1 + 1e-9 : truth);
        const std::vector<RateClaim> claims = analyse(sample.journal).rate_claims;
        if (claims.empty() || !claims.front().price) continue;
        ++shown;
        const Interval& within = claims.front().price->within;
        width += within.high - within.low;
        held += holds(within, truth) ? 1 : 0;
      }
      fmt::print("| {:g} | {} | {:.1f}% | {} | {:.2f} |\n", truth, pairs,
                 100.0 * held / std::max(1, shown), worlds - shown, width / std::max(1, shown));
    }
  }
}

void intervals(int worlds) {
  double least = 1;
  for (int trials = 1; trials <= 60; ++trials) {
    std::vector<Interval> printed;
    for (int failures = 0; failures <= trials; ++failures) {
      SampleJournal sample;
      sample.plan("cpu/mm/default/threads=4").ran(trials, failures);
      printed.push_back(analyse(sample.journal).cells.front().rate);
    }
    for (int percent = 0; percent <= 100; ++percent) {
      double held = 0;
      for (int failures = 0; failures <= trials; ++failures) {
        if (!holds(printed[static_cast<size_t>(failures)], percent / 100.0)) continue;
        held += binomial(failures, trials, percent / 100.0);
      }
      least = std::min(least, held);
    }
  }
  fmt::print(
      "\nThe interval of a rate, at its worst over rates from 0 to 100% by ones\n\n| plan | holds "
      "it |\n|---|---|\n| fixed, 1 to 60 trials: exact | {:.2f}% |\n",
      100 * least);
  for (const double rate : {0.1, 0.05}) {
    const RateQuestion question = settling_question(rate);
    double worst = 1;
    for (int percent = 0; percent <= 100; ++percent) {
      SimulatedTrials random = trials_of(37);
      std::vector<int> held(8, 0);
      for (int world = 0; world < worlds; ++world) {
        const std::vector<Proportion> points =
            settled_points(question, std::vector<double>(held.size(), percent / 100.0), random);
        for (size_t i = 0; i < points.size(); ++i) {
          const Interval interval = anytime_interval(points[i].failures, points[i].trials);
          held[i] += holds(interval, percent / 100.0) ? 1 : 0;
        }
      }
      worst = std::min(worst, *std::min_element(held.begin(), held.end()) * 1.0 / worlds);
    }
    fmt::print("| settled at {:g}%, the worst of 8 cells | {:.1f}% |\n", rate * 100, 100 * worst);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int worlds = std::max(1, argc > 1 ? std::atoi(argv[1]) : 1000);
  set = static_cast<uint64_t>(std::max(0, argc > 2 ? std::atoi(argv[2]) : 0));
  headlines(std::min(worlds, 200));
  fallen_rates(std::min(worlds, 200));
  settled_boundaries(worlds);
  comparisons();
  families(worlds);
  prices(worlds);
  intervals(worlds);
}

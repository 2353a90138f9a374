// How often what mpsprobe decides is right, and what it costs: simulated campaigns, bisections,
// nights and groups of known truth. Prints tables in Markdown.
//   decisions_bench [settling] [coverage] [bisection_16] [bisection_64] [nights] [known] [groups]
// Some minutes each, where it is optimised (preset bench); 20 s for settling.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "harness/bisect/simulated_bisection.h"
#include "harness/campaign/simulated_campaign.h"
#include "harness/statistics/simulated_nights.h"
#include "reports/groups/simulated_groups.h"

namespace {

using namespace mpsprobe;

constexpr int kCampaigns = 10'000;
constexpr int kSeries = 1000;

double percent(int count, int of) {
  return 100.0 * count / std::max(1, of);
}

/// Campaigns that stop when the question is answered, beside the fixed plan of equal errors.
void settling() {
  fmt::print(
      "| settled at | planted | plan | trials | wrong | erratic, wrong | accused | coverage "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const double rate : {0.1, 0.05}) {
    const RateQuestion question = settling_question(rate);
    for (const PlantedBoundary& planted : planted_boundaries(question)) {
      for (const bool fixed : {false, true}) {
        const SimulatedCampaigns all =
            (fixed ? plan_simulated : settle_simulated)(question, planted, kCampaigns, 23);
        fmt::print("| {:g}% | {} | {} | {:.1f} | {:.2f}% | {:.2f}% | {:.2f}% | {:.2f}% |\n",
                   rate * 100, planted.name, fixed ? "fixed" : "settled", all.mean_trials,
                   percent(all.wrong, all.campaigns), percent(all.missed, all.campaigns),
                   percent(all.accused, all.campaigns),
                   100 - percent(all.uncovered, all.intervals));
      }
    }
  }
}

/// Of the confidence sequence, at the worst stopping time of 500 trials.
void coverage() {
  fmt::print("| rate | coverage |\n|---|---|\n");
  for (int step = 0; step <= 20; ++step) {
    const int left = sequences_left(step * 0.05, kCampaigns, 500, 23);
    fmt::print("| {:.2f} | {:.2f}% |\n", step * 0.05, 100 - percent(left, kCampaigns));
  }
}

/// Right of what is said with 95%; of the others, whose list of what is possible holds the truth.
void bisections(size_t builds, int most, const std::vector<PlantedChange>& changes) {
  fmt::print(
      "| {} builds | trials | said, of {} | right | wrong | held |\n|---|---|---|---|---|---|\n",
      builds, kSeries);
  for (const PlantedChange& planted : changes) {
    const SimulatedBisections all = bisect_simulated(planted, builds, 0.95, most, kSeries, 24);
    fmt::print("| {} | {:.1f} | {} | {:.1f}% | {} | {:.1f}% |\n", planted.name, all.mean_trials,
               all.said(), percent(all.right, all.said()), all.said() - all.right,
               percent(all.held, all.undecided));
  }
}

/// How often a change is claimed that is none, and how late one that is.
void nights() {
  fmt::print("a change is claimed of rates that vary: {:.1f}%\n",
             percent(false_changes(kSeries, 24), kSeries));
  for (const int rate : {0, 2, 10, 50}) {
    fmt::print("of a constant rate of {}%: {:.1f}%\n", rate,
               percent(false_changes_at(rate / 100.0, kSeries, 24), kSeries));
  }
  fmt::print(
      "\n| trials a night | nights to a shift, median | missed | early |\n|---|---|---|---|\n");
  for (const int trials : {10, 30, 60}) {
    const ShiftDelay delay = delay_of_shift(trials, kSeries, 24);
    fmt::print("| {} | {} | {} | {} |\n", trials, delay.median, delay.missed, delay.early);
  }
}

/// A known failure whose rate stays, rises to twice and to three times what it was.
void known() {
  constexpr int kQuiet = 30;
  fmt::print(
      "| rate | recorded | trials a night | red of 90 nights | called gone | nights to twice | to "
      "three times |\n|---|---|---|---|---|---|---|\n");
  for (const int rate : {1, 10, 30}) {
    for (const int recorded : {30, 100, 1000}) {
      for (const int trials : {10, 50}) {
        const SimulatedRecord record{rate / 100.0, recorded, trials};
        fmt::print("| {}% | {} | {} | {} | {:.1f}% | {} | {} |\n", rate, recorded, trials,
                   red_nights(record, kSeries, 24),
                   percent(called_gone(record, kSeries, 24), kSeries),
                   delay_of_rise(record, 2 * record.rate, kQuiet, kSeries, 24),
                   delay_of_rise(record, 3 * record.rate, kQuiet, kSeries, 24));
      }
    }
  }
}

/// How often operations that need unlike conditions are joined, and like ones are. At the second
/// share a failure goes on without the condition at a fifth of its rate: none in some tens of
/// trials is then no rare sight, and no test tells it from a need.
void groups() {
  fmt::print(
      "| without the condition | rate | trials a cell | unlike ones joined | all of eight like "
      "ones "
      "in one group |\n|---|---|---|---|---|\n");
  for (const double share : {1.0, 0.2}) {
    for (const double rate : {0.1, 0.3, 0.5, 0.9}) {
      for (const int trials : {10, 30, 60}) {
        const SimulatedGroups unlike = group_simulated({rate, trials, share}, kSeries, 35);
        const SimulatedGroups like = group_simulated({rate, trials, share, true}, kSeries, 36);
        fmt::print("| {:g} of the rate | {:.0f}% | {} | {:.1f}% | {:.1f}% |\n", share, rate * 100,
                   trials, percent(unlike.false_joins, kSeries), percent(like.whole, kSeries));
      }
    }
  }
}

void bisections_of_16() {
  bisections(16, 240, planted_changes());
}
void bisections_of_64() {  // as many trials as `mpsprobe bisect` makes
  bisections(64, 2000,
             {{"began_0_100", 0, 1},
              {"ended_100_0", 1, 0},
              {"began_0_30", 0, 0.3},
              {"began_0_10", 0, 0.1},
              {"began_20_80", 0.2, 0.8},
              {"began_5_20", 0.05, 0.2},
              {"none_0", 0, 0, false},
              {"none_2", 0.02, 0.02, false},
              {"none_100", 1, 1, false}});
}

struct Measured {
  std::string name;
  void (*measure)();
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Measured> all{{"settling", settling},
                                  {"coverage", coverage},
                                  {"bisection_16", bisections_of_16},
                                  {"bisection_64", bisections_of_64},
                                  {"nights", nights},
                                  {"known", known},
                                  {"groups", groups}};
  const std::vector<std::string> asked(argv + 1, argv + argc);
  for (const std::string& name : asked) {
    if (std::ranges::find(all, name, &Measured::name) != all.end()) continue;
    fmt::print(stderr, "decisions_bench: there is no {}\n", name);
    return 2;
  }
  for (const Measured& each : all) {
    if (!asked.empty() && std::ranges::find(asked, each.name) == asked.end()) continue;
    fmt::print("## {}\n\n", each.name);
    each.measure();
    fmt::print("\n");
    std::fflush(stdout);
  }
}

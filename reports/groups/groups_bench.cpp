// How often operations that need unlike conditions are joined, and like ones are: 1,000 simulated
// runs each. Prints a table in Markdown; `groups_bench [WORLDS]`. In the second table a failure
// goes on without the condition at a fifth of its rate: none in some tens of trials is then no rare
// sight, and no test tells it from a need.
#include <fmt/format.h>

#include <cstdlib>

#include "reports/groups/simulated_groups.h"

int main(int argc, char** argv) {
  using namespace mpsprobe;
  const int worlds = argc > 1 ? std::atoi(argv[1]) : 1000;
  for (const double share : {1.0, 0.2}) {
    fmt::print(
        "without a condition that is not needed: {:g} of the rate\n\n| rate | trials a cell | "
        "unlike "
        "ones joined | all of eight like ones in one group |\n|---|---|---|---|\n",
        share);
    for (const double rate : {0.1, 0.3, 0.5, 0.9}) {
      for (const int trials : {10, 30, 60}) {
        const SimulatedGroups unlike = group_simulated({rate, trials, share}, worlds, 35);
        const SimulatedGroups like = group_simulated({rate, trials, share, true}, worlds, 36);
        fmt::print("| {:.0f}% | {} | {:.1f}% | {:.1f}% |\n", rate * 100, trials,
                   100.0 * unlike.false_joins / worlds, 100.0 * like.whole / worlds);
      }
    }
    fmt::print("\n");
  }
}

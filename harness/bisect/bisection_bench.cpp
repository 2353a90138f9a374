// How often a bisection is right where it says that it is 95% sure, and what it costs: 1,000
// simulated ones over 16 builds with at most 240 trials, and over 64 builds with at most 2,000 (as
// many as `mpsprobe bisect` makes). Look at the counters: `said`, of 1,000; `right_%` of these;
// `held_%` of the others, whose list of what is possible holds what was planted. The times are
// those of the simulation: 10 minutes in all; --benchmark_filter=16_builds takes 3.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "harness/bisect/simulated_bisection.h"

namespace {

using namespace mpsprobe;

constexpr int kBisections = 1000;
constexpr double kConfidence = 0.95;
constexpr uint64_t kSeed = 24;

void measure(benchmark::State& state, const PlantedChange& planted, size_t builds, int most) {
  for (auto each : state) {
    const SimulatedBisections all =
        bisect_simulated(planted, builds, kConfidence, most, kBisections, kSeed);
    state.counters["trials"] = all.mean_trials;
    state.counters["said"] = all.said();
    state.counters["right_%"] = 100.0 * all.right / std::max(1, all.said());
    state.counters["wrong"] = all.said() - all.right;
    state.counters["held_%"] = 100.0 * all.held / std::max(1, all.undecided);
  }
}

void register_bisections(const std::string& name, size_t builds, int most,
                         const std::vector<PlantedChange>& changes) {
  for (const PlantedChange& planted : changes) {
    benchmark::RegisterBenchmark(
        (name + "/" + planted.name).c_str(),
        [planted, builds, most](benchmark::State& state) { measure(state, planted, builds, most); })
        ->Iterations(1)
        ->Unit(benchmark::kSecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  register_bisections("16_builds", 16, 240, planted_changes());
  register_bisections("64_builds", 64, 2000,
                      {{"began_0_100", 0, 1},
                       {"ended_100_0", 1, 0},
                       {"began_0_30", 0, 0.3},
                       {"began_0_10", 0, 0.1},
                       {"began_20_80", 0.2, 0.8},
                       {"began_5_20", 0.05, 0.2},
                       {"none_0", 0, 0, false},
                       {"none_2", 0.02, 0.02, false},
                       {"none_100", 1, 1, false}});
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

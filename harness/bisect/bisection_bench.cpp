// What a bisection costs and how often it is right: 1,000 simulated ones over 64 builds for each
// planted change. Look at the counters; the times are those of the simulation.
#include <benchmark/benchmark.h>

#include "harness/bisect/simulated_bisection.h"

namespace {

using namespace mpsprobe;

constexpr size_t kBuilds = 64;
constexpr int kBisections = 1000;
constexpr int kMostTrials = 5000;
constexpr double kConfidence = 0.95;
constexpr uint64_t kSeed = 24;

void register_bisections() {
  for (const PlantedChange& planted : planted_changes()) {
    benchmark::RegisterBenchmark(("bisect/" + planted.name).c_str(),
                                 [planted](benchmark::State& state) {
                                   for (auto each : state) {
                                     const SimulatedBisections all =
                                         bisect_simulated(planted, kBuilds, kConfidence,
                                                          kMostTrials, kBisections, kSeed);
                                     state.counters["trials"] = all.mean_trials;
                                     state.counters["most"] = all.largest_trials;
                                     state.counters["right_%"] = 100.0 * all.right / all.bisections;
                                     state.counters["undecided"] = all.undecided;
                                   }
                                 })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  register_bisections();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

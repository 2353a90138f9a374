// How often a change is claimed that is none, and how late one that is: simulated series of nights.
// Look at the counters.
#include <benchmark/benchmark.h>

#include "harness/statistics/simulated_nights.h"

namespace {

using namespace mpsprobe;

constexpr int kSeries = 1000;
constexpr uint64_t kSeed = 24;

void varying(benchmark::State& state) {
  for (auto each : state) {
    state.counters["claimed_%"] = 100.0 * false_changes(kSeries, kSeed) / kSeries;
  }
}

void constant(benchmark::State& state) {
  const double rate = static_cast<double>(state.range(0)) / 100;
  for (auto each : state) {
    state.counters["claimed_%"] = 100.0 * false_changes_at(rate, kSeries, kSeed) / kSeries;
  }
}

void delay(benchmark::State& state) {
  for (auto each : state) {
    const ShiftDelay delay = delay_of_shift(static_cast<int>(state.range(0)), kSeries, kSeed);
    state.counters["median_nights"] = delay.median;
    state.counters["missed"] = delay.missed;
    state.counters["early"] = delay.early;
  }
}

BENCHMARK(varying)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(constant)->Arg(0)->Arg(2)->Arg(10)->Arg(50)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(delay)->Arg(10)->Arg(30)->Arg(60)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

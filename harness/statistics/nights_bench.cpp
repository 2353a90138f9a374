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

SimulatedRecord known_of(const benchmark::State& state) {
  return {static_cast<double>(state.range(0)) / 100, static_cast<int>(state.range(1)),
          static_cast<int>(state.range(2))};
}

/// A known failure whose rate stays, rises to twice and to three times what it was.
void known(benchmark::State& state) {
  const SimulatedRecord record = known_of(state);
  for (auto each : state) {
    state.counters["red_of_90"] = red_nights(record, kSeries, kSeed);
    state.counters["gone_%"] = 100.0 * called_gone(record, kSeries, kSeed) / kSeries;
    constexpr int kQuiet = 30;
    state.counters["nights_to_x2"] = delay_of_rise(record, 2 * record.rate, kQuiet, kSeries, kSeed);
    state.counters["nights_to_x3"] = delay_of_rise(record, 3 * record.rate, kQuiet, kSeries, kSeed);
  }
}

BENCHMARK(varying)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(constant)->Arg(0)->Arg(2)->Arg(10)->Arg(50)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(delay)->Arg(10)->Arg(30)->Arg(60)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(known)
    ->ArgNames({"rate_%", "recorded", "trials_a_night"})
    ->ArgsProduct({{1, 10, 30}, {30, 100, 1000}, {10, 50}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

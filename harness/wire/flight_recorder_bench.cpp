// What the flight recorder costs a worker: one write, and a launch with its count of threads
// inside.
#include <benchmark/benchmark.h>

#include "harness/wire/flight_recorder.h"
#include "harness/wire/shared_memory.h"

namespace {

using namespace mpsprobe;

struct Memory {
  SharedMemory shared = SharedMemory::create(sizeof(recorder_layout::Block));
  FlightRecorder recorder{static_cast<recorder_layout::Block*>(shared.data())};
};

FlightRecorder& recorder() {
  static Memory memory;
  return memory.recorder;
}

void write(benchmark::State& state) {
  const auto slot = static_cast<uint32_t>(state.thread_index());
  recorder().begin_thread(slot, "linear");
  uint32_t iteration = 0;
  for (auto _ : state) recorder().at(slot, ++iteration, Step::launching);
}

void launch(benchmark::State& state) {
  const auto slot = static_cast<uint32_t>(state.thread_index());
  recorder().begin_thread(slot, "linear");
  uint32_t iteration = 0;
  for (auto _ : state) {
    recorder().enter_launch(slot, ++iteration);
    recorder().leave_launch();
  }
}

}  // namespace

BENCHMARK(write)->Threads(1)->Threads(2);
BENCHMARK(launch)->Threads(1)->Threads(2);
BENCHMARK_MAIN();

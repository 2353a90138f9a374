// What a call costs more where it is observed, and what the trap catches. The first benchmarks run
// before the observer is loaded, as it cannot be unloaded.
#import <Metal/Metal.h>

#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "scenarios/observer/observe.h"
#include "scenarios/observer/observed_program.h"

namespace {

id<MTLDevice> device() {
  static id<MTLDevice> const made = MTLCreateSystemDefaultDevice();
  return made;
}

void observe() {
  void* const library = dlopen(MPSPROBE_OBSERVER, RTLD_NOW);
  const auto begin = reinterpret_cast<decltype(&mpsprobe_observer_begin)>(
      library == nullptr ? nullptr : dlsym(library, "mpsprobe_observer_begin"));
  if (begin == nullptr || begin() == 0) {
    std::fprintf(stderr, "the observer does not begin: %s\n", MPSPROBE_OBSERVER);
    std::exit(1);
  }
}

// One encoder for each thread, as it has to be.
void call(benchmark::State& state, bool observed) {
  if (observed) {
    [[maybe_unused]] static const bool once = (observe(), true);
  }
  @autoreleasepool {
    id<MTLCommandQueue> const queue = [device() newCommandQueue];
    id<MTLCommandBuffer> const commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> const encoder = [commands computeCommandEncoder];
    id<MTLBuffer> const buffer = [device() newBufferWithLength:64
                                                       options:MTLResourceStorageModeShared];
    for (auto _ : state) [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder endEncoding];
    [buffer release];
    [queue release];
  }
}

void encoder(benchmark::State& state, bool observed) {
  if (observed) {
    [[maybe_unused]] static const bool once = (observe(), true);
  }
  id<MTLCommandQueue> const queue = [device() newCommandQueue];
  for (auto _ : state) {
    @autoreleasepool {
      [[[queue commandBuffer] computeCommandEncoder] endEncoding];
    }
  }
  [queue release];
}

// Two threads that may not meet, with random gaps: in how many runs they are caught.
void meeting(benchmark::State& state, bool trap) {
  int runs = 0;
  int caught = 0;
  for (auto _ : state) {
    const mpsprobe::ObservedProgram run = mpsprobe::observe_program(
        {MPSPROBE_MEETING, std::to_string(++runs)},
        trap ? std::vector<std::string>{"MPSPROBE_OBSERVER_TRAP=1"} : std::vector<std::string>());
    for (const nlohmann::json& line : run.lines) {
      if (line.value("rule", "") == "shared-command-buffer") ++caught;
    }
  }
  state.counters["caught"] = static_cast<double>(caught) / runs;
}

BENCHMARK_CAPTURE(call, plain, false)->ThreadRange(1, 2);
BENCHMARK_CAPTURE(encoder, plain, false);
BENCHMARK_CAPTURE(call, observed, true)->ThreadRange(1, 2);
BENCHMARK_CAPTURE(encoder, observed, true);
BENCHMARK_CAPTURE(meeting, plain, false)
    ->Iterations(100)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(meeting, trap, true)
    ->Iterations(100)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

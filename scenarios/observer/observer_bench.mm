// What a call costs more where it is observed, and what the trap catches. The first benchmarks run
// before the observer is loaded, as it cannot be unloaded.
#import <Metal/Metal.h>

#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "scenarios/observer/observe.h"
#include "scenarios/observer/observed_program_for_tests.h"

namespace {

id<MTLDevice> device() {
  static id<MTLDevice> const made = MTLCreateSystemDefaultDevice();
  return made;
}

enum class Observer { none, rules, trap };

template <typename F>
F of_observer(const char* name) {
  void* const library = dlopen(MPSPROBE_OBSERVER, RTLD_NOW);
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "the observer does not begin: %s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<F>(found);
}

/// It stays for all that runs afterwards.
void observe(Observer how) {
  if (how != Observer::none)
    of_observer<decltype(&mpsprobe_observer_begin)>("mpsprobe_observer_begin")();
  if (how == Observer::trap)
    of_observer<decltype(&mpsprobe_observer_trap)>("mpsprobe_observer_trap")();
}

// One encoder for each thread, as it has to be.
void call(benchmark::State& state, Observer how) {
  observe(how);
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

// A command buffer and an encoder, from the first call to the end of both: five calls that are
// observed. Without a commit, which would measure the device and the scheduler.
void encoder(benchmark::State& state, Observer how) {
  observe(how);
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

BENCHMARK_CAPTURE(call, plain, Observer::none)->ThreadRange(1, 2);
BENCHMARK_CAPTURE(encoder, plain, Observer::none);
BENCHMARK_CAPTURE(call, rules, Observer::rules)->ThreadRange(1, 2);
BENCHMARK_CAPTURE(encoder, rules, Observer::rules);
BENCHMARK_CAPTURE(call, trap, Observer::trap)->ThreadRange(1, 2);
BENCHMARK_CAPTURE(encoder, trap, Observer::trap);
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

// What naming the functions of crashes costs: 1,000 stacks of 64 addresses, all different, spread
// over the code of one image. The counter `crashes_per_second` is the figure to look at; a campaign
// with 1,000 crashes wants more than 100.
//   symboliser_bench [--benchmark_...] with MPSPROBE_BENCH_IMAGE naming the image instead of this
//   program itself, for example LibTorch's libtorch_cpu.so or libtorch_cpu.dylib, and
//   MPSPROBE_BENCH_IMAGE_ID its build id or UUID (lower-case hex; empty where it has none).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>

#include "harness/stack/image_symbols.h"
#include "harness/stack/own_address.h"
#include "harness/stack/symboliser.h"

namespace {

using namespace mpsprobe;

constexpr uint64_t kCrashes = 1000;
constexpr uint64_t kFrames = 64;

struct BenchImage {
  std::string path;
  std::string id;
  uint64_t bytes = 0;
};

const BenchImage& bench_image() {
  static const BenchImage image = [] {
    const char* named = std::getenv("MPSPROBE_BENCH_IMAGE");
    const char* id = std::getenv("MPSPROBE_BENCH_IMAGE_ID");
    BenchImage result;
    if (named != nullptr) {
      result = {named, id != nullptr ? id : "", 0};
    } else {
      const FrameAddress own = own_address(reinterpret_cast<const void*>(&bench_image));
      result = {own.path, own.image_id, 0};
    }
    const std::optional<ImageFile> file = ImageFile::open(result.path);
    if (file) result.bytes = file->size();
    return result;
  }();
  return image;
}

/// Stacks of addresses that occur once each. Every other `round` has addresses of its own.
std::vector<std::vector<FrameAddress>> crashes(uint64_t round) {
  const uint64_t step = std::max<uint64_t>(bench_image().bytes / (kCrashes * kFrames), 1);
  std::vector<std::vector<FrameAddress>> stacks(kCrashes);
  for (uint64_t i = 0; i < kCrashes * kFrames; ++i) {
    // Neighbours on a stack are no neighbours in the image.
    stacks[i % kCrashes].push_back(
        {bench_image().path, bench_image().id, i * step + 1 + round % step});
  }
  return stacks;
}

void open_image(benchmark::State& state) {
  for (auto _ : state) {
    Symboliser symboliser;
    benchmark::DoNotOptimize(symboliser.symbolise({{bench_image().path, bench_image().id, 4096}}));
  }
}
BENCHMARK(open_image)->Unit(benchmark::kMillisecond);

void symbolise(benchmark::State& state, bool open) {
  auto symboliser = std::make_unique<Symboliser>();
  uint64_t named = 0;
  uint64_t frames = 0;
  uint64_t round = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto stacks = crashes(round++);
    if (open) symboliser = std::make_unique<Symboliser>();
    state.ResumeTiming();
    for (const auto& stack : stacks) {
      for (const StackFrame& frame : symboliser->symbolise(stack)) {
        named += frame.function.empty() ? 0 : 1;
        ++frames;
      }
    }
  }
  if (named == 0) state.SkipWithError("no function was named: is MPSPROBE_BENCH_IMAGE_ID its id?");
  const auto rounds = static_cast<double>(round);
  state.counters["crashes_per_second"] =
      benchmark::Counter(rounds * kCrashes, benchmark::Counter::kIsRate);
  state.counters["named"] = static_cast<double>(named) / static_cast<double>(frames);
}
BENCHMARK_CAPTURE(symbolise, and_open, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(symbolise, opened, false)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();

// Threads encode and commit the same Metal work at the same time, each in command buffers of its
// own; every status, error and number is checked. Each attempt is a process of its own. Build:
// clang++ -std=c++20 -fno-objc-arc -framework Foundation -framework CoreGraphics -framework Metal
// -framework MetalPerformanceShaders -framework MetalPerformanceShadersGraph -x objective-c++ FILE
// (no ARC: it retains and releases by hand). Run: ./a.out [--help]. Exit status: 0 not reproduced;
// 1 reproduced; 2 the control failed (one thread does the work of all), or it cannot run.
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
// ---- parameters: begin
constexpr size_t kThreads = 4;
constexpr size_t kIterations = 10;    // of each thread
constexpr size_t kRuns = 10;          // processes for each line of the result
constexpr unsigned kSeconds = 60;     // that one process may take
constexpr bool kSharedQueue = false;  // one command queue for all threads
constexpr bool kSharedGraph = false;  // one graph for all threads
constexpr bool kLock = false;         // a lock around each launch in every process
using Sizes = std::vector<int>;
using Tensors = std::vector<MPSGraphTensor*>;
const std::vector<Sizes> kInputs = {{8, 64}, {64, 64}, {64}};
const Sizes kResult = {8, 64};
// clang-format off
constexpr auto build = [](MPSGraph* g, const Tensors& in) {
  MPSGraphTensor* const turned = [g transposeTensor:in[1] dimension:0 withDimension:1 name:nil];
  MPSGraphTensor* const product = [g matrixMultiplicationWithPrimaryTensor:in[0]
                                   secondaryTensor:turned name:nil];
  return [g additionWithPrimaryTensor:product secondaryTensor:in[2] name:nil];
};
constexpr auto expected = [](float x) { return 64 * x + 1; };  // of inputs that are all x, 1, 1
// ---- parameters: end
constexpr auto kType = MPSDataTypeFloat32;
extern char** environ;
constexpr const char* kArms[] = {"threads", "control: one thread", "workaround: a lock"};
id<MTLDevice> device = nil;
id<MTLBuffer> filled(const Sizes& sizes, float value) {
  std::vector<float> all(1, value);
  for (const int size : sizes) all.resize(all.size() * static_cast<size_t>(size), value);
  const auto mode = MTLResourceStorageModeShared;
  id<MTLBuffer> const b = [device newBufferWithBytes:all.data() length:4 * all.size() options:mode];
  if (b == nil) _exit(2);
  return [b autorelease];
}
MPSShape* shape_of(const Sizes& sizes) {
  std::vector<NSNumber*> numbers;
  for (const int size : sizes) numbers.push_back(@(size));
  return [NSArray arrayWithObjects:numbers.data() count:numbers.size()];
}
MPSGraphTensorData* data(id<MTLBuffer> buffer, const Sizes& sizes) {
  MPSGraphTensorData* const made = [MPSGraphTensorData alloc];
  return [[made initWithMTLBuffer:buffer shape:shape_of(sizes) dataType:kType] autorelease];
}
void attempt(size_t threads, size_t iterations, int arm) {
  alarm(kSeconds);  // which ends it
  id<MTLCommandQueue> queue = nil;
  MPSGraph* graph = nil;
  Tensors in(kInputs.size());
  MPSGraphTensor* out = nil;
  std::mutex launching;
  std::vector<std::thread> running;
  const size_t at_once = arm == 1 ? 1 : threads;
  std::atomic<size_t> missing = at_once;
  for (size_t thread = 0; thread < at_once; ++thread) {
    const auto x = static_cast<float>(thread % 7) - 3;  // all numbers of its first input
    std::vector<MPSGraphTensorData*> fed;
    for (const Sizes& each : kInputs) fed.push_back(data(filled(each, fed.empty() ? x : 1), each));
    if (queue == nil || !kSharedQueue) queue = [[device newCommandQueue] autorelease];
    if (graph == nil || !kSharedGraph) {
      graph = [[[MPSGraph alloc] init] autorelease];
      for (size_t k = 0; k < in.size(); ++k)
        in[k] = [graph placeholderWithShape:shape_of(kInputs[k]) dataType:kType name:nil];
      out = build(graph, in);
    }
    NSDictionary* const feeds = [NSDictionary dictionaryWithObjects:fed.data() forKeys:in.data()
                                              count:fed.size()];
    if (queue == nil || out == nil) std::exit(2);
    running.emplace_back([&, x, queue, graph, out, feeds] {
      for (--missing; missing > 0;) std::this_thread::yield();
      for (size_t n = 0; n < iterations * threads / at_once; ++n) {
        @autoreleasepool {
          std::unique_lock<std::mutex> turn(launching, std::defer_lock);
          if (kLock || arm == 2) turn.lock();
          auto* const commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
          id<MTLCommandBuffer> const first = [[[commands rootCommandBuffer] retain] autorelease];
          id<MTLBuffer> const result = filled(kResult, -1);
          [graph encodeToCommandBuffer:commands feeds:feeds targetOperations:nil
                 resultsDictionary:@{out : data(result, kResult)} executionDescriptor:nil];
          id<MTLCommandBuffer> const last = [commands rootCommandBuffer];
          [commands commit];
          if (turn.owns_lock()) turn.unlock();
          for (id<MTLCommandBuffer> each : {first, last}) {  // MPSGraph may change to another one
            [each waitUntilCompleted];
            if ([each error] != nil) std::puts([[[each error] localizedDescription] UTF8String]);
            if ([each status] != MTLCommandBufferStatusCompleted) std::exit(1);
          }
          const auto* const numbers = static_cast<const float*>([result contents]);
          for (size_t i = 0; i < [result length] / sizeof(float); ++i)
            if (!(std::fabs(numbers[i] - expected(x)) < 1e-3F)) std::exit(1);
        }
      }
    });
  }
  for (std::thread& each : running) each.join();
}
int main(int argc, char** argv) {
  size_t threads = kThreads, iterations = kIterations, runs = kRuns, failed[3] = {};
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], text = i + 1 < argc ? argv[i + 1] : "";
    size_t& value = name == "--threads" ? threads : name == "--runs" ? runs : iterations;
    value = std::strtoul(text.c_str(), nullptr, 10);
    const bool known = name == "--threads" || name == "--iterations" || name == "--runs";
    if (!known || value < 1 || value > 1000000 || threads > 256 || std::to_string(value) != text) {
      std::puts("Usage: reproducer [--threads 1..256] [--iterations N] [--runs N]");
      return name == "--help" ? 0 : 2;
    }
  }
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    NSString* const system = [[NSProcessInfo processInfo] operatingSystemVersionString];
    if (device == nil) return 2;
    const char* const arm = std::getenv("REPRODUCER_ARM");
    if (arm != nullptr) return attempt(threads, iterations, *arm - '0'), 0;
    std::printf("%s, OS %s\n", [[device name] UTF8String], [system UTF8String]);
  }
  const size_t arms = threads == 1 ? 1 : kLock ? 2 : 3;  // those that differ
  for (size_t n = 0; n < runs * arms; ++n) {
    int child = 0, status = 0;
    setenv("REPRODUCER_ARM", std::to_string(n % arms).c_str(), 1);
    if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv, environ) != 0) return 2;
    if (waitpid(child, &status, 0) != child || status == 2 << 8) return 2;
    if (WIFSIGNALED(status)) std::puts(strsignal(WTERMSIG(status)));  // Alarm clock: the limit
    failed[n % arms] += status != 0;
  }
  for (size_t i = 0; i < arms; ++i)
    std::printf("%s: %zu of %zu failed\n", kArms[i], failed[i], runs);
  const int code = arms > 1 && failed[1] > 0 ? 2 : failed[0] > 0 ? 1 : 0;
  std::puts(code == 2 ? "CONTROL FAILED" : code == 1 ? "REPRODUCED" : "NOT REPRODUCED");
  return code;
}

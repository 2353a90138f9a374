// sim/linear/default/threads=3/iterations=1
// SIMULATED (profile report-000): no evidence about Apple's software. bad access in mpsprobe::sim::SharedKernel::set_pipeline_state
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
constexpr size_t kThreads = 3;
constexpr size_t kIterations = 1;     // of each thread
constexpr size_t kRuns = 10;           // processes for each line of the result
constexpr unsigned kSeconds = 60;      // that one process may take
constexpr bool kSyncEach = true;       // wait for each command buffer, or for all at the end
constexpr bool kSharedQueue = false;   // one command queue for all threads
constexpr bool kSharedKernel = false;  // one kernel for all threads, which take turns at it
constexpr bool kLock = false;          // a lock around each launch in every process
constexpr int kBatch = 8, kIn = 64, kOut = 64;
// ---- parameters: end
using Kernel = MPSNDArrayMatrixMultiplication;
using Launched = std::vector<std::pair<id<MTLCommandBuffer>, id<MTLBuffer>>>;
extern char** environ;
constexpr const char* kArms[] = {"threads", "control: one thread", "workaround: a lock"};
id<MTLDevice> device = nil;
id<MTLBuffer> filled(int rows, int columns, float value) {
  const std::vector<float> all(static_cast<size_t>(rows * columns), value);
  const auto mode = MTLResourceStorageModeShared;
  id<MTLBuffer> const b = [device newBufferWithBytes:all.data() length:4 * all.size() options:mode];
  if (b == nil) _exit(2);
  return [b autorelease];
}

API_AVAILABLE(macos(15.0)) MPSNDArray* array(id<MTLBuffer> buffer, MPSShape* shape, bool turned) {
  auto* const layout = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:shape];
  layout.preferPackedRows = YES;
  if (turned) [layout transposeDimension:0 withDimension:1];
  return [[[MPSNDArray alloc] initWithBuffer:buffer offset:0 descriptor:layout] autorelease];
}

// Ends the process where the device failed or a number is wrong.
void finish(Launched& all, float expected) {
  for (const auto& [commands, result] : all) {
    [commands waitUntilCompleted];
    if ([commands error] != nil) std::puts([[[commands error] localizedDescription] UTF8String]);
    if ([commands status] != MTLCommandBufferStatusCompleted) std::exit(1);
    const auto* const numbers = static_cast<const float*>([result contents]);
    for (int i = 0; i < kBatch * kOut; ++i)
      if (!(std::fabs(numbers[i] - expected) < 1e-3F)) std::exit(1);
    [commands release];
    [result release];
  }
  all.clear();
}

API_AVAILABLE(macos(15.0)) void attempt(size_t threads, size_t iterations, int arm) {
  alarm(kSeconds);  // which ends it
  id<MTLBuffer> const weight = filled(kOut, kIn, 1), bias = filled(1, kOut, 1);
  id<MTLCommandQueue> queue = nil;
  Kernel* kernel = nil;
  std::mutex launching, encoding;
  std::vector<std::thread> running;
  const size_t at_once = arm == 1 ? 1 : threads;
  std::atomic<size_t> missing = at_once;
  for (size_t thread = 0; thread < at_once; ++thread) {
    const auto x = static_cast<float>(thread % 7) - 3;  // all numbers of its input
    id<MTLBuffer> const input = filled(kBatch, kIn, x);
    if (queue == nil || !kSharedQueue) queue = [[device newCommandQueue] autorelease];
    if (kernel == nil || !kSharedKernel)
      kernel = [[[Kernel alloc] initWithDevice:device sourceCount:3] autorelease];
    if (queue == nil || kernel == nil) std::exit(2);
    running.emplace_back([&, x, input, queue, kernel] {
      for (--missing; missing > 0;) std::this_thread::yield();
      Launched launched;
      for (size_t n = 0; n < iterations * threads / at_once; ++n) {
        @autoreleasepool {
          std::unique_lock<std::mutex> turn(launching, std::defer_lock);
          if (kLock || arm == 2) turn.lock();
          auto* const commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
          id<MTLBuffer> const result = filled(kBatch, kOut, -1);
          NSArray* const sources = @[
            array(input, @[ @(kBatch), @(kIn) ], false), array(weight, @[ @(kOut), @(kIn) ], true),
            array(bias, @[ @(kOut) ], false)
          ];
          MPSNDArray* const target = array(result, @[ @(kBatch), @(kOut) ], false);
          if (kSharedKernel) encoding.lock();
          [kernel encodeToCommandBuffer:commands sourceArrays:sources destinationArray:target];
          if (kSharedKernel) encoding.unlock();
          launched.push_back({[[commands rootCommandBuffer] retain], [result retain]});
          [commands commit];
          if (turn.owns_lock()) turn.unlock();
          if (kSyncEach) finish(launched, kIn * x + 1);
        }
      }
      finish(launched, kIn * x + 1);
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
    if (@available(macOS 15.0, *)) {
      if (arm != nullptr) return attempt(threads, iterations, *arm - '0'), 0;
    }
    if (arm != nullptr) return 2;
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

// Threads encode and commit the same Metal work at the same time, each in command buffers of its
// own; every status, error and number is checked. Each attempt is a process of its own, and two of
// its arms run under Metal's validation layers, which would name a misuse of the API. Build:
// clang++ -std=c++20 -fno-objc-arc -framework Foundation -framework CoreGraphics -framework Metal
// -framework MetalPerformanceShaders -framework MetalPerformanceShadersGraph -x objective-c++ FILE
// (no ARC: it retains and releases by hand). Run: ./a.out [--help]. Exit status: 0 not reproduced;
// 1 reproduced; 2 the control failed (one thread does the work of all), or it cannot run.
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
constexpr unsigned kSeconds = 60;     // without one iteration, compiling included, are a hang
constexpr bool kSyncEach = true;      // wait after each launch, or at the end
constexpr bool kSharedQueue = false;  // one command queue for all threads
constexpr bool kLock = false;         // a lock around each launch in every process
constexpr int kBatch = 8, kIn = 64, kOut = 64;
// ---- parameters: end
using Kernel = MPSNDArrayMatrixMultiplication;
using Turn = std::unique_lock<std::mutex>;
extern char** environ;
constexpr const char* kArms[] = {"threads", "threads, validation", "control: one thread",
                                 "control: one thread, validation", "workaround: a lock"};
id<MTLDevice> device = nil;
// At once, since other threads go on: no destructor runs beside them.
[[noreturn]] void end(int code, const char* why) {
  std::puts(why);
  std::fflush(stdout);
  _exit(code);
}
[[noreturn]] void end_wrong(size_t thread, size_t launch, size_t i, float wanted, float got) {
  std::printf("A number is wrong: thread %zu, launch %zu, index %zu: expected %.9g, got %.9g",
              thread, launch, i, static_cast<double>(wanted), static_cast<double>(got));
  end(1, "");
}
float first_input(size_t thread) { return static_cast<float>(thread + 1) / 16; }  // of each its own
id<MTLBuffer> filled(int rows, int columns, float value) {
  const std::vector<float> all(static_cast<size_t>(rows * columns), value);
  const auto mode = MTLResourceStorageModeShared;
  id<MTLBuffer> const b = [device newBufferWithBytes:all.data() length:4 * all.size() options:mode];
  if (b == nil) end(2, "Metal gave no buffer");
  return [b autorelease];
}

API_AVAILABLE(macos(15.0)) MPSNDArray* array(id<MTLBuffer> buffer, MPSShape* shape, bool turned) {
  auto* const layout = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:shape];
  layout.preferPackedRows = YES;
  if (turned) [layout transposeDimension:0 withDimension:1];
  return [[[MPSNDArray alloc] initWithBuffer:buffer offset:0 descriptor:layout] autorelease];
}

// Ends the process where the device failed or a number is wrong.
void check(id<MTLCommandBuffer> commands, const std::vector<id<MTLBuffer>>& results, float expected,
           size_t thread, size_t launched) {
  [commands waitUntilCompleted];
  if ([commands error] != nil) std::puts([[[commands error] localizedDescription] UTF8String]);
  if ([commands status] != MTLCommandBufferStatusCompleted) end(1, "A command buffer failed");
  for (size_t k = 0; k < results.size(); ++k) {
    const auto* const numbers = static_cast<const float*>([results[k] contents]);
    for (size_t i = 0; i < size_t{kBatch} * kOut; ++i)
      if (!(std::fabs(numbers[i] - expected) < 1e-3F))
        end_wrong(thread, launched - results.size() + k, i, expected, numbers[i]);
  }
}

API_AVAILABLE(macos(15.0)) void attempt(size_t threads, size_t iterations, int arm) {
  id<MTLBuffer> const weight = filled(kOut, kIn, 1), bias = filled(kBatch, kOut, 1);
  id<MTLCommandQueue> queue = nil;
  std::mutex launching;
  std::vector<std::thread> running;
  const size_t at_once = arm == 2 || arm == 3 ? 1 : threads;
  std::atomic<size_t> missing = at_once;
  for (size_t thread = 0; thread < at_once; ++thread) {
    const float x = first_input(thread);  // all numbers of its input
    id<MTLBuffer> const input = filled(kBatch, kIn, x);
    if (queue == nil || !kSharedQueue) queue = [[device newCommandQueue] autorelease];
    Kernel* const kernel = [[[Kernel alloc] initWithDevice:device sourceCount:3] autorelease];
    if (queue == nil || kernel == nil) end(2, "Metal gave no queue or kernel");
    running.emplace_back([&, thread, x, input, queue, kernel] {
      for (--missing; missing > 0;) std::this_thread::yield();
      const size_t launches = iterations * threads / at_once;
      for (size_t n = 0; n < launches;) {
        @autoreleasepool {  // holds what is encoded until it was waited for
          // Open until the thread waits, as those of LibTorch's streams.
          id<MTLCommandBuffer> root = nil;
          std::vector<id<MTLBuffer>> results;
          MPSCommandBuffer* commands = nil;
          id<MTLComputeCommandEncoder> encoder = nil;
          do {
            alarm(kSeconds);  // SIGALRM ends the process
            const Turn turn = kLock || arm == 4 ? Turn(launching) : Turn();
            if (commands == nil) {
              commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
              root = [[[commands rootCommandBuffer] retain] autorelease];
              encoder = [commands computeCommandEncoder];
            }
            results.push_back(filled(kBatch, kOut, -1));
            NSArray* const sources = @[
              array(input, @[ @(kBatch), @(kIn) ], false),
              array(weight, @[ @(kOut), @(kIn) ], true), array(bias, @[ @(kBatch), @(kOut) ], false)
            ];
            MPSNDArray* const target = array(results.back(), @[ @(kBatch), @(kOut) ], false);
            [kernel encodeToCommandEncoder:encoder
                             commandBuffer:commands
                              sourceArrays:sources
                          destinationArray:target];
          } while (++n < launches && !kSyncEach);
          [encoder endEncoding];
          [commands commit];
          check(root, results, kIn * x + 1, thread, n);
        }
      }
    });
  }
  for (std::thread& each : running) each.join();
}

// The last that a process said, and in it the rule of Metal's that was broken, if any is named.
std::string end_of(std::FILE* log) {
  std::string text(8192, ' ');
  if (std::fseek(log, -8192, SEEK_END) != 0) std::rewind(log);
  text.resize(std::fread(text.data(), 1, text.size(), log));
  return std::fclose(log), text;
}
std::string assertion_in(const std::string& text) {
  const size_t at = text.find("failed assertion");
  if (at == text.npos) return "";
  const size_t begin = text.rfind('\n', at) + 1;  // 0 where there is none
  const size_t end = std::min(text.find("\n\n", at), text.find_last_not_of('\n') + 1);
  return text.substr(begin, end - begin);
}
int main(int argc, char** argv) {
  size_t threads = kThreads, iterations = kIterations, runs = kRuns, failed[5] = {};
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
  if (const char* const log = std::getenv("REPRODUCER_LOG"))
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) dup2(std::atoi(log), stream);
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    utsname system{};  // macOS 26 calls itself 16 where an older SDK was linked
    uname(&system);
    if (device == nil) end(2, "Metal has no device here");
    const char* const arm = std::getenv("REPRODUCER_ARM");
    if (@available(macOS 15.0, *)) {
      if (arm != nullptr) return attempt(threads, iterations, *arm - '0'), 0;
    }
    if (arm != nullptr) end(2, "MPSNDArray takes a buffer from macOS 15 on");
    std::printf("%s, %s %s\n", [[device name] UTF8String], system.sysname, system.release);
  }
  // Those that differ: of one thread the controls, and a lock that every process has is none.
  std::string broken;  // the rule that Metal's validation names
  const size_t first = threads == 1 ? 2 : 0, last = threads == 1 || kLock ? 4 : 5;
  for (size_t n = 0; n < runs; ++n) {
    for (size_t i = first; i < last; ++i) {
      int child = 0, status = 0;
      std::FILE* const log = std::tmpfile();
      if (log == nullptr) end(2, "No temporary file");
      setenv("REPRODUCER_ARM", std::to_string(i).c_str(), 1);
      setenv("REPRODUCER_LOG", std::to_string(fileno(log)).c_str(), 1);
      for (const char* layer :
           {"MTL_DEBUG_LAYER", "MTL_SHADER_VALIDATION", "MTL_SHADER_VALIDATION_REPORT_TO_STDERR"})
        i % 2 == 1 ? setenv(layer, "1", 1) : unsetenv(layer);
      std::fflush(stdout);
      if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv, environ) != 0 ||
          waitpid(child, &status, 0) != child)
        end(2, "A process could not be started");
      const std::string said = end_of(log);
      const std::string how = WIFSIGNALED(status)
                                  ? strsignal(WTERMSIG(status))  // Alarm clock: a hang
                                  : "exit status " + std::to_string(WEXITSTATUS(status));
      if (status != 0 && failed[i]++ == 0)
        std::printf("%s: %s\n%s", kArms[i], how.c_str(), said.c_str());
      if (status == 2 << 8) return 2;  // it said why
      if (status != 0 && i % 2 == 1 && broken.empty()) broken = assertion_in(said);
    }
  }
  for (size_t i = first; i < last; ++i)
    std::printf("%s: %zu of %zu failed\n", kArms[i], failed[i], runs);
  const int code = failed[2] + failed[3] > 0 ? 2 : failed[0] > 0 ? 1 : 0;
  std::fputs(code == 2 ? "CONTROL FAILED" : code == 1 ? "REPRODUCED" : "NOT REPRODUCED", stdout);
  if (broken.empty() && failed[1] + failed[3] > 0) broken = "failed without naming a rule";
  std::printf(broken.empty() ? "%s\n" : ". Under Metal's validation: %s\n", broken.c_str());
  return code;
}

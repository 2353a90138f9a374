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
constexpr bool kSharedQueue = false;  // one command queue for all threads
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
// Number i of the first input of a thread whose number is x, the others being 1; and of the result.
constexpr auto input = [](float x, size_t) { return x; };
constexpr auto expected = [](float x, size_t) { return 64 * x + 1; };
// ---- parameters: end
constexpr auto kType = MPSDataTypeFloat32;
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
  std::printf("A number is wrong: thread %zu, launch %zu, index %zu: expected %.9g, got %.9g", thread,
              launch, i, static_cast<double>(wanted), static_cast<double>(got));
  end(1, "");
}
float first_input(size_t thread) { return static_cast<float>(thread + 1) / 16; }  // of each its own
template <typename Value>
id<MTLBuffer> filled(const Sizes& sizes, Value value) {
  std::vector<float> all(1);
  for (const int size : sizes) all.resize(all.size() * static_cast<size_t>(size));
  for (size_t i = 0; i < all.size(); ++i) all[i] = value(i);
  const auto mode = MTLResourceStorageModeShared;
  id<MTLBuffer> const b = [device newBufferWithBytes:all.data() length:4 * all.size() options:mode];
  if (b == nil) end(2, "Metal gave no buffer");
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
  id<MTLCommandQueue> queue = nil;
  std::mutex launching;
  std::vector<std::thread> running;
  const size_t at_once = arm == 2 || arm == 3 ? 1 : threads;
  std::atomic<size_t> missing = at_once;
  for (size_t thread = 0; thread < at_once; ++thread) {
    const float x = first_input(thread);
    std::vector<MPSGraphTensorData*> fed;
    for (const Sizes& each : kInputs) {
      const bool is_first = fed.empty();
      fed.push_back(data(filled(each, [=](size_t i) { return is_first ? input(x, i) : 1.0F; }), each));
    }
    if (queue == nil || !kSharedQueue) queue = [[device newCommandQueue] autorelease];
    MPSGraph* const graph = [[[MPSGraph alloc] init] autorelease];
    Tensors in;
    for (const Sizes& each : kInputs)
      in.push_back([graph placeholderWithShape:shape_of(each) dataType:kType name:nil]);
    MPSGraphTensor* const out = build(graph, in);
    NSDictionary* const feeds = [NSDictionary dictionaryWithObjects:fed.data() forKeys:in.data()
                                              count:fed.size()];
    if (queue == nil || out == nil) end(2, "Metal gave no queue or graph");
    running.emplace_back([&, thread, x, queue, graph, out, feeds] {
      for (--missing; missing > 0;) std::this_thread::yield();
      for (size_t n = 0; n < iterations * threads / at_once; ++n) {
        @autoreleasepool {
          alarm(kSeconds);  // SIGALRM ends the process
          std::unique_lock<std::mutex> turn(launching, std::defer_lock);
          if (kLock || arm == 4) turn.lock();
          auto* const commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
          id<MTLCommandBuffer> const first = [[[commands rootCommandBuffer] retain] autorelease];
          id<MTLBuffer> const result = filled(kResult, [](size_t) { return -1.0F; });
          [graph encodeToCommandBuffer:commands feeds:feeds targetOperations:nil
                 resultsDictionary:@{out : data(result, kResult)} executionDescriptor:nil];
          id<MTLCommandBuffer> const last = [commands rootCommandBuffer];
          [commands commit];
          if (turn.owns_lock()) turn.unlock();
          // MPSGraph may commit by itself and go on in another one; what those between the first
          // and the last leave undone shows in the numbers.
          for (id<MTLCommandBuffer> each : {first, last}) {
            [each waitUntilCompleted];
            if ([each error] != nil) std::puts([[[each error] localizedDescription] UTF8String]);
            if ([each status] != MTLCommandBufferStatusCompleted) end(1, "A command buffer failed");
          }
          const auto* const numbers = static_cast<const float*>([result contents]);
          for (size_t i = 0; i < [result length] / sizeof(float); ++i)
            if (!(std::fabs(numbers[i] - expected(x, i)) <= 1e-4F * std::fabs(expected(x, i))))
              end_wrong(thread, n, i, expected(x, i), numbers[i]);
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
    if (arm != nullptr) return attempt(threads, iterations, *arm - '0'), 0;
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
      for (const char* layer : {"MTL_DEBUG_LAYER", "MTL_SHADER_VALIDATION",
                                "MTL_SHADER_VALIDATION_REPORT_TO_STDERR"})
        i % 2 == 1 ? setenv(layer, "1", 1) : unsetenv(layer);
      std::fflush(stdout);
      if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv, environ) != 0 ||
          waitpid(child, &status, 0) != child)
        end(2, "A process could not be started");
      const std::string said = end_of(log);
      const std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status))  // Alarm clock: a hang
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

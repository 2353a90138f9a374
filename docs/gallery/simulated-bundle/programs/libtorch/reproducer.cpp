// sim/linear/default/threads=3/iterations=1
// SIMULATED (profile report-000): no evidence about Apple's software. bad access in mpsprobe::sim::SharedKernel::set_pipeline_state
// Threads launch one PyTorch operation at the same time; every number is compared with the CPU's.
// Each attempt is a process of its own, so that a crash or a hang of it is counted, no more.
// Build: cmake -B build && cmake --build build    Run: build/reproducer [--help]
// Exit status: 0 not reproduced; 1 reproduced; 2 the control failed (one thread that does the work
// of all), or it cannot run. The workaround, a lock around each launch, is counted beside them.
#include <ATen/ATen.h>
#include <spawn.h>
#include <sys/wait.h>
#include <torch/mps.h>
#include <torch/version.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

using Tensors = std::vector<at::Tensor>;
using In = const Tensors&;  // x: the inputs of one thread; w: weights
// ---- parameters: begin
constexpr size_t kThreads = 3;
constexpr size_t kIterations = 1;       // of each thread
constexpr size_t kRuns = 10;             // processes for each line of the result
constexpr unsigned kSeconds = 60;        // that one process may take
constexpr bool kFirstInThreads = false;  // the threads are the first to touch the device
constexpr bool kWarmUp = false;          // main launches for each thread before they start
constexpr bool kSyncEach = true;         // wait for the device after each launch, or at the end
constexpr bool kSharedWeights = true;    // the same weights for all threads
constexpr bool kLock = false;            // a lock around each launch in every process
constexpr at::ScalarType kType = at::kFloat;
constexpr double kTolerance = 1e-3;  // absolute, and again relative
constexpr auto enter_thread = [] {};
constexpr auto synchronise = [] { torch::mps::synchronize(); };
constexpr auto inputs = [] { return Tensors{at::randn({8, 64})}; };
constexpr auto weights = [] { return Tensors{at::randn({64, 64}) / 8, at::randn({64})}; };
constexpr auto launch = [](In x, In w, size_t) { return Tensors{at::linear(x[0], w[0], w[1])}; };
constexpr auto expected = [](In x, In w, size_t thread, In) { return launch(x, w, thread); };
// ---- parameters: end
extern char** environ;
Tensors converted(In all, const at::TensorOptions& options) {
  Tensors result;
  for (const at::Tensor& each : all) result.push_back(each.to(kType).to(options));
  return result;
}

// One process. A crash ends it, and so does an exception, since nobody catches it.
int attempt(const std::string& device, size_t threads, size_t iterations, int arm) {
  alarm(kSeconds);  // which ends it
  const auto wait = device == "mps" ? +synchronise : +[] {};
  const at::TensorOptions there = at::TensorOptions(device).dtype(kType);
  const at::TensorOptions wide = at::TensorOptions(at::kCPU).dtype(at::kDouble);
  const size_t at_once = arm == 1 ? 1 : threads;
  std::vector<Tensors> x(threads), w(threads);
  std::vector<std::vector<Tensors>> results(threads);  // of each thread the first thousand
  std::mutex lock;
  const auto prepare = [&](size_t i) {
    x[i] = converted(inputs(), there);
    w[i] = kSharedWeights && !kFirstInThreads && i > 0 ? w[0] : converted(weights(), there);
  };
  for (size_t i = 0; i < threads && !kFirstInThreads; ++i) prepare(i);
  for (size_t i = 0; i < threads && kWarmUp; ++i) launch(x[i], w[i], i);
  if (!kFirstInThreads) wait();
  std::atomic<size_t> missing = at_once;
  const auto run_thread = [&](size_t first) {
    enter_thread();
    for (size_t i = first; i < threads && kFirstInThreads; i += at_once) prepare(i);
    for (--missing; missing > 0;) std::this_thread::yield();
    for (size_t n = 0; n < iterations * threads / at_once; ++n) {
      const size_t i = (first + n * at_once) % threads;  // one thread does the work of all
      std::unique_lock<std::mutex> turn(lock, std::defer_lock);
      if (kLock || arm == 2) turn.lock();
      Tensors result = launch(x[i], w[i], i);
      if (turn.owns_lock()) turn.unlock();
      if (kSyncEach) wait();
      if (results[i].size() < 1000) results[i].push_back(std::move(result));
    }
    wait();
  };
  std::vector<std::thread> running;
  for (size_t first = 0; first < at_once; ++first) running.emplace_back(run_thread, first);
  for (std::thread& each : running) each.join();
  for (size_t i = 0; i < threads; ++i) {
    for (size_t n = 0; n < results[i].size(); ++n) {
      const Tensors got = converted(results[i][n], wide);
      const Tensors want = expected(converted(x[i], wide), converted(w[i], wide), i, got);
      for (size_t k = 0; k < want.size(); ++k) {
        const at::Tensor right = want[k].to(wide).expand_as(got[k]).flatten();
        const at::Tensor close = at::isclose(got[k].flatten(), right, kTolerance, kTolerance);
        if (close.all().item<bool>()) continue;
        const auto at = close.logical_not().nonzero()[0].item<int64_t>();
        std::fprintf(stderr,
                     "thread %zu, launch %zu, result %zu, index %lld: expected %.9g, got %.9g\n", i,
                     n, k, static_cast<long long>(at), right[at].item<double>(),
                     got[k].flatten()[at].item<double>());
        return 1;
      }
    }
  }
  return 0;
}
// How a process of this program ended, in words; empty where it passed.
std::string run(char** argv) {
  int child = 0, status = 0;
  std::FILE* const log = std::tmpfile();
  if (log == nullptr || setenv("REPRODUCER_LOG", std::to_string(fileno(log)).c_str(), 1) != 0 ||
      posix_spawnp(&child, argv[0], nullptr, nullptr, argv, environ) != 0 ||
      waitpid(child, &status, 0) != child) {
    std::exit(2);
  }
  std::string how, text(4096, ' ');
  std::rewind(log);
  text.resize(std::fread(text.data(), 1, text.size(), log));
  std::fclose(log);
  if (text.find("exited with error status") != text.npos) how = "GPU error";  // printed, no more
  if (status != 0) how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "wrong numbers";
  return how.empty() ? how : how + "\n" + text;
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
  if (const char* const arm = std::getenv("REPRODUCER_ARM")) {
    dup2(std::atoi(std::getenv("REPRODUCER_LOG")), STDERR_FILENO);
    return attempt(std::getenv("REPRODUCER_DEVICE"), threads, iterations, *arm - '0');
  }
  if (std::system("sw_vers 2>&- && sysctl -n machdep.cpu.brand_string || uname -a")) return 2;
  const char* const device = torch::mps::is_available() ? "mps" : "cpu";
  setenv("REPRODUCER_DEVICE", device, 1);
  std::printf("LibTorch %s, device %s%s\n", TORCH_VERSION, device,
              *device == 'm' ? "" : ": this says nothing about Apple's software");
  constexpr const char* kArms[] = {"threads", "control: one thread", "workaround: a lock"};
  const size_t arms = threads == 1 ? 1 : kLock ? 2 : 3;  // those that differ
  for (size_t n = 0; n < runs * arms; ++n) {
    setenv("REPRODUCER_ARM", std::to_string(n % arms).c_str(), 1);
    const std::string how = run(argv);
    if (!how.empty() && failed[n % arms]++ == 0)
      std::printf("%s: %s\n", kArms[n % arms], how.c_str());
  }
  for (size_t i = 0; i < arms; ++i)
    std::printf("%s: %zu of %zu failed\n", kArms[i], failed[i], runs);
  const int code = arms > 1 && failed[1] > 0 ? 2 : failed[0] > 0 ? 1 : 0;
  std::puts(code == 2 ? "CONTROL FAILED" : code == 1 ? "REPRODUCED" : "NOT REPRODUCED");
  return code;
}

// Threads compute with MLX at the same time; every number is compared with what one thread gets.
// Each attempt is a process of its own, so that a crash or a hang of it is counted, no more.
// Build: cmake -B build && cmake --build build    Run: build/reproducer [--help]
// Exit status: 0 not reproduced; 1 reproduced; 2 the control failed (one thread that does the work
// of all), or it cannot run. The workaround, a lock around each launch, is counted beside them.
// That MLX refuses the stream of another thread is no failure; it is counted for itself.
#include <mlx/mlx.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <mutex>
#include <thread>

namespace mx = mlx::core;
using Arrays = std::vector<mx::array>;
using In = const Arrays&;             // x: the inputs of one thread; w: weights
enum class By { self, main, other };  // other: a thread that has ended
enum class Way { eval, async_eval, lazy, compiled };
mx::array numbers(const mx::Shape& shape, float low, float high, unsigned seed) {
  size_t size = 1;
  for (int each : shape) size *= static_cast<size_t>(each);
  std::vector<float> all(size);
  for (float& each : all) {
    seed = seed * 1664525 + 1013904223;
    each = low + (high - low) * static_cast<float>(seed >> 8) / 16777216.0F;
  }
  return mx::array(all.begin(), shape);
}
// ---- parameters: begin
constexpr size_t kThreads = 4;
constexpr size_t kIterations = 30;     // of each thread, in each round
constexpr size_t kRounds = 1;          // of starting and joining the threads
constexpr size_t kRuns = 20;           // processes for each line of the result
constexpr unsigned kSeconds = 60;      // that one process may take
constexpr bool kOnCpu = false;         // also where MLX has a GPU
constexpr bool kOwnStreams = true;     // a new stream for each thread, or the default one
constexpr By kMadeBy = By::self;       // who makes a thread's stream and arrays
constexpr Way kWay = Way::eval;        // how arrays are computed
constexpr bool kSyncEach = true;       // wait after each launch (of async_eval), or at the end
constexpr bool kSharedWeights = true;  // the same weights for all threads
constexpr bool kLock = false;          // a lock around each launch in every process
constexpr bool kRandom = false;        // the numbers differ each time: only that they are finite
constexpr double kTolerance = 1e-3;    // absolute, and again relative
constexpr auto inputs = [](unsigned k) { return Arrays{numbers({16, 16}, -2, 2, k)}; };
constexpr auto weights = [](unsigned k) { return Arrays{numbers({16, 16}, -0.25, 0.25, k)}; };
constexpr auto launch = [](In x, In w, mx::Stream s, size_t) {
  return Arrays{mx::sum(mx::tanh(mx::matmul(x[0], w[0], s), s), s)};
};
// ---- parameters: end
extern char** environ;
constexpr const char* kArms[] = {"threads", "control: one thread", "workaround: a lock"};
const bool gpu = !kOnCpu && mx::is_available(mx::Device(mx::Device::gpu));
const auto device = gpu ? mx::Device::gpu : mx::Device::cpu;
using Numbers = std::vector<std::vector<double>>;
Numbers read(In all) {  // of float32 arrays that have been computed
  Numbers result;
  for (const mx::array& each : all)
    result.emplace_back(each.data<float>(), each.data<float>() + each.size());
  return result;
}
// Where they differ first, in words; empty where they are the same.
std::string wrong(const Numbers& got, const Numbers& want) {
  for (size_t k = 0; k < want.size(); ++k)
    for (size_t i = 0; i < want[k].size(); ++i)
      if (kRandom ? !std::isfinite(got[k][i])
                  : !(std::abs(got[k][i] - want[k][i]) <= kTolerance * (1 + std::abs(want[k][i]))))
        return "result " + std::to_string(k) + ", index " + std::to_string(i) + ": expected " +
               std::to_string(want[k][i]) + ", got " + std::to_string(got[k][i]);
  return "";
}
struct Own {
  mx::Stream s;
  Arrays x, w;
};
// One process: 0, or 1 for wrong numbers. A crash ends it, and so does what nobody catches.
int attempt(size_t threads, size_t iterations, int arm) {
  alarm(kSeconds);  // which ends it
  const size_t at_once = arm == 1 ? 1 : threads;
  std::mutex lock;
  std::atomic<bool> refused = false;
  std::vector<std::vector<Numbers>> results(threads);  // of each thread the first thousand
  const auto make = [](size_t i) {
    return Own{kOwnStreams ? mx::new_stream(device) : mx::default_stream(device),
               inputs(static_cast<unsigned>(i)),
               weights(kSharedWeights ? 0U : static_cast<unsigned>(i))};
  };
  for (size_t round = 0; round < kRounds; ++round) {
    std::vector<std::optional<Own>> own(threads);
    std::vector<Arrays> lazy;
    const auto prepare = [&] {
      for (size_t i = 0; i < threads; ++i) own[i] = make(i);
      for (size_t n = 0; n < iterations && kWay == Way::lazy; ++n)
        lazy.push_back(launch(own[0]->x, own[0]->w, own[0]->s, 0));
    };
    if (kMadeBy == By::main || kWay == Way::lazy) prepare();
    if (kMadeBy == By::other && kWay != Way::lazy) std::thread(prepare).join();
    const auto compiled = mx::compile(std::function<Arrays(In)>([](In all) {
      return launch({all[0]}, {all.begin() + 1, all.end()}, mx::default_stream(device), 0);
    }));
    std::atomic<size_t> missing = at_once;
    const auto run_thread = [&](size_t first) {
      for (--missing; missing > 0;) std::this_thread::yield();
      std::vector<std::pair<size_t, Arrays>> pending;
      try {
        for (size_t n = 0; n < iterations * threads / at_once; ++n) {
          const size_t i = (first + n * at_once) % threads;  // one thread does the work of all
          std::unique_lock<std::mutex> turn(lock, std::defer_lock);
          if (kLock || arm == 2) turn.lock();
          if (!own[i]) own[i] = make(i);
          Arrays all = own[i]->x;
          all.insert(all.end(), own[i]->w.begin(), own[i]->w.end());
          Arrays got = kWay == Way::lazy       ? lazy[n % iterations]
                       : kWay == Way::compiled ? compiled(all)
                                               : launch(own[i]->x, own[i]->w, own[i]->s, i);
          kWay == Way::async_eval ? mx::async_eval(got) : mx::eval(got);
          if (kWay == Way::async_eval && kSyncEach) mx::synchronize(own[i]->s);
          if (kWay == Way::async_eval && !kSyncEach)
            pending.emplace_back(i, got);
          else if (results[i].size() < 1000)
            results[i].push_back(read(got));
        }
        for (auto& [i, got] : pending) {
          mx::synchronize(own[i]->s);
          results[i].push_back(read(got));
        }
      } catch (const std::runtime_error& error) {
        if (std::strstr(error.what(), "There is no Stream") == nullptr) throw;
        refused = true;
      }
      if (kMadeBy == By::self)
        for (size_t i = first; i < threads; i += at_once) own[i].reset();
    };
    std::vector<std::thread> running;
    for (size_t first = 0; first < at_once; ++first) running.emplace_back(run_thread, first);
    for (std::thread& each : running) each.join();
  }
  for (size_t i = 0; i < threads; ++i) {
    const auto k = static_cast<unsigned>(kWay == Way::lazy ? 0 : i);
    Arrays want =
        launch(inputs(k), weights(kSharedWeights ? 0 : k), mx::default_stream(mx::Device::cpu), i);
    mx::eval(want);
    for (size_t n = 0; n < results[i].size(); ++n) {
      const std::string how = wrong(results[i][n], read(want));
      if (how.empty()) continue;
      std::printf("%s: thread %zu, launch %zu, %s\n", kArms[arm], i, n, how.c_str());
      return 1;
    }
  }
  return refused ? 3 : 0;
}
// How a process of this program ended, in words; empty where it passed.
std::string run(char** argv, bool& refused) {
  int child = 0, status = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv, environ) != 0 ||
      waitpid(child, &status, 0) != child) {
    _exit(2);
  }
  refused = WIFEXITED(status) && WEXITSTATUS(status) == 3;
  if (status == 0 || refused) return "";
  return WIFSIGNALED(status)        ? strsignal(WTERMSIG(status))
         : WEXITSTATUS(status) == 1 ? "wrong numbers"
                                    : "exit status " + std::to_string(WEXITSTATUS(status));
}

int main(int argc, char** argv) {
  size_t threads = kThreads, iterations = kIterations, runs = kRuns, failed[3] = {}, refusals = 0;
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
  setenv("MLX_ENABLE_TF32", "0", 0);  // products are compared as those of float32
  if (const char* const arm = std::getenv("REPRODUCER_ARM")) {
    const int code = attempt(threads, iterations, *arm - '0');
    std::fflush(nullptr);
    return code;
  }
  std::printf("MLX %s, %s\n", mx::version(),
              !gpu                        ? "CPU"
              : mx::metal::is_available() ? "Metal"
                                          : "CUDA");
  const size_t arms = threads == 1 ? 1 : kLock ? 2 : 3;  // those that differ
  for (size_t n = 0; n < runs * arms; ++n) {
    setenv("REPRODUCER_ARM", std::to_string(n % arms).c_str(), 1);
    bool refused = false;
    const std::string how = run(argv, refused);
    if (refused && n % arms == 0) ++refusals;
    if (!how.empty() && failed[n % arms]++ == 0)
      std::printf("%s: %s\n", kArms[n % arms], how.c_str());
  }
  for (size_t i = 0; i < arms; ++i)
    std::printf("%s: %zu of %zu failed\n", kArms[i], failed[i], runs);
  if (refusals > 0) std::printf("refused by MLX: %zu of %zu\n", refusals, runs);
  const int code = arms > 1 && failed[1] > 0 ? 2 : failed[0] > 0 ? 1 : 0;
  std::puts(code == 2 ? "CONTROL FAILED" : code == 1 ? "REPRODUCED" : "NOT REPRODUCED");
  return code;
}

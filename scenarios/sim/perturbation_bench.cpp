// How well each perturbation finds planted defects: every defect of every profile, encoded by
// threads of a worker in a process of its own. As MC Mutants scores its environments (Levine, Guo,
// Cho, Baker, Levien, Donaldson, Sorensen, "MC Mutants: Evaluating and Improving Testing for Memory
// Consistency Specifications", ASPLOS 2023), the score is defects killed a second.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/sim/defects.h"
#include "scenarios/sim/profile.h"
#include "scenarios/sim/start.h"
#include "scenarios/threads/perturbation.h"
#include "scenarios/threads/threads.h"

namespace mpsprobe::sim {
namespace {

/// A profile with one of its defects alone, and the threads and iterations that can meet it.
struct Mutant {
  Profile profile;
  const Operation* operation = nullptr;
  EncodePath path = EncodePath::none;
  Cell cell;
};

class NotingTarget : public EncodeTarget {
 public:
  explicit NotingTarget(metal::Device& device) : queue_(device.new_command_queue()) {}
  metal::CommandQueue& queue() override { return *queue_; }
  void fail_current(std::string_view) override { failed_ = true; }
  bool failed() const { return failed_; }

 private:
  std::unique_ptr<metal::CommandQueue> queue_;
  std::atomic<bool> failed_ = false;
};

/// What the threads of one process share.
struct Simulated {
  explicit Simulated(const Mutant& of) : mutant(of), engine(of.profile, draw), target(device) {}

  void encode() {
    const EncodeResult result = engine.encode(*mutant.operation, mutant.path, target);
    if (result.wrong_numbers || result.exception != nullptr || target.failed()) _exit(1);
  }

  const Mutant& mutant;
  metal::Device device;
  DefectEngine engine;
  NotingTarget target;
};

class EncodingLane : public Lane {
 public:
  explicit EncodingLane(Simulated& simulated) : simulated_(simulated) {}
  std::string operation() const override { return std::string(simulated_.mutant.operation->name); }
  void launch(int) override { simulated_.encode(); }
  void synchronise() override { simulated_.target.queue().engine().wait_while_stopped(); }
  CheckResult check() override { return {}; }

 private:
  Simulated& simulated_;
};

class EncodingWorkload : public Workload {
 public:
  explicit EncodingWorkload(Simulated& simulated) : simulated_(simulated) {}
  void touch_device() override {}
  std::unique_ptr<Lane> make_lane(int) override {
    return std::make_unique<EncodingLane>(simulated_);
  }
  void settle() override {}
  std::string observed_path() override { return ""; }

 private:
  Simulated& simulated_;
};

std::vector<Mutant> mutants_of(const std::string& name) {
  const Profile profile =
      load_profile((std::filesystem::path(MPSPROBE_PROFILES) / (name + ".json")).string());
  std::vector<Mutant> mutants;
  for (const Defect& defect : profile.defects) {
    Mutant mutant;
    mutant.profile = profile;
    mutant.profile.defects = {defect};
    for (const Operation& operation : operations()) {
      for (const EncodePath path : {EncodePath::nograph, EncodePath::graph, EncodePath::blit}) {
        if (mutant.operation == nullptr && defect.concerns(operation, path)) {
          mutant.operation = &operation;
          mutant.path = path;
        }
      }
    }
    mutant.cell.op = mutant.operation->name;
    mutant.cell.threads = defect.slots + 1;
    mutant.cell.iterations = std::max(10, defect.from_encode + 2);
    mutants.push_back(mutant);
  }
  return mutants;
}

std::vector<Mutant> all_mutants() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MPSPROBE_PROFILES)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  std::vector<Mutant> all;
  for (const std::string& name : names) {
    for (const Mutant& mutant : mutants_of(name)) all.push_back(mutant);
  }
  return all;
}

[[noreturn]] void run_here(const Mutant& mutant, Perturb perturb, uint64_t seed) {
  constexpr itimerval kHung{{0, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &kHung, nullptr);  // SIGALRM ends it
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
  for (const Defect& defect : mutant.profile.defects) {
    const size_t equals = defect.env.find('=');
    if (equals == std::string::npos) continue;
    setenv(defect.env.substr(0, equals).c_str(), defect.env.substr(equals + 1).c_str(), 1);
  }
  Simulated simulated(mutant);
  for (const Defect& defect : mutant.profile.defects) {
    if (defect.once_warm) simulated.encode();
  }
  hold_encodes(hold_inside);
  Cell cell = mutant.cell;
  cell.perturb = perturb;
  EncodingWorkload workload(simulated);
  std::vector<std::unique_ptr<Lane>> lanes(static_cast<size_t>(cell.threads));
  const auto block = std::make_unique<recorder_layout::Block>();
  FlightRecorder recorder(block.get());
  run_threads(cell, cell.iterations, seed, workload, lanes, recorder,
              [](const FailureEvent&) { _exit(1); });
  _exit(0);
}

/// Whether one process of the mutant fails.
bool killed(const Mutant& mutant, Perturb perturb, uint64_t seed) {
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) run_here(mutant, perturb, seed);
  int status = 0;
  while (waitpid(child, &status, 0) != child) {
  }
  return status != 0;
}

/// One process of each mutant.
void score(benchmark::State& state, Perturb perturb) {
  const std::vector<Mutant> mutants = all_mutants();
  uint64_t kills = 0;
  uint64_t trials = 0;
  for (auto _ : state) {
    for (const Mutant& mutant : mutants) {
      kills += killed(mutant, perturb, trials) ? 1 : 0;
      ++trials;
    }
  }
  state.counters["kills"] = benchmark::Counter(static_cast<double>(kills));
  state.counters["trials"] = benchmark::Counter(static_cast<double>(trials));
  state.counters["kills_per_second"] =
      benchmark::Counter(static_cast<double>(kills), benchmark::Counter::kIsRate);
}

/// The same threads on a device without defects: whatever dies here is the harness's.
void clean(benchmark::State& state, Perturb perturb) {
  std::vector<Mutant> mutants = all_mutants();
  for (Mutant& mutant : mutants) mutant.profile.defects.clear();
  uint64_t kills = 0;
  uint64_t trials = 0;
  for (auto _ : state) {
    for (const Mutant& mutant : mutants) kills += killed(mutant, perturb, trials++) ? 1 : 0;
  }
  state.counters["kills"] = benchmark::Counter(static_cast<double>(kills));
  state.counters["trials"] = benchmark::Counter(static_cast<double>(trials));
}

/// Each mutant until it is killed, for 64 seconds at most.
void found_in_64_s(benchmark::State& state, Perturb perturb) {
  const std::vector<Mutant> mutants = all_mutants();
  size_t found = 0;
  for (auto _ : state) {
    found = 0;
    for (const Mutant& mutant : mutants) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(64);
      bool dead = false;
      for (uint64_t seed = 0; !dead && std::chrono::steady_clock::now() < end; ++seed) {
        dead = killed(mutant, perturb, seed);
      }
      found += dead ? 1 : 0;
    }
  }
  state.counters["found"] = benchmark::Counter(static_cast<double>(found));
  state.counters["planted"] = benchmark::Counter(static_cast<double>(mutants.size()));
}

/// The race of the profile narrow, two threads, one iteration.
void rare_race(benchmark::State& state, Perturb perturb) {
  Mutant mutant = mutants_of("narrow").at(0);
  mutant.cell.iterations = 1;
  uint64_t kills = 0;
  uint64_t trials = 0;
  for (auto _ : state) kills += killed(mutant, perturb, trials++) ? 1 : 0;
  state.counters["kills"] = benchmark::Counter(static_cast<double>(kills));
  state.counters["trials"] = benchmark::Counter(static_cast<double>(trials));
  state.counters["kills_per_second"] =
      benchmark::Counter(static_cast<double>(kills), benchmark::Counter::kIsRate);
}

[[maybe_unused]] const bool registered = [] {
  const std::pair<const char*, Perturb> kKinds[] = {{"none", Perturb::none},
                                                    {"clock", Perturb::clock},
                                                    {"starve", Perturb::starve},
                                                    {"trap", Perturb::trap}};
  for (const auto& kind : kKinds) {
    const Perturb perturb = kind.second;
    const std::string name = kind.first;
    benchmark::RegisterBenchmark(("rare_race/" + name).c_str(),
                                 [=](benchmark::State& state) { rare_race(state, perturb); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Iterations(2000);
    benchmark::RegisterBenchmark(("score/" + name).c_str(),
                                 [=](benchmark::State& state) { score(state, perturb); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Iterations(3);
    benchmark::RegisterBenchmark(("clean/" + name).c_str(),
                                 [=](benchmark::State& state) { clean(state, perturb); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Iterations(3);
    benchmark::RegisterBenchmark(("found_in_64_s/" + name).c_str(),
                                 [=](benchmark::State& state) { found_in_64_s(state, perturb); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Iterations(1);
  }
  return true;
}();

}  // namespace
}  // namespace mpsprobe::sim

BENCHMARK_MAIN();

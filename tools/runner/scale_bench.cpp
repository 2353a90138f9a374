// What a million trials, or a million cells, cost mpsprobe in time and memory. The journals are
// written by the campaign itself, as `run` writes them, with trials that are made up; then the
// program is run on them, and the system says what that took.
//   scale_bench                                the mpsprobe beside it, some minutes and 8 GB in
//                                              $TMPDIR; a disk pays for each trial's fdatasync
//   scale_bench --benchmark_filter=/100000/    a tenth of the trials
//   scale_bench --benchmark_filter=feedback    a bundle of 10,000 trials
// Counters: cpu_s (which a busy machine does not change) and peak_MB of the process, journal_MB.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "harness/campaign/campaign.h"
#include "harness/campaign/shard.h"
#include "harness/executor/environment.h"
#include "harness/platform/executable.h"
#include "harness/process/spawn.h"
#include "reports/sample_journal.h"

namespace {

using namespace mpsprobe;
namespace fs = std::filesystem;

constexpr int kGroups = 100;  ///< boundaries
constexpr int kThreads = 10;
constexpr size_t kShards = 64;

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
  double peak_mb = 0;
  int status = 0;  ///< as of wait(2)
};

double mb_of_kb(long kilobytes) {
  return static_cast<double>(kilobytes) * 1024 / 1e6;
}

/// Waits for a child; what it used, and it alone.
Cost cost_of(pid_t child, std::chrono::steady_clock::time_point start) {
  Cost cost;
  rusage usage{};
  if (wait4(child, &cost.status, 0, &usage) != child) throw std::runtime_error("wait4");
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const timeval& used : {usage.ru_utime, usage.ru_stime}) {
    cost.cpu_seconds += static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_usec) * 1e-6;
  }
  cost.peak_mb = mb_of_kb(usage.ru_maxrss);
  return cost;
}

/// Runs mpsprobe in `folder`; where `interrupt` is a file, as one who presses Ctrl-C a second after
/// it is there. Its seconds count from then.
Cost run(const fs::path& folder, const std::vector<std::string>& words,
         const fs::path& interrupt = {}) {
  std::vector<std::string> command{(executable_path().parent_path() / "mpsprobe").string()};
  command.insert(command.end(), words.begin(), words.end());
  auto start = std::chrono::steady_clock::now();
  const Descriptor file(open((folder / "said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644));
  const Descriptor said(fcntl(file.get(), F_DUPFD_CLOEXEC, 16));  // above what the child uses
  const SpawnResult child = spawn({command,
                                   inherited_environment(),
                                   {{said.get(), STDOUT_FILENO}, {said.get(), STDERR_FILENO}}});
  if (child.error != 0) throw std::runtime_error("mpsprobe cannot be started: build it first");
  if (!interrupt.empty()) {
    for (int i = 0; i < 6000 && !fs::exists(interrupt); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
    start = std::chrono::steady_clock::now();
    kill(child.pid, SIGINT);
  }
  return cost_of(child.pid, start);
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("mpsprobe-scale-{}", getpid())) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

CampaignHeader planned(int64_t trials) {
  SampleJournal sample;
  for (int group = 1; group <= kGroups; ++group) {
    for (int threads = 1; threads <= kThreads; ++threads) {
      sample.plan(fmt::format("sim/linear/graph/threads={}/iterations={}", threads, group));
    }
  }
  CampaignHeader header = sample.journal.header;
  header.trials = static_cast<int>(trials / (kGroups * kThreads));
  return header;
}

/// Runs the plan as `run` does, with trials that take no time: of the cells with most threads a
/// quarter fails.
void write_run(const fs::path& folder, const CampaignHeader& header) {
  fs::create_directories(folder);
  const std::atomic<bool> interrupted = false;
  JournalWriter journal(folder / "journal.ndjson", header);
  const auto run_trial = [](const TrialRequest& request) {
    SampleJournal sample;
    sample.provenance = sample.journal.provenances.begin()->second.dump();
    sample.plan(to_string(request.cell));
    const bool fails = request.cell.threads > kThreads * 7 / 10 && request.trial % 4 == 0;
    sample.ran(1, fails ? 1 : 0);
    TrialRecord trial = sample.last();
    const uint64_t ms = request.sequence * 20;
    trial.trial = request.trial;
    trial.sequence = request.sequence;
    trial.before = request.before;
    trial.started = fmt::format("2026-01-{:02}T{:02}:{:02}:{:02}.{:03}Z", 1 + ms / 86'400'000,
                                ms / 3'600'000 % 24, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
    return trial;
  };
  Campaign(
      header, {}, journal, run_trial, [](const TrialRecord&, const Progress&) {},
      KnownGoodPolicy::never, interrupted)
      .run();
}

/// The same in a process of its own: what the runner itself takes for so many trials.
Cost write_run_apart(const fs::path& folder, const CampaignHeader& header) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    write_run(folder, header);
    _exit(0);
  }
  return cost_of(child, start);
}

void print(benchmark::State& state, const Cost& cost, int wanted_exit_code = 0) {
  state.SetIterationTime(cost.seconds);
  state.counters["cpu_s"] = cost.cpu_seconds;
  state.counters["peak_MB"] = cost.peak_mb;
  if (!WIFEXITED(cost.status) || WEXITSTATUS(cost.status) != wanted_exit_code) {
    state.SkipWithError(fmt::format("ended with the status {:#x}", cost.status).c_str());
  }
}

void campaign_of(benchmark::State& state) {
  for (auto each : state) {
    const Folder folder;
    print(state, write_run_apart(folder.path() / "run", planned(state.range(0))));
  }
}

void report_of(benchmark::State& state, const std::vector<std::string>& words) {
  for (auto each : state) {
    const Folder folder;
    write_run_apart(folder.path() / "run", planned(state.range(0)));
    std::vector<std::string> command = words;
    command.push_back((folder.path() / "run").string());
    print(state, run(folder.path(), command));
    state.counters["journal_MB"] =
        static_cast<double>(fs::file_size(folder.path() / "run" / "journal.ndjson")) / 1e6;
  }
}

void merge_of(benchmark::State& state) {
  for (auto each : state) {
    const Folder folder;
    for (size_t shard = 0; shard < kShards; ++shard) {
      CampaignHeader header = planned(state.range(0));
      keep_shard(header, {shard, kShards});
      write_run(folder.path() / "shards" / std::to_string(shard + 1), header);
    }
    print(state, run(folder.path(), {"merge", (folder.path() / "shards").string(), "--out",
                                     (folder.path() / "merged").string()}));
  }
}

std::string million_cells(const Folder& folder) {
  const fs::path file = folder.path() / "matrix.json";
  std::ofstream(file) << R"({"mpsprobe_matrix":1,"name":"million","blocks":[{"title":"all",)"
                      << R"("axes":{"backend":["cpu"],"op":["selftest.pass"],)"
                      << R"("threads":["1-250"],"iterations":["1-4000"]}}]})";
  return file.string();
}

std::vector<std::string> run_words(const Folder& folder) {
  const fs::path worker = executable_path().parent_path() / "mpsprobe-selftest-worker";
  return {"run", "--matrix", million_cells(folder), "--worker", "stock=" + worker.string()};
}

void list_cells(benchmark::State& state) {
  for (auto each : state) {
    const Folder folder;
    std::vector<std::string> words = run_words(folder);
    words.emplace_back("--dry-run");
    print(state, run(folder.path(), words));
  }
}

void interrupted_after_a_second(benchmark::State& state) {
  for (auto each : state) {
    const Folder folder;
    std::vector<std::string> words = run_words(folder);
    const fs::path out = folder.path() / "run";
    words.insert(words.end(), {"--out", out.string()});
    print(state, run(folder.path(), words, out / "journal.ndjson"), 130);
  }
}

template <typename Made>
Made* once(Made* made) {
  return made->Iterations(1)->UseManualTime()->Unit(benchmark::kSecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const int64_t trials : {100'000, 1'000'000}) {
    once(benchmark::RegisterBenchmark("campaign", campaign_of))->Arg(trials);
    once(benchmark::RegisterBenchmark("report", report_of, std::vector<std::string>{"report"}))
        ->Arg(trials);
    once(benchmark::RegisterBenchmark("show", report_of, std::vector<std::string>{"show"}))
        ->Arg(trials);
    once(benchmark::RegisterBenchmark("merge_64_shards", merge_of))->Arg(trials);
  }
  once(benchmark::RegisterBenchmark("feedback", report_of,
                                    std::vector<std::string>{"feedback", "--allow-simulated"}))
      ->Arg(10'000);
  once(benchmark::RegisterBenchmark("list_a_million_cells", list_cells));
  once(benchmark::RegisterBenchmark("a_million_cells_interrupted", interrupted_after_a_second));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

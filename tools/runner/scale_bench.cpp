// What a million trials, or a million cells, cost mpsprobe in time and memory. The journals are
// written by the campaign itself, as `run` writes them, with trials that are made up; then the
// program is run on them, and the system says what that took.
//   scale_bench                                the mpsprobe beside it, some minutes and 8 GB in
//                                              $TMPDIR; a disk pays for each trial's fdatasync
//   scale_bench WORD...                        what has one of these words in its name: "/100000",
//                                              a tenth of the trials; "feedback", a bundle of
//                                              10,000
// Each line: seconds, seconds of the processor (which a busy machine does not change), peak memory
// of the process, the journal's size.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
#include "harness/input/json_text.h"
#include "harness/process/spawn.h"
#include "harness/provenance/executable.h"
#include "reports/sample_journal_for_tests.h"

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
  std::vector<std::string> command{(own_executable().parent_path() / "mpsprobe").string()};
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
    sample.provenance = json_text(sample.journal.provenances.begin()->second);
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
  run_campaign(
      journal.existing(), journal, DeviceCare(run_trial, KnownGoodPolicy::never, interrupted),
      [](const TrialRecord&, const Progress&) {}, interrupted);
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

/// One line of the table; a program that ended otherwise is an error.
void print(const std::string& name, const Cost& cost, const fs::path& run = {},
           int wanted_exit_code = 0) {
  std::error_code error;
  const uintmax_t journal = fs::file_size(run / "journal.ndjson", error);
  fmt::print("{:32} {:8.2f} s {:8.2f} s {:8.0f} MB {:8.0f} MB\n", name, cost.seconds,
             cost.cpu_seconds, cost.peak_mb, error ? 0 : static_cast<double>(journal) / 1e6);
  if (!WIFEXITED(cost.status) || WEXITSTATUS(cost.status) != wanted_exit_code) {
    throw std::runtime_error(fmt::format("{} ended with the status {:#x}", name, cost.status));
  }
}

void campaign_of(const std::string& name, int64_t trials) {
  const Folder folder;
  print(name, write_run_apart(folder.path() / "run", planned(trials)), folder.path() / "run");
}

void reading_of(const std::string& name, std::vector<std::string> command, int64_t trials) {
  const Folder folder;
  write_run_apart(folder.path() / "run", planned(trials));
  command.push_back((folder.path() / "run").string());
  print(name, run(folder.path(), command), folder.path() / "run");
}

void merge_of(const std::string& name, int64_t trials) {
  const Folder folder;
  for (size_t shard = 0; shard < kShards; ++shard) {
    CampaignHeader header = planned(trials);
    keep_shard(header, {shard, kShards});
    write_run(folder.path() / "shards" / std::to_string(shard + 1), header);
  }
  print(name, run(folder.path(), {"merge", (folder.path() / "shards").string(), "--out",
                                  (folder.path() / "merged").string()}));
}

/// The words that run a million cells.
std::vector<std::string> run_words(const Folder& folder) {
  const fs::path file = folder.path() / "matrix.json";
  std::ofstream(file) << R"({"mpsprobe_matrix":1,"name":"million","blocks":[{"title":"all",)"
                      << R"("axes":{"backend":["cpu"],"op":["selftest.pass"],)"
                      << R"("threads":["1-250"],"iterations":["1-4000"]}}]})";
  const fs::path worker = own_executable().parent_path() / "mpsprobe-selftest-worker";
  return {"run", "--matrix", file.string(), "--worker", "stock=" + worker.string()};
}

void list_cells(const std::string& name) {
  const Folder folder;
  std::vector<std::string> words = run_words(folder);
  words.emplace_back("--dry-run");
  print(name, run(folder.path(), words));
}

void interrupted_after_a_second(const std::string& name) {
  const Folder folder;
  std::vector<std::string> words = run_words(folder);
  const fs::path out = folder.path() / "run";
  words.insert(words.end(), {"--out", out.string()});
  print(name, run(folder.path(), words, out / "journal.ndjson"), out, 130);
}

}  // namespace

int main(int argc, char** argv) {
  const auto measure = [&](const std::string& name, const auto& each) {
    const bool asked = argc == 1 || std::any_of(argv + 1, argv + argc, [&](const char* word) {
                         return name.find(word) != std::string::npos;
                       });
    if (asked) each(name);
  };
  fmt::print("{:32} {:>10} {:>10} {:>11} {:>11}\n", "", "time", "processor", "peak", "journal");
  for (const int64_t trials : {100'000, 1'000'000}) {
    const std::string of = fmt::format("/{}", trials);
    measure("campaign" + of, [&](const auto& name) { campaign_of(name, trials); });
    for (const char* command : {"report", "show"}) {
      measure(command + of, [&](const auto& name) { reading_of(name, {command}, trials); });
    }
    measure("merge_64_shards" + of, [&](const auto& name) { merge_of(name, trials); });
  }
  measure("feedback/10000", [](const auto& name) {
    reading_of(name, {"feedback", "--allow-simulated"}, 10'000);
  });
  measure("list_a_million_cells", list_cells);
  measure("a_million_cells_interrupted", interrupted_after_a_second);
  return 0;
}

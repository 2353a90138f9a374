// The default matrix on the simulated device, in two ways on this machine, one after the other: ten
// trials a cell whose processes are executed, and settled at 5% with processes that are forked. An
// error where the tables differ: for each boundary, the most threads or processes that never failed
// and the fewest that did.
//   table_bench        the mpsprobe beside it, some minutes
// Counters: trials, times_shorter (of the second: how often it goes into the first).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/executor/environment.h"
#include "harness/platform/executable.h"
#include "harness/process/command.h"

namespace {

using namespace mpsprobe;
namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kLongest = 3600;

/// Of each boundary, what the report's table shows; null where there is none.
using Table = std::map<std::string, std::pair<json, json>>;

struct Result {
  Table table;
  int trials = 0;
  double seconds = 0;
};

json count_of(const json& point) {
  return point.is_null() ? json() : point.at("count");
}

Result run_default(const std::vector<std::string>& how) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("mpsprobe-table-{}", getpid());
  std::vector<std::string> command{(executable_path().parent_path() / "mpsprobe").string(),
                                   "run",
                                   "--matrix",
                                   "default",
                                   "--backend",
                                   "sim",
                                   "--fail-on",
                                   "never",
                                   "--out",
                                   folder.string()};
  command.insert(command.end(), how.begin(), how.end());
  const auto start = std::chrono::steady_clock::now();
  const CommandResult ended = run_command(command, kLongest, inherited_environment());
  Result result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (ended.termination != Termination(Exited{0})) {
    fs::remove_all(folder);
    throw std::runtime_error("mpsprobe run failed: " + ended.err);
  }
  std::ifstream file(folder / "report.json");
  const json report = json::parse(file);
  result.trials = report.at("counted");
  for (const json& boundary : report.at("boundaries")) {
    const std::string name =
        boundary.at("group").get<std::string>() + " by " + boundary.at("axis").get<std::string>();
    result.table[name] = {count_of(boundary.at("most_passing")),
                          count_of(boundary.at("fewest_failing"))};
  }
  fs::remove_all(folder);
  return result;
}

Result fixed;  ///< of the benchmark that runs first

void show(benchmark::State& state, const Result& result) {
  state.SetIterationTime(result.seconds);
  state.counters["trials"] = result.trials;
  state.counters["boundaries"] = static_cast<double>(result.table.size());
}

void ten_trials_executed(benchmark::State& state) {
  for (auto each : state) {
    fixed = run_default({"--trials", "10", "--start-process", "exec"});
    show(state, fixed);
  }
}

void settled_forked(benchmark::State& state) {
  for (auto each : state) {
    const Result settled = run_default({"--settle", "5%", "--start-process", "fork"});
    show(state, settled);
    if (fixed.table.empty()) continue;  // the other was filtered out
    state.counters["times_shorter"] = fixed.seconds / settled.seconds;
    if (settled.table != fixed.table) state.SkipWithError("the table is another");
  }
}

BENCHMARK(ten_trials_executed)->Iterations(1)->UseManualTime()->Unit(benchmark::kSecond);
BENCHMARK(settled_forked)->Iterations(1)->UseManualTime()->Unit(benchmark::kSecond);

}  // namespace

BENCHMARK_MAIN();

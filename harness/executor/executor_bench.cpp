// What the runner adds to a trial: the executor against a bare spawn-and-wait of the same worker
// with the same work, in turn, in one run. The counter `ratio` is the figure to look at.
//   executor_bench [--benchmark_...] with MPSPROBE_BENCH_WORKER naming another worker than the
//   mpsprobe-worker beside it, MPSPROBE_BENCH_CELL another cell than cpu/mm/default/threads=2.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/executor/environment.h"
#include "harness/executor/executor.h"
#include "harness/platform/executable.h"
#include "harness/process/command.h"
#include "harness/wire/shared_memory.h"

namespace {

using namespace mpsprobe;
using Clock = std::chrono::steady_clock;

std::string from_environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The least that running a worker takes: no capture, no limits, no judgement.
double bare(const std::string& worker, const Cell& cell) {
  const Clock::time_point start = Clock::now();
  const SharedMemory memory = SharedMemory::create(sizeof(recorder_layout::Block));
  FlightRecorder::initialise(static_cast<recorder_layout::Block*>(memory.data()));
  const Descriptor recorder(fcntl(memory.fd(), F_DUPFD_CLOEXEC, 16));
  const Descriptor null(fcntl(open("/dev/null", O_RDWR | O_CLOEXEC), F_DUPFD_CLOEXEC, 16));
  const Pipe gate = make_pipe();
  const char open_gate = 1;
  if (write(gate.write.get(), &open_gate, 1) != 1) std::abort();
  const SpawnResult spawned = spawn({{worker, "run", "--cell", to_string(cell), "--seed", "1"},
                                     worker_environment(cell, inherited_environment(), {}),
                                     {{null.get(), STDOUT_FILENO},
                                      {null.get(), STDERR_FILENO},
                                      {recorder.get(), kRecorderFd},
                                      {null.get(), kEventsFd},
                                      {gate.read.get(), kGateFd}}});
  int status = 0;
  if (spawned.error != 0 || waitpid(spawned.pid, &status, 0) < 0 || status != 0) std::abort();
  return seconds_since(start);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void trial(benchmark::State& state) {
  WorkerInfo worker;
  worker.name = "stock";
  worker.path = from_environment(
      "MPSPROBE_BENCH_WORKER",
      (executable_path().parent_path().parent_path() / "bin" / "mpsprobe-worker").string());
  worker.describe = nlohmann::json::parse(
      run_command({worker.path, "describe"}, 60, inherited_environment()).out);
  const Cell cell = parse_cell(from_environment("MPSPROBE_BENCH_CELL", "cpu/mm/default/threads=2"));
  const std::atomic<bool> interrupted{false};
  const Executor executor(ChildLimits{}, {}, interrupted, nullptr, StartProcess::exec);
  TrialRequest request;
  request.worker = &worker;
  request.cell = cell;
  request.seed = 1;
  std::vector<double> with_runner;
  std::vector<double> without;
  for (auto _ : state) {
    without.push_back(bare(worker.path, cell));
    const Clock::time_point start = Clock::now();
    const TrialRecord record = executor.run(request);
    with_runner.push_back(seconds_since(start));
    state.SetIterationTime(with_runner.back());
    if (record.judgement.outcome != Outcome::pass) state.SkipWithError("the trial did not pass");
  }
  state.counters["bare_ms"] = median(without) * 1e3;
  state.counters["runner_ms"] = median(with_runner) * 1e3;
  state.counters["ratio"] = median(with_runner) / median(without);
}

}  // namespace

BENCHMARK(trial)->UseManualTime()->Iterations(40)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();

// How quickly trials follow one another, by how their processes are started.
//   start_bench [--benchmark_...] with MPSPROBE_BENCH_WORKER naming another worker than the
//   mpsprobe-worker beside it, MPSPROBE_BENCH_CELL another cell than cpu/selftest.pass/default.
// `trials/exec`, `/standby`, `/fork`: the trivial trial, one after the other; items_per_second are
// trials a second. `gap`: trials that take longer than a library to load; `ready_ms` is the time
// from the moment at which the runner turns to a trial until its process is ready to run it.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/executor/environment.h"
#include "harness/executor/executor.h"
#include "harness/platform/executable.h"
#include "harness/process/command.h"

namespace {

using namespace mpsprobe;

std::string chosen(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

WorkerInfo bench_worker() {
  WorkerInfo worker;
  worker.name = "stock";
  worker.path =
      chosen("MPSPROBE_BENCH_WORKER",
             (executable_path().parent_path().parent_path() / "bin" / "mpsprobe-worker").string());
  worker.describe = nlohmann::json::parse(
      run_command({worker.path, "describe"}, 60, inherited_environment()).out);
  return worker;
}

TrialRequest trivial(const WorkerInfo& worker) {
  TrialRequest request;
  request.worker = &worker;
  request.cell = parse_cell(chosen("MPSPROBE_BENCH_CELL", "cpu/selftest.pass/default/threads=1"));
  request.seed = 1;
  return request;
}

void trials(benchmark::State& state, StartProcess start) {
  const WorkerInfo worker = bench_worker();
  const std::atomic<bool> interrupted{false};
  const Executor executor(ChildLimits{}, {}, interrupted, nullptr, start);
  const TrialRequest request = trivial(worker);
  executor.run(request);  // a server loads its library once
  double in_that_way = 0;
  for (auto _ : state) {
    const TrialRecord record = executor.run(request);
    if (record.judgement.outcome != Outcome::pass) state.SkipWithError("the trial did not pass");
    in_that_way += record.processes.front().start == start ? 1 : 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["in_that_way"] = in_that_way / static_cast<double>(state.iterations());
}

void gap(benchmark::State& state, StartProcess start) {
  const WorkerInfo worker = bench_worker();
  const std::atomic<bool> interrupted{false};
  const Executor executor(ChildLimits{}, {}, interrupted, nullptr, start);
  TrialRequest longer = trivial(worker);
  longer.cell = parse_cell("cpu/selftest.slow/default/threads=1/iterations=3");
  std::vector<double> gaps;
  executor.run(longer);
  for (auto _ : state) {
    const TrialRecord record = executor.run(longer);
    if (record.judgement.outcome != Outcome::pass) state.SkipWithError("the trial did not pass");
    gaps.push_back(record.processes.front().ready_seconds * 1e3);
  }
  std::sort(gaps.begin(), gaps.end());
  state.counters["ready_ms_median"] = gaps[gaps.size() / 2];
  state.counters["ready_ms_most"] = gaps.back();
}

}  // namespace

BENCHMARK_CAPTURE(trials, exec, StartProcess::exec)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(trials, standby, StartProcess::standby)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(trials, fork, StartProcess::fork)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(gap, exec, StartProcess::exec)
    ->Iterations(20)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gap, standby, StartProcess::standby)
    ->Iterations(20)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gap, fork, StartProcess::fork)
    ->Iterations(20)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();

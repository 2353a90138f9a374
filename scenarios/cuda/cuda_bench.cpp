// What mpsprobe adds on a real GPU, as ratios of medians taken in turn in one run.
//   throughput/threads=T  a cell's operations per second against the same loop in a bare program:
//                         eager at::linear, a stream for each thread, synchronised each time.
//                         `lanes` is without the flight recorder, `cell` is all that a worker does.
//   startup               one trial from spawn to judgement against a bare LibTorch program that
//                         does the same once; mpsprobe-worker lies beside this program.
#include <ATen/Parallel.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/executor/environment.h"
#include "harness/executor/executor.h"
#include "harness/platform/executable.h"
#include "harness/process/command.h"
#include "harness/wire/flight_recorder.h"
#include "harness/wire/shared_memory.h"
#include "scenarios/backends/backend.h"
#include "scenarios/operations/torch_workload.h"
#include "scenarios/threads/threads.h"

namespace {

using namespace mpsprobe;
using Clock = std::chrono::steady_clock;

constexpr int kLaunches = 2000;  // of each thread
constexpr int kRounds = 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Runs `body` in so many threads, which start together; seconds from the start to the last join.
template <typename Body>
double in_threads(int threads, const Body& body) {
  std::atomic<int> missing{threads};
  std::vector<std::thread> running;
  const Clock::time_point start = Clock::now();
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] { body(thread, missing); });
  }
  for (std::thread& thread : running) thread.join();
  return seconds_since(start);
}

void meet(std::atomic<int>& missing) {
  missing.fetch_sub(1);
  while (missing.load() > 0) std::this_thread::yield();
}

struct BareModel {
  at::TensorOptions options = at::TensorOptions().device(at::kCUDA);
  at::Tensor weight = at::randn({64, 64}, options);
  at::Tensor bias = at::randn({64}, options);
};

/// The loop as somebody would write it who has never heard of mpsprobe; it keeps its results too.
double bare_loop(const BareModel& model, int threads) {
  std::vector<at::Tensor> inputs;
  for (int thread = 0; thread < threads; ++thread) {
    inputs.push_back(at::randn({8, 64}, model.options));
  }
  c10::cuda::device_synchronize();
  return in_threads(threads, [&](int thread, std::atomic<int>& missing) {
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
    std::vector<at::Tensor> results;
    meet(missing);
    for (int i = 0; i < kLaunches; ++i) {
      results.push_back(at::linear(inputs[static_cast<size_t>(thread)], model.weight, model.bias));
      c10::cuda::getCurrentCUDAStream().synchronize();
    }
  });
}

Cell cell_of(int threads, int iterations) {
  Cell cell;
  cell.backend = Backend::cuda;
  cell.op = "linear";
  cell.path = Path::nograph;
  cell.threads = threads;
  cell.iterations = iterations;
  cell.stream = StreamUse::per_thread;
  return cell;
}

std::vector<std::unique_ptr<Lane>> lanes_of(TorchWorkload& workload, int threads) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int thread = 0; thread < threads; ++thread) lanes.push_back(workload.make_lane(thread));
  workload.settle();
  return lanes;
}

double lanes_alone(TorchWorkload& workload, int threads) {
  const auto lanes = lanes_of(workload, threads);
  return in_threads(threads, [&](int thread, std::atomic<int>& missing) {
    Lane& lane = *lanes[static_cast<size_t>(thread)];
    lane.enter();
    meet(missing);
    for (int i = 0; i < kLaunches; ++i) {
      lane.launch(i);
      lane.synchronise();
    }
  });
}

double whole_cell(const Cell& cell, TorchWorkload& workload, FlightRecorder& recorder) {
  auto lanes = lanes_of(workload, cell.threads);
  bool failed = false;
  const RunTally tally = run_threads(cell, cell.iterations, workload, lanes, recorder,
                                     [&](const FailureEvent&) { failed = true; });
  if (failed) std::abort();
  return tally.seconds;
}

void throughput(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  const Cell cell = cell_of(threads, kLaunches);
  TorchWorkload workload(*find_operation("linear"), cell, 1, open_device(cell));
  workload.touch_device();
  const SharedMemory memory = SharedMemory::create(sizeof(recorder_layout::Block));
  FlightRecorder::initialise(static_cast<recorder_layout::Block*>(memory.data()));
  FlightRecorder recorder(static_cast<recorder_layout::Block*>(memory.data()));
  const BareModel model;
  std::vector<double> bare;
  std::vector<double> lanes;
  std::vector<double> whole;
  bare_loop(model, threads);  // handles, workspaces and kernels of all
  for (auto _ : state) {
    bare.push_back(bare_loop(model, threads));
    lanes.push_back(lanes_alone(workload, threads));
    whole.push_back(whole_cell(cell, workload, recorder));
    state.SetIterationTime(whole.back());
  }
  const double operations = static_cast<double>(kLaunches) * threads;
  state.counters["bare_per_s"] = operations / median(bare);
  state.counters["cell_per_s"] = operations / median(whole);
  state.counters["lanes_to_bare"] = median(bare) / median(lanes);
  state.counters["cell_to_bare"] = median(bare) / median(whole);
}

void startup(benchmark::State& state) {
  const std::string self = executable_path().string();
  WorkerInfo worker;
  worker.name = "stock";
  worker.path = (executable_path().parent_path() / "mpsprobe-worker").string();
  worker.describe = nlohmann::json::parse(
      run_command({worker.path, "describe"}, 60, inherited_environment()).out);
  const std::atomic<bool> interrupted{false};
  const Executor executor(ChildLimits{}, {}, interrupted);
  TrialRequest request;
  request.worker = &worker;
  request.cell = cell_of(1, 1);
  request.seed = 1;
  std::vector<double> bare;
  std::vector<double> trial;
  for (auto _ : state) {
    Clock::time_point start = Clock::now();
    run_command({self, "--bare"}, 60, inherited_environment());
    bare.push_back(seconds_since(start));
    start = Clock::now();
    const TrialRecord record = executor.run(request);
    trial.push_back(seconds_since(start));
    state.SetIterationTime(trial.back());
    if (record.judgement.outcome != Outcome::pass) state.SkipWithError("the trial did not pass");
  }
  state.counters["bare_ms"] = median(bare) * 1e3;
  state.counters["trial_ms"] = median(trial) * 1e3;
  state.counters["trial_to_bare"] = median(trial) / median(bare);
}

int bare_program() {
  const BareModel model;
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
  const at::Tensor result = at::linear(at::randn({8, 64}, model.options), model.weight, model.bias);
  c10::cuda::getCurrentCUDAStream().synchronize();
  return result.cpu().isfinite().all().item<bool>() ? 0 : 1;
}

}  // namespace

BENCHMARK(throughput)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(4)
    ->UseManualTime()
    ->Iterations(kRounds)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(startup)->UseManualTime()->Iterations(kRounds)->Unit(benchmark::kMillisecond);

int main(int argc, char** argv) {
  at::set_num_threads(1);
  if (argc == 2 && std::string_view(argv[1]) == "--bare") return bare_program();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

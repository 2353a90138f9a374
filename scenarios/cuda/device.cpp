#include "scenarios/cuda/device.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "scenarios/cuda/nvml.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

// LibTorch's pool of streams of one priority (c10/cuda/CUDAStream.h). It hands them out in turn, so
// that one more thread would share a stream with another.
constexpr int kPoolStreams = 32;

cudaStreamCaptureMode mode_of(CaptureMode mode) {
  switch (mode) {
    case CaptureMode::global:
      return cudaStreamCaptureModeGlobal;
    case CaptureMode::thread_local_:
      return cudaStreamCaptureModeThreadLocal;
    case CaptureMode::relaxed:
      return cudaStreamCaptureModeRelaxed;
  }
  return cudaStreamCaptureModeGlobal;
}

// Graphs that this thread has replayed and not yet waited for: they hold what the device executes.
std::vector<std::unique_ptr<at::cuda::CUDAGraph>>& in_flight() {
  thread_local std::vector<std::unique_ptr<at::cuda::CUDAGraph>> graphs;
  return graphs;
}

// As Python's `with torch.cuda.graph(...)` leaves a block that threw: the capture is ended whatever
// comes of it, and the first error is the one that counts.
void end_failed_capture(at::cuda::CUDAGraph& graph) {
  try {
    graph.capture_end();
  } catch (const std::exception&) {
  }
}

// "13.0" from CUDA's 13000.
std::string release(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

CudaDevice::CudaDevice(const Cell& cell)
    : graph_(cell.path == Path::graph), mode_(mode_of(cell.capture)) {
  if (cell.stream == StreamUse::per_thread && cell.threads > kPoolStreams) {
    throw UnsupportedError(
        fmt::format("stream=per-thread: LibTorch's pool has {} streams and the cell has {} "
                    "threads. Use threads={} or fewer, or stream=default",
                    kPoolStreams, cell.threads, kPoolStreams));
  }
  if (graph_ && cell.threads > 1 && cell.stream != StreamUse::per_thread && !in_turn(cell)) {
    throw UnsupportedError(
        "path=graph: a stream is captured by one thread at a time. Use stream=per-thread");
  }
}

void CudaDevice::touch() {
  if (!at::hasCUDA()) {
    throw UnsupportedError("backend cuda: LibTorch finds no CUDA device here");
  }
  at::zeros({1}, at::TensorOptions().device(torch_device()));
  settle();
  C10_CUDA_CHECK(cudaStreamCreateWithFlags(&probe_stream_, cudaStreamNonBlocking));
  void* memory = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&memory, sizeof(int)));
  // With init=threads nothing is made here: the probe would be part of what is tested.
  probe_memory_.store(memory);
}

void CudaDevice::enter_thread(StreamUse use) {
  // A capture has to be on a stream other than CUDA's default one, also where the cell leaves the
  // choice to LibTorch.
  if (use == StreamUse::per_thread || graph_) {
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
  }
}

std::vector<at::Tensor> CudaDevice::launch(const std::function<std::vector<at::Tensor>()>& calls) {
  if (!graph_) {
    std::vector<at::Tensor> results = calls();
    ran_eagerly_.store(true, std::memory_order_relaxed);
    return results;
  }
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  graph->capture_begin({0, 0}, mode_);
  std::vector<at::Tensor> results;
  try {
    results = calls();
  } catch (...) {
    end_failed_capture(*graph);
    throw;
  }
  graph->capture_end();
  graph->replay();
  replayed_.store(true, std::memory_order_relaxed);
  in_flight().push_back(std::move(graph));
  return results;
}

void CudaDevice::synchronise() {
  c10::cuda::getCurrentCUDAStream().synchronize();
  in_flight().clear();
}

void CudaDevice::settle() {
  c10::cuda::device_synchronize();
}

at::Tensor CudaDevice::upload(const at::Tensor& tensor) {
  at::Tensor uploaded = tensor.to(torch_device());
  c10::cuda::getCurrentCUDAStream().synchronize();
  return uploaded;
}

std::string CudaDevice::observed_path(std::string_view) {
  const bool replayed = replayed_.load();
  const bool ran_eagerly = ran_eagerly_.load();
  if (replayed == ran_eagerly) {
    return std::string(kNotObserved);
  }
  return replayed ? "graph" : "nograph";
}

Probe CudaDevice::probe(const std::function<void()>& submitted) {
  void* const memory = probe_memory_.load();
  if (memory == nullptr) {
    return Probe::impossible;
  }
  // Whatever other threads capture must neither refuse these calls nor be ended by them.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  if (cudaMemsetAsync(memory, 0, sizeof(int), probe_stream_) != cudaSuccess) {
    return Probe::failed;
  }
  submitted();
  return cudaStreamSynchronize(probe_stream_) == cudaSuccess ? Probe::completed : Probe::failed;
}

nlohmann::json CudaDevice::description() const {
  const NvidiaSystem system = nvidia_system();
  nlohmann::json described = {
      {"backend", "cuda"},
      {"simulated", false},
      {"device", system.gpus.empty() ? "NVIDIA GPU" : system.gpus_in_words()},
      {"driver", system.driver},
  };
  // None of these makes a context.
  int runtime = 0;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) {
    described["cuda_runtime"] = release(runtime);
  }
  if (at::detail::getCUDAHooks().compiledWithCuDNN()) {
    described["cudnn"] = at::detail::getCUDAHooks().versionCuDNN();
  }
  return described;
}

}  // namespace mpsprobe

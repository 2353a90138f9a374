#pragma once

#include <c10/cuda/CUDAStream.h>

#include <atomic>
#include <nlohmann/json_fwd.hpp>

#include "scenarios/backends/backend.h"

namespace mpsprobe {

/// The first NVIDIA GPU that CUDA shows, through LibTorch.
///
/// `path` graph captures each launch into a CUDA graph of its own and replays it once, as
/// torch.cuda.graph does: with LibTorch's at::cuda::CUDAGraph, in a memory pool of its own, on a
/// stream that no other thread uses, after the same calls were made there once without a capture
/// (Lane::enter). LibTorch's documentation permits one capture at a time in a process; what happens
/// where that is not kept, and in which capture mode, is what these cells show.
class CudaDevice : public Device {
 public:
  /// Throws UnsupportedError where the cell asks for more than CUDA or LibTorch permit.
  explicit CudaDevice(const Cell& cell);

  at::Device torch_device() const override { return {at::kCUDA, 0}; }
  void touch() override;
  void enter_thread(StreamUse use) override;
  PathChoice path_choice() const override { return PathChoice::capture; }
  std::vector<at::Tensor> launch(const std::function<std::vector<at::Tensor>()>& calls) override;
  void synchronise() override;
  void settle() override;
  at::Tensor upload(const at::Tensor& tensor) override;
  std::string observed_path(std::string_view aten_name) override;
  Probe probe(const std::function<void()>& submitted) override;
  nlohmann::json description() const override;

 private:
  const bool graph_;
  const cudaStreamCaptureMode mode_;
  std::atomic<bool> replayed_{false};  // a captured graph was replayed
  std::atomic<bool> ran_eagerly_{false};
  // Made when the device is touched, for the probe alone: a process that hangs may hold what making
  // them takes.
  std::atomic<void*> probe_memory_{nullptr};
  cudaStream_t probe_stream_ = nullptr;
};

}  // namespace mpsprobe

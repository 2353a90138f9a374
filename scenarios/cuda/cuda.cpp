#include "scenarios/cuda/cuda.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>

#include "scenarios/cuda/device.h"

const char* mpsprobe_cuda_build() {
  static const std::string build = mpsprobe::cuda_build();
  return build.c_str();
}

mpsprobe::Device* mpsprobe_cuda_open(const mpsprobe::Cell& cell) {
  return new mpsprobe::CudaDevice(cell);
}

void mpsprobe_cuda_report(mpsprobe::BackendReport& report) {
  report.available = at::hasCUDA();
  if (!report.available) {
    report.reason = "LibTorch finds no CUDA device: CUDA needs an NVIDIA GPU and its driver";
    return;
  }
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  report.device = properties.name;
}

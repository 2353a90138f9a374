#include <nlohmann/json.hpp>

#include "scenarios/backends/each_backend.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

/// The reference device: it must never fail, so it proves that a cell and the harness are right.
class CpuDevice : public Device {
 public:
  at::Device torch_device() const override { return at::kCPU; }
  // A call on the CPU is complete when it returns, and threads have no streams.
  void touch() override {}
  void enter_thread(StreamUse) override {}
  void synchronise() override {}
  void settle() override {}
  at::Tensor upload(const at::Tensor& tensor) override { return tensor.clone(); }
  std::string observed_path(std::string_view) override { return std::string(kNotObserved); }
  nlohmann::json description() const override {
    return {{"backend", "cpu"}, {"simulated", false}, {"device", "CPU"}};
  }
};

}  // namespace

std::unique_ptr<Device> open_cpu(const Cell& cell) {
  if (cell.stream == StreamUse::per_thread) {
    throw UnsupportedError("stream=per-thread: the CPU has no streams. Use stream=default");
  }
  return std::make_unique<CpuDevice>();
}

BackendReport report_cpu() {
  return {.backend = Backend::cpu, .available = true, .device = "CPU"};
}

}  // namespace mpsprobe

#include <ATen/core/Tensor.h>
#include <ATen/ops/relu.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "scenarios/backends/other_worker.h"
#include "scenarios/selftest/selftest_program.h"
#include "scenarios/torch_program.h"
#include "scenarios/worker/run_worker.h"

namespace {

using namespace mpsprobe;

// Misbehaviours that happen inside LibTorch: what a stack must show of a library that carries the
// symbols of its exported functions alone.

// A tensor at an address where nothing is: LibTorch reads it in at::_ops::relu::call.
void crash_in_libtorch() {
  volatile uintptr_t address = 0x5c8;
  const uintptr_t nowhere = address;
  at::relu(*reinterpret_cast<const at::Tensor*>(nowhere));  // NOLINT(performance-no-int-to-ptr)
}

constexpr std::array kTorchMisbehaviours{
    Misbehaviour{"crash_in_libtorch", "LibTorch reads a tensor at an address where nothing is",
                 crash_in_libtorch},
};

/// LibTorch's operations, and the self-tests beside them: those show that the crash handler and the
/// runner tell the truth of a process that has LibTorch loaded.
class Program : public WorkerProgram {
 public:
  void begin() override { torch_->begin(); }
  nlohmann::json describe() override {
    nlohmann::json answer = torch_->describe();
    for (const nlohmann::json& operation : describe_selftest(kTorchMisbehaviours)) {
      answer.at("operations").push_back(operation);
    }
    return answer;
  }
  nlohmann::json provenance(const Cell& cell) override { return torch_->provenance(cell); }
  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    // Those that need no device; the others are operations of LibTorch's.
    const bool without_device = is_selftest(cell) && cell.backend == Backend::cpu;
    return without_device ? make_selftest(cell, kTorchMisbehaviours)
                          : torch_->make_workload(cell, seed);
  }

 private:
  std::unique_ptr<WorkerProgram> torch_ = make_torch_program();
};

}  // namespace

int main(int argc, char** argv) {
  become_other_worker(argc, argv);
  Program program;
  return run_worker(argc, argv, program);
}

#include <nlohmann/json.hpp>

#include "scenarios/backends/other_worker.h"
#include "scenarios/selftest/selftest_program.h"
#include "scenarios/selftest/torch_misbehaviour.h"
#include "scenarios/torch_program.h"
#include "scenarios/worker/run_worker.h"

namespace {

using namespace mpsprobe;

/// LibTorch's operations, and the self-tests beside them: those show that the crash handler and the
/// runner tell the truth of a process that has LibTorch loaded.
class Program : public WorkerProgram {
 public:
  void begin() override { torch_->begin(); }
  nlohmann::json describe() override {
    nlohmann::json answer = torch_->describe();
    for (const nlohmann::json& operation : describe_selftest(torch_misbehaviours())) {
      answer.at("operations").push_back(operation);
    }
    return answer;
  }
  nlohmann::json provenance(const Cell& cell) override { return torch_->provenance(cell); }
  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    // Those that need no device; the others are operations of LibTorch's.
    const bool without_device = is_selftest(cell) && cell.backend == Backend::cpu;
    return without_device ? make_selftest(cell, torch_misbehaviours())
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

// The backend sim where there is no LibTorch: the operations that Metal's backend has, on the
// simulated device, with the same defects.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "harness/wire/axis.h"
#include "harness/wire/honoured_axes.h"
#include "scenarios/provenance/one_backend_program.h"
#include "scenarios/provenance/profile_path.h"
#include "scenarios/sim/start.h"
#include "scenarios/sim/worker/sim_workload.h"
#include "scenarios/worker/run_worker.h"

namespace mpsprobe::sim {
namespace {

using mpsprobe::metal::MetalOperation;
using nlohmann::json;

/// Those that encode something: an empty command buffer is no operation of LibTorch's.
const std::vector<MetalOperation>& operations_of_sim() {
  static const std::vector<MetalOperation> encoding = [] {
    std::vector<MetalOperation> all(mpsprobe::metal::metal_operations().begin(),
                                    mpsprobe::metal::metal_operations().end());
    std::erase_if(all, [](const MetalOperation& each) { return each.name == "empty_commit"; });
    return all;
  }();
  return encoding;
}

class SimProgram : public OneBackendProgram {
 public:
  SimProgram() : OneBackendProgram(Backend::sim) {}

  json describe() override {
    json axes = loop_axes();
    for (const char* own : {"shape", "stream", "model", "profile"}) axes.push_back(own);
    json operations = json::array();
    for (const MetalOperation& operation : operations_of_sim()) {
      json entry = describe_operation(operation);
      entry["axes"] = axes;
      operations.push_back(std::move(entry));
    }
    return described(std::move(operations), {{"available", true},
                                             {"simulated", true},
                                             {"device", "simulated Metal device"},
                                             {"reason", ""},
                                             {"axes", axes}});
  }

  json provenance(const Cell& cell) override {
    require_backend(cell);
    start(cell);
    json result = process_provenance();
    result["device"] = json::parse(description_of(profile_));
    result["device"]["backend"] = name_of(Backend::sim);
    return result;
  }

  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    const MetalOperation& operation = operation_of(cell, std::span(operations_of_sim()));
    start(cell);
    return make_sim_workload(operation, cell, seed, *device_);
  }

 private:
  /// By whichever of provenance and make_workload comes first, and once.
  void start(const Cell& cell) {
    if (device_ != nullptr) return;
    profile_ = load_profile(profile_path(cell.profile));
    device_ = std::make_unique<SimulatedDevice>(profile_);
    say_simulated(profile_);
  }

  Profile profile_;
  std::unique_ptr<SimulatedDevice> device_;
};

}  // namespace
}  // namespace mpsprobe::sim

int main(int argc, char** argv) {
  mpsprobe::sim::SimProgram program;
  return mpsprobe::run_worker(argc, argv, program);
}

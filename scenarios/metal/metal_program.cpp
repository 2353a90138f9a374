#include "scenarios/metal/metal_program.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/wire/axis.h"
#include "scenarios/metal/apple_device.h"
#include "scenarios/metal/metal_workload.h"
#include "scenarios/metal/recipe.h"
#include "scenarios/provenance/one_backend_program.h"

namespace mpsprobe::metal {
namespace {

using nlohmann::json;

class MetalProgram : public OneBackendProgram {
 public:
  MetalProgram() : OneBackendProgram(Backend::metal) {}

  json describe() override {
    json operations = json::array();
    for (const MetalOperation& operation : metal_operations()) {
      operations.push_back(describe_operation(operation));
    }
    const DeviceReport report = report_device();
    return described(std::move(operations), {{"available", report.available},
                                             {"simulated", is_simulated()},
                                             {"device", report.device},
                                             {"reason", report.reason}});
  }

  json provenance(const Cell& cell) override {
    require_backend(cell);
    prepare_device(cell);
    json result = process_provenance();
    result["device"] = describe_device();
    return result;
  }

  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    const MetalOperation& operation = operation_of(cell, metal_operations());
    prepare_device(cell);
    return make_metal_workload(operation, cell, seed);
  }
};

}  // namespace

std::unique_ptr<WorkerProgram> make_metal_program() {
  return std::make_unique<MetalProgram>();
}

}  // namespace mpsprobe::metal

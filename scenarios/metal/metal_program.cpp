#include "scenarios/metal/metal_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/provenance/influential_environment.h"
#include "harness/wire/axis.h"
#include "harness/wire/event.h"
#include "scenarios/metal/apple_device.h"
#include "scenarios/metal/metal_workload.h"
#include "scenarios/metal/recipe.h"
#include "scenarios/provenance/symbol_probes.h"

namespace mpsprobe::metal {
namespace {

using nlohmann::json;

json describe_operation(const MetalOperation& operation) {
  json paths = json::array({name_of(Path::automatic)});
  if (operation.chooses_path) {
    paths.push_back(name_of(Path::nograph));
    paths.push_back(name_of(Path::graph));
  }
  return {
      {"name", operation.name},
      {"summary", operation.summary},
      {"source", operation.source},
      {"paths", std::move(paths)},
      {"has_parameters", operation.has_parameters},
      {"dtypes", {"float32"}},
      {"shape", operation.shape},
      {"dimensions", operation.dimensions},
      {"backends", {name_of(Backend::metal)}},
  };
}

class MetalProgram : public WorkerProgram {
 public:
  json describe() override {
    json operations = json::array();
    for (const MetalOperation& operation : metal_operations()) {
      operations.push_back(describe_operation(operation));
    }
    const DeviceReport report = report_device();
    return {
        {"mpsprobe_worker", kProtocolVersion},
        {"spoils", true},
        {"version", MPSPROBE_VERSION},
        {"operations", std::move(operations)},
        {"backends",
         {{{"name", name_of(Backend::metal)},
           {"available", report.available},
           {"simulated", is_simulated()},
           {"device", report.device},
           {"reason", report.reason}}}},
        {"provenance", process_provenance()},
    };
  }

  json provenance(const Cell& cell) override {
    require_metal(cell);
    prepare_device(cell);
    json result = process_provenance();
    result["device"] = describe_device();
    return result;
  }

  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    require_metal(cell);
    const MetalOperation* const operation = find_metal_operation(cell.op);
    if (operation == nullptr) {
      std::vector<std::string_view> names;
      for (const MetalOperation& each : metal_operations()) names.push_back(each.name);
      throw UnsupportedError(
          fmt::format("op={}: the backend metal has no such operation. It has {}", cell.op,
                      fmt::join(names, ", ")));
    }
    prepare_device(cell);
    return make_metal_workload(*operation, cell, seed);
  }

 private:
  static void require_metal(const Cell& cell) {
    if (cell.backend == Backend::metal) return;
    throw UnsupportedError(fmt::format(
        "backend {}: this worker has metal alone. Use mpsprobe-worker", name_of(cell.backend)));
  }
  json process_provenance() const {
    return {
        {"symbols", symbols_},
        {"worker_version", MPSPROBE_VERSION},
        {"environment", environment_in_force()},
    };
  }

  // Asked before anything else: what a device loads is not to change the answers.
  const json symbols_ = probed_symbols();
};

}  // namespace

std::unique_ptr<WorkerProgram> make_metal_program() {
  return std::make_unique<MetalProgram>();
}

}  // namespace mpsprobe::metal

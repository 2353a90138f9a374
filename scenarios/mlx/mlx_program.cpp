#include "scenarios/mlx/mlx_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/provenance/influential_environment.h"
#include "harness/wire/axis.h"
#include "harness/wire/event.h"
#include "scenarios/mlx/mlx_device.h"
#include "scenarios/mlx/mlx_operation.h"
#include "scenarios/mlx/mlx_workload.h"
#include "scenarios/provenance/symbol_probes.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

json describe_operation(const MlxOperation& operation) {
  return {
      {"name", operation.name},
      {"summary", operation.summary},
      {"source", operation.source},
      {"paths", {name_of(Path::automatic)}},
      {"has_parameters", operation.has_parameters()},
      {"dtypes", {"float32"}},
      {"shape", operation.shape},
      {"dimensions", operation.dimensions},
      {"made_of", operation.made_of},
      {"backends", {name_of(Backend::mlx)}},
  };
}

class MlxProgram : public WorkerProgram {
 public:
  void begin() override { begin_mlx(); }

  json describe() override {
    json operations = json::array();
    for (const MlxOperation* operation : mlx_operations()) {
      operations.push_back(describe_operation(*operation));
    }
    return {
        {"mpsprobe_worker", kProtocolVersion},
        {"spoils", true},
        {"version", MPSPROBE_VERSION},
        {"operations", std::move(operations)},
        {"backends",
         {{{"name", name_of(Backend::mlx)},
           {"available", true},
           {"simulated", false},
           {"device", mlx_device_name(DeviceUse::automatic)},
           {"reason", ""}}}},
        {"provenance", process_provenance()},
    };
  }

  json provenance(const Cell& cell) override {
    require_mlx(cell);
    json result = process_provenance();
    result["device"] = describe_mlx_device(cell.device);
    return result;
  }

  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    require_mlx(cell);
    const MlxOperation* const operation = find_mlx_operation(cell.op);
    if (operation == nullptr) {
      std::vector<std::string_view> names;
      for (const MlxOperation* each : mlx_operations()) names.push_back(each->name);
      throw UnsupportedError(fmt::format("op={}: the backend mlx has no such operation. It has {}",
                                         cell.op, fmt::join(names, ", ")));
    }
    return std::make_unique<MlxWorkload>(*operation, cell, seed);
  }

 private:
  static void require_mlx(const Cell& cell) {
    if (cell.backend == Backend::mlx) return;
    throw UnsupportedError(fmt::format("backend {}: this worker has mlx alone. Use mpsprobe-worker",
                                       name_of(cell.backend)));
  }
  json process_provenance() const {
    return {
        {"mlx", mlx_provenance()},
        {"symbols", symbols_},
        {"worker_version", MPSPROBE_VERSION},
        {"environment", environment_in_force()},
    };
  }

  // Asked before anything else: what a device loads is not to change the answers.
  const json symbols_ = probed_symbols();
};

}  // namespace

std::unique_ptr<WorkerProgram> make_mlx_program() {
  return std::make_unique<MlxProgram>();
}

}  // namespace mpsprobe

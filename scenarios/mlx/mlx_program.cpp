// The program of mpsprobe-mlx-worker: the backend mlx and nothing else. It loads no LibTorch.
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/wire/axis.h"
#include "scenarios/mlx/mlx_device.h"
#include "scenarios/mlx/mlx_operation.h"
#include "scenarios/mlx/mlx_workload.h"
#include "scenarios/provenance/one_backend_program.h"
#include "scenarios/worker/run_worker.h"

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
  };
}

class MlxProgram : public OneBackendProgram {
 public:
  MlxProgram() : OneBackendProgram(Backend::mlx) {}

  void begin() override { begin_mlx(); }

  json describe() override {
    json operations = json::array();
    for (const MlxOperation& operation : mlx_operations()) {
      operations.push_back(describe_operation(operation));
    }
    return described(std::move(operations), {{"available", true},
                                             {"simulated", false},
                                             {"device", mlx_device_name(DeviceUse::automatic)},
                                             {"reason", ""}});
  }

  json provenance(const Cell& cell) override {
    require_backend(cell);
    json result = process_provenance();
    result["device"] = describe_mlx_device(cell.device);
    return result;
  }

  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    return std::make_unique<MlxWorkload>(operation_of(cell, mlx_operations()), cell, seed);
  }

 protected:
  json process_provenance() const override {
    json result = OneBackendProgram::process_provenance();
    result["mlx"] = mlx_provenance();
    return result;
  }
};

}  // namespace
}  // namespace mpsprobe

int main(int argc, char** argv) {
  mpsprobe::MlxProgram program;
  return mpsprobe::run_worker(argc, argv, program);
}

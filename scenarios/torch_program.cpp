#include "scenarios/torch_program.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "harness/input/json_text.h"
#include "harness/provenance/influential_environment.h"
#include "harness/wire/axis.h"
#include "harness/wire/event.h"
#include "scenarios/backends/backend.h"
#include "scenarios/operations/operation.h"
#include "scenarios/operations/sizes.h"
#include "scenarios/operations/torch_workload.h"
#include "scenarios/provenance/provenance.h"
#include "scenarios/provenance/symbol_probes.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

// The only ones that run it; empty where all do.
json backends_of(const Operation& operation, const std::vector<BackendReport>& backends) {
  if (operation.only_on.has_value()) return json::array({name_of(*operation.only_on)});
  json having = json::array();
  for (const BackendReport& backend : backends) {
    const auto& names = backend.operations;
    if (!names || std::find(names->begin(), names->end(), operation.name) != names->end()) {
      having.push_back(name_of(backend.backend));
    }
  }
  return having.size() == backends.size() ? json::array() : having;
}

json describe_operation(const Operation& operation, const std::vector<BackendReport>& backends) {
  json paths = json::array({name_of(Path::automatic)});
  if (operation.ends_in_linear) {
    paths.push_back(name_of(Path::nograph));
    paths.push_back(name_of(Path::graph));
  }
  json dtypes = json::array();
  for (const at::ScalarType type : operation.dtypes) {
    dtypes.push_back(name_of(type));
  }
  return {
      {"name", operation.name},
      {"summary", operation.summary},
      {"source", operation.source},
      {"paths", std::move(paths)},
      {"has_parameters", operation.has_parameters()},
      {"dtypes", std::move(dtypes)},
      {"shape", operation.shape},
      {"dimensions", operation.dimensions},
      {"capturable", operation.capturable},
      {"backends", backends_of(operation, backends)},
      {"made_of", operation.made_of},
  };
}

/// What only the worker that runs the backend's cells knows: operations that LibTorch has not, and
/// what the libraries have that it loads.
void add_of_other(const BackendReport& report, json& backend, json& listed) {
  const json other = parsed_json(report.other_worker);
  backend["variables"] = other.value("variables", json::object());
  for (json operation : other.at("operations")) {
    if (find_operation(operation.at("name").get<std::string>()) != nullptr) continue;
    // It may itself name what yet another worker runs.
    const json only = operation.value("backends", json::array());
    if (!only.empty() && std::find(only.begin(), only.end(), name_of(report.backend)) == only.end())
      continue;
    operation["backends"] = json::array({name_of(report.backend)});
    listed.push_back(std::move(operation));
  }
}

class TorchProgram : public WorkerProgram {
 public:
  // Not before a fork: LibTorch 2.15 replaces the pool that this makes in a forked process when it
  // is next asked for, without a lock, and threads that ask together find none
  // (caffe2/utils/threadpool/pthreadpool-cpp.cc).
  void begin() override { at::set_num_threads(1); }

  json describe() override {
    // Before the provenance, for the reason given at provenance().
    const std::vector<BackendReport> reports = report_backends();
    json backends = json::array();
    json listed = json::array();
    for (const Operation* operation : operations()) {
      listed.push_back(describe_operation(*operation, reports));
    }
    for (const BackendReport& report : reports) {
      backends.push_back({{"name", name_of(report.backend)},
                          {"available", report.available},
                          {"simulated", report.simulated},
                          {"device", report.device},
                          {"reason", report.reason}});
      if (!report.other_worker.empty()) add_of_other(report, backends.back(), listed);
    }
    return {
        {"mpsprobe_worker", kProtocolVersion}, {"version", MPSPROBE_VERSION},
        {"operations", std::move(listed)},     {"backends", std::move(backends)},
        {"provenance", process_provenance()},
    };
  }

  json provenance(const Cell& cell) override {
    // The device comes first: LibTorch decides once and for good whether it has CUDA, when it is
    // first asked for its build, and its CUDA half is loaded with the device.
    const Device& device = device_for(cell);
    json result = process_provenance();
    result["device"] = device.description();
    return result;
  }

  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    const Operation* const operation = find_operation(cell.op);
    if (operation == nullptr) {
      std::vector<std::string_view> names;
      for (const Operation* each : operations()) {
        names.push_back(each->name);
      }
      throw UnsupportedError(fmt::format("op={}: this worker has no such operation. It has {}",
                                         cell.op, fmt::join(names, ", ")));
    }
    device_for(cell);
    return std::make_unique<TorchWorkload>(*operation, cell, seed, std::move(device_));
  }

 private:
  json process_provenance() const {
    return {
        {"torch", torch_provenance()},
        {"symbols", symbols_},
        {"worker_version", MPSPROBE_VERSION},
        {"environment", environment_in_force()},
    };
  }

  // The device is opened by whichever of provenance and make_workload comes first, and once for
  // both: the simulated one can be started only once in a process.
  Device& device_for(const Cell& cell) {
    if (device_ == nullptr) {
      device_ = open_device(cell);
    }
    return *device_;
  }

  // Asked before anything else: what a device loads is not to change the answers.
  const json symbols_ = probed_symbols();
  std::unique_ptr<Device> device_;
};

}  // namespace

std::unique_ptr<WorkerProgram> make_torch_program() {
  return std::make_unique<TorchProgram>();
}

}  // namespace mpsprobe

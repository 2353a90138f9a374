#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/provenance/influential_environment.h"
#include "harness/wire/event.h"
#include "scenarios/provenance/symbol_probes.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// A worker that has one backend alone, and a table of operations with names for it.
class OneBackendProgram : public WorkerProgram {
 protected:
  explicit OneBackendProgram(Backend backend) : backend_(backend) {}

  /// `device`: "available", "simulated", "device", "reason".
  nlohmann::json described(nlohmann::json operations, nlohmann::json device) {
    device["name"] = name_of(backend_);
    for (nlohmann::json& operation : operations)
      operation["backends"] = nlohmann::json::array({name_of(backend_)});
    return {{"mpsprobe_worker", kProtocolVersion},
            {"version", MPSPROBE_VERSION},
            {"operations", std::move(operations)},
            {"backends", nlohmann::json::array({std::move(device)})},
            {"provenance", process_provenance()}};
  }

  /// Throws UnsupportedError for a cell of another backend.
  void require_backend(const Cell& cell) const {
    if (cell.backend == backend_) return;
    throw UnsupportedError(fmt::format("backend {}: this worker has {} alone. Use mpsprobe-worker",
                                       name_of(cell.backend), name_of(backend_)));
  }

  /// The cell's operation. Throws UnsupportedError where the table has none of that name.
  template <typename Operation>
  const Operation& operation_of(const Cell& cell, std::span<const Operation> table) const {
    require_backend(cell);
    const auto at = std::find_if(table.begin(), table.end(), [&cell](const Operation& operation) {
      return operation.name == cell.op;
    });
    if (at != table.end()) return *at;
    std::vector<std::string_view> names;
    for (const Operation& each : table) names.push_back(each.name);
    throw UnsupportedError(fmt::format("op={}: the backend {} has no such operation. It has {}",
                                       cell.op, name_of(backend_), fmt::join(names, ", ")));
  }

  virtual nlohmann::json process_provenance() const {
    return {{"symbols", symbols_},
            {"worker_version", MPSPROBE_VERSION},
            {"environment", environment_in_force()}};
  }

 private:
  const Backend backend_;
  // Asked before anything else: what a device loads is not to change the answers.
  const nlohmann::json symbols_ = probed_symbols();
};

}  // namespace mpsprobe

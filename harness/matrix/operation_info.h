#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/wire/cell.h"

namespace mpsprobe {

/// What a worker says of one of its operations (`WORKER describe`).
struct OperationInfo {
  std::string name;
  std::string summary;
  std::string source;              ///< report or public issue that it comes from
  std::vector<std::string> paths;  ///< of the axis `path`
  bool has_parameters = false;     ///< weights, which threads can share
  std::vector<std::string> dtypes;
  std::string shape;                  ///< default
  std::string dimensions;             ///< what the sizes mean
  bool capturable = false;            ///< into a CUDA graph: on cuda it has every path
  std::vector<std::string> backends;  ///< the only ones that it runs on; empty: it runs on all
  /// Operations of the same worker that are part of this one: what it can be reduced to.
  std::vector<std::string> made_of;
  /// Where the operation is somebody's own function or test: FILE_OR_MODULE::NAME.
  std::string own_function;
  std::string own_test;
  /// Axes that the worker honours beside those that the runner sees to; nothing: every one. A cell
  /// off the default of another axis would run as if it were not.
  std::optional<std::set<std::string>> axes;
  /// The same for a backend, where the worker tells it of the backend by itself.
  std::map<std::string, std::set<std::string>> axes_on;
};

/// Operations by name: one for each worker that has it, since the same name may have other paths
/// and types on another backend.
using Operations = std::multimap<std::string, OperationInfo>;

/// The operation as it is on this backend; where none is for that, as it is elsewhere; nullptr
/// where there is none of that name.
const OperationInfo* find_operation(const Operations& operations, const std::string& name,
                                    Backend backend);

/// Adds what another worker has. Of an operation that both have, the axes that both honour are
/// left: the same cells run on both.
void merge_operations(Operations& operations, const Operations& others);

/// The first axis, in canonical order, that the cell uses and nobody who runs the operation
/// honours; empty where there is none.
std::string unhonoured_axis(const Cell& cell, const OperationInfo& operation);

/// From the answer of `describe`. Throws InputError where it is not of this form: a worker may be
/// anybody's program.
Operations operations_from(const nlohmann::json& describe);

}  // namespace mpsprobe

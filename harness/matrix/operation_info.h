#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

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
};

/// Operations by name.
using Operations = std::map<std::string, OperationInfo>;

/// From the answer of `describe`. Throws InputError where it is not of this form: a worker may be
/// anybody's program.
Operations operations_from(const nlohmann::json& describe);

}  // namespace mpsprobe

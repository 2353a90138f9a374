#include "harness/matrix/operation_info.h"

#include <nlohmann/json.hpp>

#include "harness/wire/input_error.h"

namespace mpsprobe {

Operations operations_from(const nlohmann::json& describe) {
  Operations operations;
  try {
    for (const nlohmann::json& entry : describe.at("operations")) {
      OperationInfo info;
      info.name = entry.at("name");
      info.summary = entry.at("summary");
      info.source = entry.at("source");
      info.paths = entry.at("paths");
      info.has_parameters = entry.at("has_parameters");
      info.dtypes = entry.at("dtypes");
      info.shape = entry.at("shape");
      info.dimensions = entry.at("dimensions");
      info.capturable = entry.value("capturable", false);
      info.backends = entry.value("backends", std::vector<std::string>());
      info.made_of = entry.value("made_of", std::vector<std::string>());
      operations.emplace(info.name, info);
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError("operations",
                     std::string("not of the form in docs/protocol.md: ") + error.what(),
                     "Use a worker of this version");
  }
  return operations;
}

}  // namespace mpsprobe

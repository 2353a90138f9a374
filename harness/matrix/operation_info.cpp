#include "harness/matrix/operation_info.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/wire/axis.h"
#include "harness/wire/honoured_axes.h"

namespace mpsprobe {

namespace {

using Names = std::set<std::string>;

/// The axes that an object names: of one that names none, each cell at its defaults.
Names axes_from(const nlohmann::json& object) {
  const std::vector<std::string> named = object.value("axes", std::vector<std::string>());
  return {named.begin(), named.end()};
}

std::map<std::string, Names> axes_of_backends(const nlohmann::json& describe) {
  std::map<std::string, Names> axes;
  for (const nlohmann::json& entry : describe.value("backends", nlohmann::json::array())) {
    if (entry.contains("axes")) axes[entry.at("name").get<std::string>()] = axes_from(entry);
  }
  return axes;
}

/// The axes that are honoured on a backend; nullptr where nothing is said of it.
const Names* honoured_on(const OperationInfo& operation, const std::string& backend) {
  const auto own = operation.axes_on.find(backend);
  if (own != operation.axes_on.end()) return &own->second;
  return operation.axes_on.empty() && operation.axes ? &*operation.axes : nullptr;
}

void keep_common(Names& axes, const Names& others) {
  std::erase_if(axes, [&others](const std::string& axis) { return !others.contains(axis); });
}

/// Of two workers: an axis that one of them does not honour is honoured by neither.
void keep_common_axes(OperationInfo& known, const OperationInfo& other) {
  std::map<std::string, Names> axes_on = other.axes_on;
  axes_on.insert(known.axes_on.begin(), known.axes_on.end());
  for (auto& [backend, axes] : axes_on) {
    for (const OperationInfo* each : {&std::as_const(known), &other}) {
      const Names* const honoured = honoured_on(*each, backend);
      if (honoured != nullptr) keep_common(axes, *honoured);
    }
  }
  known.axes_on = std::move(axes_on);
  if (known.axes && other.axes) keep_common(*known.axes, *other.axes);
  if (!known.axes) known.axes = other.axes;
}

bool share_a_backend(const OperationInfo& one, const OperationInfo& two) {
  if (one.backends.empty() || two.backends.empty()) return true;
  return std::any_of(one.backends.begin(), one.backends.end(), [&two](const std::string& backend) {
    return std::find(two.backends.begin(), two.backends.end(), backend) != two.backends.end();
  });
}

}  // namespace

void merge_operations(Operations& operations, const Operations& others) {
  for (const auto& entry : others) {
    const OperationInfo& other = entry.second;
    const auto [begin, end] = operations.equal_range(entry.first);
    const auto place = std::find_if(
        begin, end, [&other](const auto& known) { return share_a_backend(known.second, other); });
    if (place == end) {
      operations.emplace(entry.first, other);
      continue;
    }
    keep_common_axes(place->second, other);
  }
}

std::string unhonoured_axis(const Cell& cell, const OperationInfo& operation) {
  if (!operation.axes.has_value()) return "";
  const Names* honoured = honoured_on(operation, std::string(name_of(cell.backend)));
  if (honoured == nullptr) honoured = &*operation.axes;
  const auto of_runner = runner_axes();
  for (const Axis& axis : axes()) {
    const bool seen_to =
        std::find(of_runner.begin(), of_runner.end(), axis.name) != of_runner.end();
    if (seen_to || honoured->contains(std::string(axis.name))) continue;
    if (axis.read(cell) != axis.default_value) return std::string(axis.name);
  }
  return "";
}

Operations operations_from(const nlohmann::json& describe) {
  Operations operations;
  try {
    const Names honoured = axes_from(describe);
    const std::map<std::string, Names> honoured_on_backends = axes_of_backends(describe);
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
      info.own_function = entry.value("own_function", "");
      info.own_test = entry.value("own_test", "");
      const bool own = entry.contains("axes");
      info.axes = own ? axes_from(entry) : honoured;
      if (!own) info.axes_on = honoured_on_backends;
      operations.emplace(info.name, info);
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError("operations",
                     std::string("not of the form in docs/protocol.md: ") + json_problem(error),
                     "Use a worker of this version");
  }
  return operations;
}

const OperationInfo* find_operation(const Operations& operations, const std::string& name,
                                    Backend backend) {
  const auto [begin, end] = operations.equal_range(name);
  const auto fits = std::find_if(begin, end, [backend](const auto& entry) {
    const std::vector<std::string>& only = entry.second.backends;
    return only.empty() || std::find(only.begin(), only.end(), name_of(backend)) != only.end();
  });
  if (fits != end) return &fits->second;
  return begin == end ? nullptr : &begin->second;
}

}  // namespace mpsprobe

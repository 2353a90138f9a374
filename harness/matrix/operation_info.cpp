#include "harness/matrix/operation_info.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/wire/axis.h"
#include "harness/wire/input_error.h"

namespace mpsprobe {

namespace {

/// What the runner does itself, or an operation's entry says: which backend, operation and path,
/// how many processes, a process for each iteration, Metal's validation by its variables.
constexpr std::array<std::string_view, 7> kOfTheRunner{"backend",  "op",  "path",      "processes",
                                                       "lifetime", "env", "validation"};

/// A worker that names none is one of a fixed shape: each cell at its defaults.
std::set<std::string> axes_from(const nlohmann::json& describe) {
  const std::vector<std::string> named = describe.value("axes", std::vector<std::string>());
  return {named.begin(), named.end()};
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
    OperationInfo& known = place->second;
    if (!other.axes.has_value()) continue;
    if (!known.axes.has_value()) {
      known.axes = other.axes;
    } else {
      std::erase_if(*known.axes,
                    [&](const std::string& axis) { return !other.axes->contains(axis); });
    }
  }
}

std::string unhonoured_axis(const Cell& cell, const OperationInfo& operation) {
  if (!operation.axes.has_value()) return "";
  for (const Axis& axis : axes()) {
    const std::string name(axis.name);
    const bool seen_to =
        std::find(kOfTheRunner.begin(), kOfTheRunner.end(), axis.name) != kOfTheRunner.end();
    if (seen_to || operation.axes->contains(name)) continue;
    if (axis.read(cell) != axis.default_value) return name;
  }
  return "";
}

Operations operations_from(const nlohmann::json& describe) {
  Operations operations;
  try {
    const std::set<std::string> honoured = axes_from(describe);
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
      info.axes = honoured;
      operations.emplace(info.name, info);
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError("operations",
                     std::string("not of the form in docs/protocol.md: ") + error.what(),
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

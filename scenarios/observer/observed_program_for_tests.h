#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/process/command.h"

namespace mpsprobe {

/// A program's run, and what the observer wrote of it.
struct ObservedProgram {
  CommandResult ended;
  std::vector<nlohmann::json> lines;
};

/// Runs it with the observer preloaded, four minutes at most. `environment`: more variables.
ObservedProgram observe_program(const std::vector<std::string>& arguments,
                                const std::vector<std::string>& environment = {});

}  // namespace mpsprobe

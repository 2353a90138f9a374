#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/own_command.h"

namespace mpsprobe {

/// What stands for a parameter, by its name without braces.
using Parameters = std::map<std::string, std::string, std::less<>>;

/// The word with the value of each parameter that it names in braces. Other braces stay as they
/// are: they are the command's.
std::string filled_in(std::string_view word, const Parameters& parameters);

/// What looks like a parameter's name in braces, is none of `known` and is near to one: a slip of
/// the pen. "{thread}; did you mean "threads"?", or nothing.
std::string mistyped_parameter(const OwnCommand& command, const std::vector<std::string>& known);

/// What the operation is called: the script that an interpreter or a launcher is given, by its file
/// name or the module's, else the program. Letters, digits, dots and underscores, at most 40.
std::string operation_name(const OwnCommand& command);

/// The program as the system would find it: by PATH where it has no slash. Empty where there is
/// none that can be executed.
std::string program_path(const std::string& program, const std::string& folder);

/// The first of as many successive ports of TCP as a trial has processes, on which nobody listens.
/// All processes of a trial find the same one: they begin to look at a place that the trial's seed
/// gives, and none of them listens before all have looked. Throws SetupError where none are free.
int free_ports(uint64_t seed, int processes);

/// What a script imports, of the releases that its interpreter would load: `python`, and `mlx` or
/// `torch` where it imports one, as docs/protocol.md has them in a provenance. The script is read
/// and not run. Empty where the command is no script of Python, or it cannot be told.
nlohmann::json python_packages(const OwnCommand& command);

}  // namespace mpsprobe

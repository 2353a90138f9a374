#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// The variable that tells the worker of commands, and the runner, which command of somebody's own
/// runs: an OwnCommand as JSON.
inline constexpr std::string_view kCommandVariable = "MPSPROBE_COMMAND";
/// Those by which the Python worker learns whose functions or tests it has
/// (scenarios/python/mpsprobe/worker.py).
inline constexpr std::string_view kPythonCodeVariable = "MPSPROBE_PYTHON_CODE";
inline constexpr std::string_view kPytestVariable = "MPSPROBE_PYTEST";

/// Somebody's own command, taken as it is.
struct OwnCommand {
  std::vector<std::string> words;  ///< program and arguments, with parameters: "{threads}"
  std::string folder;              ///< where it runs; absolute
  /// What its standard output has to be: `same` as with one thread, or what this file holds
  /// (absolute). Empty: it is not compared.
  std::string expect_output;
  std::vector<std::string> fail_on_output;  ///< texts that it must not print
};

/// As a variable, NAME=VALUE. What is no UTF-8 is replaced.
std::string to_variable(const OwnCommand& command);

/// From the variable's value. Nothing where it is none, or has no words.
std::optional<OwnCommand> parse_own_command(std::string_view value);

/// The command that an environment (NAME=VALUE) names, if any.
std::optional<OwnCommand> own_command_in(std::span<const std::string> environment);

/// Which code of somebody's own an environment (NAME=VALUE) names: the words of the command, or the
/// file without its folder and the function. Empty where it names none.
std::string own_code_in(std::span<const std::string> environment);

/// Whether an environment (NAME=VALUE) names tests of somebody's own.
bool names_own_tests(std::span<const std::string> environment);

/// Whether any word names the parameter: "{threads}" for "threads".
bool names_parameter(const OwnCommand& command, std::string_view name);

}  // namespace mpsprobe

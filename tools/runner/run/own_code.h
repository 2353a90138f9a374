#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mpsprobe {

struct RunOptions;

/// The variables by which the Python worker learns whose functions or tests it has.
constexpr const char* kPythonCodeVariable = "MPSPROBE_PYTHON_CODE";
constexpr const char* kPytestVariable = "MPSPROBE_PYTEST";

/// What --python and --pytest are given.
struct OwnCode {
  std::optional<std::string> python;
  std::optional<std::string> pytest;
};

/// The variable that names the code by its absolute path, NAME=VALUE; nothing where none is
/// given. Throws InputError for a wrong form, and a file that is not there.
std::optional<std::string> own_code_variable(const OwnCode& code);

/// The Python worker beside this program, else in PATH, as pip puts both into an environment's bin.
/// Throws InputError where there is none.
std::string python_worker();

/// The worker of commands, which lies beside this program. Throws InputError where it does not.
std::string command_worker();

/// Puts in the place of --python, --pytest and a command what they are short for: the worker of
/// Python or of commands, unless --worker names others, and the variable of the code. So resuming,
/// printed commands and bundles need know nothing of them. Without --op, --matrix and --cell all
/// functions or tests run, which the worker is asked for. Does nothing where none is given. Throws
/// InputError as own_code_variable does, and where the worker is missing.
void use_own_code(RunOptions& options);

}  // namespace mpsprobe

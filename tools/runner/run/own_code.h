#pragma once

#include <string>
#include <vector>

namespace mpsprobe {

struct RunOptions;

/// The variables by which the Python worker learns whose functions or tests it has.
constexpr const char* kPythonCodeVariable = "MPSPROBE_PYTHON_CODE";
constexpr const char* kPytestVariable = "MPSPROBE_PYTEST";

/// Puts in the place of --python and --pytest what they are short for: the Python worker beside
/// this program or in PATH, unless --worker names others, and the variable that names the code by
/// its absolute path. So resuming, printed commands and bundles need know nothing of them. Without
/// --op,
/// --matrix and --cell all functions or tests run, which the worker is asked for. Does nothing
/// where neither is given. Throws InputError for a wrong form, a file that is not there, and where
/// no Python worker is found.
void use_own_code(RunOptions& options);

}  // namespace mpsprobe

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mpsprobe {

struct RunOptions;

/// The variable, NAME=VALUE, that says what --python, --pytest and a command were given, with files
/// by their absolute paths; nothing where none is given. A whole script becomes a command, and
/// parameters of a command become axes. Throws InputError for a wrong form, and a file that is not
/// there.
std::optional<std::string> own_code_variable(RunOptions& options);

/// Puts in the place of --python, --pytest and a command what they are short for: the worker of
/// Python or of commands, unless --worker names others, and the variable of the code. So resuming,
/// printed commands and bundles need know nothing of them. Without --op, --matrix and --cell all
/// functions or tests run, which the worker is asked for. Does nothing where none is given. Throws
/// InputError as own_code_variable does, and where the worker is missing.
void use_own_code(RunOptions& options);

}  // namespace mpsprobe

#pragma once

#include <string>

#include "tools/runner/bisect/bisect_request.h"

namespace mpsprobe {

/// What --make "pip install REQUIREMENT..." is short for: a Python worker in an environment of its
/// own with these requirements (docs/python.md). Other commands stay as they are. Throws
/// InputError where there is no Python worker.
std::string with_environment(const std::string& make);

/// The cell of the code that the request's environment names, with the backend that the newest
/// build says that it computes on, and the threads that were asked for. Makes that build's worker,
/// and those before it where it cannot be made. Throws InputError where none can run the code, and
/// where it is more than one function or test.
std::string own_code_cell(BisectRequest& request);

}  // namespace mpsprobe

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/wire/own_command.h"

namespace mpsprobe {

/// What a script imports, of the releases that its interpreter would load: `python`, and `mlx` or
/// `torch` where it imports one, as docs/protocol.md has them in a provenance. The script is read
/// and not run. Empty where the command is no script of Python, or it cannot be told.
nlohmann::json python_packages(const OwnCommand& command);

}  // namespace mpsprobe

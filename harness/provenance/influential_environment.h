#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace mpsprobe {

/// Whether a variable of the environment may change what LibTorch, Metal, the C library, the loader
/// or the harness do: which library is loaded, which path an operation takes, how many threads
/// there are, how memory is laid out. Such variables are part of the provenance of every process,
/// with their values.
bool changes_results(std::string_view variable);

/// Those variables of this process's environment: an object of name and value. Bytes that are no
/// UTF-8 are replaced.
nlohmann::json environment_in_force();

}  // namespace mpsprobe

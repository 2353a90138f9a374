#pragma once

#include <filesystem>

namespace mpsprobe {

/// The file of the running program, links resolved. Throws std::runtime_error where the system does
/// not tell.
std::filesystem::path executable_path();

}  // namespace mpsprobe

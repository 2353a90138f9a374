#pragma once

#include <filesystem>
#include <string>

namespace mpsprobe {

/// The file of the running program, links resolved. Throws std::runtime_error where the system does
/// not tell.
std::filesystem::path executable_path();

/// The file that a shell would execute for this name, by the variable PATH; empty where there is
/// none. As PATH has it: relative where its folder is.
std::filesystem::path program_in_path(const std::string& name);

}  // namespace mpsprobe

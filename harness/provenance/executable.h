#pragma once

#include <filesystem>
#include <string>

namespace mpsprobe {

/// This process's executable, links resolved. Empty where the system does not tell.
std::filesystem::path own_executable();

/// The folder that holds bin/, lib/ and share/: two up from this process's executable, links
/// resolved, so that an installation can be moved. Empty where the system does not tell.
std::filesystem::path installation_folder();

/// The file that a shell would execute for this name, by the variable PATH; empty where there is
/// none. As PATH has it: relative where its folder is.
std::filesystem::path program_in_path(const std::string& name);

}  // namespace mpsprobe

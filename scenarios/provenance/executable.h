#pragma once

#include <filesystem>

namespace mpsprobe {

/// This process's executable, links resolved. Empty where the system does not tell.
std::filesystem::path own_executable();

/// The folder that holds bin/, lib/ and share/: two up from this process's executable, links
/// resolved, so that an installation can be moved. Empty where the system does not tell.
std::filesystem::path installation_folder();

}  // namespace mpsprobe

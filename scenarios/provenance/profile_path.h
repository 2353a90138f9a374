#pragma once

#include <string>

namespace mpsprobe {

/// The file of a profile of the simulated device: in the folder that MPSPROBE_PROFILES names, or in
/// the installation's. Throws SetupError that lists what there is where it is not there, or the
/// name is no name.
std::string profile_path(const std::string& name);

}  // namespace mpsprobe

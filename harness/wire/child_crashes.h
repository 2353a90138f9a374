#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// Where a process that an own command started writes its crash, as a flight recorder by its
/// number. `mark` is the value of the variable MPSPROBE_PROCESS, which it has from its parents. The
/// first that crashes makes the folder, for its user alone; the runner takes it away.
std::string child_crash_folder(std::string_view mark);

}  // namespace mpsprobe

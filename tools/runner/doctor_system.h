#pragma once

#include "tools/runner/doctor_check.h"

namespace mpsprobe {

/// The part of doctor that each system has of its own: doctor_linux.cpp, doctor_macos.cpp.

/// True where a core file lands in the folder that a worker runs in.
bool core_files_fill_disk();

/// What takes a crash before or beside mpsprobe: core_pattern, the reporter.
void check_crash_handling(Checks& checks);

/// Limits that only this system has.
void check_system_limits(Checks& checks);

}  // namespace mpsprobe

#pragma once

#include "tools/runner/doctor/doctor_check.h"

namespace mpsprobe {

/// The part of doctor that each system has of its own: doctor_linux.cpp, doctor_macos.cpp.

/// True where a core file lands in the folder that a worker runs in.
bool core_files_fill_disk();

/// What takes a crash before or beside mpsprobe: core_pattern, the reporter.
void check_crash_handling(Checks& checks);

/// Limits that only this system has.
void check_system_limits(Checks& checks);

/// What macOS says of itself, -1 for what it does not tell.
struct MacosFacts {
  int core_files = -1;          ///< sysctl kern.coredump: 1 is on
  int processes_of_user = -1;   ///< sysctl kern.maxprocperuid
  bool dyld_variables = false;  ///< some of the loader's variables are set
};

/// What the two functions above make of these facts on macOS. Compiled on every system.
void check_macos_crash_handling(const MacosFacts& facts, Checks& checks);
void check_macos_limits(const MacosFacts& facts, Checks& checks);

}  // namespace mpsprobe

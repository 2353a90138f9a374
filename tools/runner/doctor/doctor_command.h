#pragma once

#include "tools/runner/doctor/doctor_check.h"

namespace CLI {
class App;
}

namespace mpsprobe {

/// Adds the options of `doctor` to its subcommand. `options` must outlive the parsing.
void add_doctor_options(CLI::App& app, DoctorOptions& options);

/// `mpsprobe doctor`: looks at workers, machine and environment, and prints what it found with what
/// to do about it. Returns kExitMachine where a check failed. Throws InputError.
int doctor_command_line(const DoctorOptions& options);

}  // namespace mpsprobe

#pragma once

namespace mpsprobe {

/// The whole program: parses the arguments, does what they say, says what went wrong. Returns the
/// exit code (exit_code.h).
int command_line(int argc, char** argv);

}  // namespace mpsprobe

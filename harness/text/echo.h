#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether a line of normalised text only says that something went wrong, and another line says
/// what: a shell's "Aborted (core dumped)", "An uncaught exception was raised", the headings of a
/// crash report, the line of a program's source that throws ("raise LaneError("). Looks at a
/// bounded part of the line beside its end. Never throws, may be called from any thread.
bool is_echo(std::string_view line);

/// Whether the line announces an error that the next line tells: "Error occurred when executing
/// Lane:". As above.
bool announces_error(std::string_view line);

}  // namespace mpsprobe

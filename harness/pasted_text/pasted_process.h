#pragma once

#include <string>
#include <string_view>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// What is known of a process by a text that somebody took from an issue, a log or a terminal:
/// what it printed (failure_text), a crash report of the system's in it, as JSON or as text, cut or
/// whole, the frames that a debugger or a reporter shows, and how it ended, by the words of shells,
/// runtimes and debuggers. A process whose text tells no end is taken to have left with 0 and its
/// result, so that only what is told counts. Untrusted input; throws only for lack of memory.
ProcessRecord read_pasted_process(std::string_view pasted);

/// Takes the text for what the process printed, as read_pasted_process() does, and leaves how it
/// ended alone. Whether the text shows the stacks of a process that hangs.
bool take_pasted_text(ProcessRecord& process, std::string_view pasted);

/// How it ended, by what `process` printed and what its crash report says; Exited{0} where nothing
/// tells.
Termination told_termination(const ProcessRecord& process);

}  // namespace mpsprobe

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/record/process_record.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {

/// What a process said of itself: on stderr, and where an own command printed nothing there, as
/// behind `2>&1`, on stdout. Without a mark for what was not kept.
std::string printed_by(const ProcessRecord& process);

/// Every failure that a process told of in words, each title once, in order of appearance: what it
/// printed to stderr, then the last words of libraries and the reasons that the system's crash
/// report holds. Those come split over array entries, at any place: the entries are read both as
/// lines and joined, and the reading that explains more counts.
std::vector<Finding> printed_failures(const ProcessRecord& process);

/// The last words of a process that ended itself, where no rule knows them: what it printed, else
/// what the system's crash report kept of them. Empty where it said nothing.
Titled last_words_of(const ProcessRecord& process);

/// Whether the crash report says that the loader could not start the program: a missing library or
/// symbol, never a failure of the product.
bool loader_failed(const ProcessRecord& process);

/// Whether the crash report says that the kernel killed the process for the misuse of a guarded
/// port or descriptor (EXC_GUARD): a failure of its own, although it shows as SIGKILL.
bool broke_a_guard(const ProcessRecord& process);

/// Whether the text is of a command buffer (or of CUDA's device) that ended with an error: its work
/// is lost, also where the process went on.
bool is_command_buffer_error(const Finding& finding);
/// Whether the process told of one, of its own or as another one's victim, on stderr or as a
/// failure that it reported.
bool reported_command_buffer_error(const ProcessRecord& process);

/// The reason of an uncaught Objective-C exception, as the crash report tells it
/// ("NSRangeException: index 5 beyond bounds", "*** -[Pool take:]: no lane"), without its name;
/// empty where it tells of none. Of no use before it is known that the process aborted and nothing
/// else explains it.
std::string uncaught_object_reason(const ProcessRecord& process);

}  // namespace mpsprobe

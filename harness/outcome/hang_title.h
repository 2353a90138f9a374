#pragma once

#include <string_view>

#include "harness/outcome/crash_title.h"
#include "harness/record/process_record.h"

namespace mpsprobe {

/// Whether the time limit ended a process that was getting on, and whose stacks show none that
/// waits for ever: a lock that spins computes as well. Pure.
bool still_computed(const ProcessRecord& process);

/// The stack of the thread that a hang is about, where one was taken; of a process that waits for
/// one that it started, that one's. nullptr where there is none. Points into `process`.
const ThreadStack* hung_stack(const ProcessRecord& process);

/// The title of a process that hung: by its locks, and whose they are, where the stacks tell of
/// them, by the function that the thread which was deepest in something is in where its stack was
/// taken, and by where it was. `path` is as for whereabouts(). Throws only for lack of memory; may
/// be called from any thread.
PlaceTitle hang_title(const ProcessRecord& process, std::string_view path);

}  // namespace mpsprobe

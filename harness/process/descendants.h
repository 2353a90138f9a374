#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace mpsprobe {

/// What a process leaves behind may be in a session of its own, out of reach of a signal to its
/// group. On Linux this process becomes the parent of every descendant that loses its own
/// (prctl(2), PR_SET_CHILD_SUBREAPER), and tells by a variable of their environment which trial
/// they are of. On macOS launchd becomes that parent, and the variable is looked for in what it
/// took of this user's since this process began.
///
/// A variable, as K=V, that no other process of this program was given; all are of one length, so
/// that a forked process can write its own in the place of its parent's. Makes this process the one
/// that takes orphans, the first time that it is called. Thread-safe.
std::string mark_for_descendants();

/// Whether orphans come to this process: then it can wait for one that another process forked.
bool takes_orphans();

/// Whether anyone is left in the group of a process that has ended and is not reaped yet. Told on
/// macOS, where launchd may have reaped them once they are killed; elsewhere false, as they wait
/// there for this process. Thread-safe.
bool others_in_group(pid_t leader);

/// Ends with SIGKILL every orphan that carries the mark, reaps it where it came to this process,
/// and so with what such a one leaves behind in turn, for at most five seconds. Returns how many
/// there were. To be called when the process that was given the mark has been reaped. Thread-safe.
size_t end_descendants(const std::string& mark);

}  // namespace mpsprobe

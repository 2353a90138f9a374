#pragma once

#include <sys/types.h>

namespace mpsprobe {

/// How many threads a process has; 0 where it is gone or the system does not tell.
int thread_count(pid_t pid);

/// Whether nothing of a process runs any more and the system takes it apart: it exited or was
/// killed, and can be waited for as soon as the system has freed its memory. On Linux each thread
/// has PF_EXITING (proc(5), field 9 of stat; a main thread that ended alone is not enough); on
/// macOS the process has PROC_FLAG_INEXIT. False where it is gone or the system does not tell.
bool is_being_taken_apart(pid_t pid);

}  // namespace mpsprobe

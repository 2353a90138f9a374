#pragma once

#include <sys/types.h>

namespace mpsprobe {

/// How many threads a process has; 0 where it is gone or the system does not tell.
int thread_count(pid_t pid);

/// Whether a process exited or was killed and none of its code runs any more, also where it cannot
/// be waited for yet: the system still frees its memory. On Linux each thread has PF_EXITING
/// (proc(5), field 9 of stat; a main thread that ended alone is not enough); on macOS the process
/// has PROC_FLAG_INEXIT. False where it is gone or the system does not tell.
bool is_exiting(pid_t pid);

}  // namespace mpsprobe

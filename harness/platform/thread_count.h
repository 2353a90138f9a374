#pragma once

#include <sys/types.h>

namespace mpsprobe {

/// How many threads a process has; 0 where it is gone or the system does not tell.
int thread_count(pid_t pid);

}  // namespace mpsprobe

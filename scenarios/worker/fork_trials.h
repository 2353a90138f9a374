#pragma once

#include <string>

namespace mpsprobe {

/// Why this process is not to fork trials: another system than Linux, more than one thread, a
/// device that is open. Empty where it may. Threads that a library ends before a fork
/// (pthread_atfork) do not count, and are ended by this.
std::string why_not_to_fork();

/// Serves the runner over kControlFd, whose end ends the process: for each message one process is
/// forked. Returns in such a process alone, which then has the descriptors and the variables of one
/// that was executed, and is no child of the server any more. To be called on the main thread, with
/// the library loaded and nothing done with it.
void serve_forks();

}  // namespace mpsprobe

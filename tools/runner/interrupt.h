#pragma once

#include <atomic>

namespace mpsprobe {

/// From here on the first SIGINT, SIGTERM or SIGHUP only sets the flag that this returns; a second
/// one ends the program at once (its workers notice and end, too). A signal that
/// was ignored from the start (nohup) stays so.
const std::atomic<bool>& watch_for_interrupt();

}  // namespace mpsprobe

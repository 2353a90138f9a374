#pragma once

#include "harness/outcome/judged_process.h"

namespace mpsprobe {

/// The judgement of a process that a signal ended: by the text that says why, else by where it
/// died. Notes where in `judged`. Throws only for lack of memory.
Judgement judge_death(JudgedProcess& judged, int signal);

}  // namespace mpsprobe

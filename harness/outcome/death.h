#pragma once

#include "harness/outcome/case.h"

namespace mpsprobe {

/// The judgement of a process that a signal ended: by the text that says why, else by where it
/// died. Notes where in `told`. Throws only for lack of memory.
Judgement judge_death(Case& told, int signal);

}  // namespace mpsprobe

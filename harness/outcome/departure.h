#pragma once

#include <optional>

#include "harness/outcome/judged_process.h"

namespace mpsprobe {

/// The judgement of what a process told of and survived, in the phase where that happened; nothing
/// where it told of nothing. Throws only for lack of memory.
std::optional<Judgement> judge_told(const JudgedProcess& judged);

/// The judgement of a process that left by itself with this code: one other than 0 is titled by its
/// last words, and after 0 what it printed and reported comes before its result. Throws only for
/// lack of memory.
Judgement judge_departure(const JudgedProcess& judged, int code);

}  // namespace mpsprobe

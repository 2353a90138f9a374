#pragma once

#include <vector>

#include "harness/record/process_record.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {

/// What a failure that a worker reported itself comes to, but for the phase: an exception is what
/// its text says. A kind that is no outcome,
/// or a pass, is infrastructure: the worker does not speak the protocol. Untrusted input; never
/// throws but for lack of memory.
Judgement read_failure(const FailureEvent& failure);

/// How well it speaks for the process, of several the first: a rule that was broken, else a failure
/// of the product or a refusal, then one of a command buffer that ended for another process's sake;
/// 0: what is left.
int telling(const Judgement& reported);

/// The one that speaks for the process. nullptr for an empty list. Points into `failures`.
const FailureEvent* first_failure(const std::vector<FailureEvent>& failures);

/// The outcome that a class of text stands for in the last words of a process.
Outcome outcome_of(TextClass text_class);

}  // namespace mpsprobe

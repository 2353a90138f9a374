#pragma once

#include <string>
#include <vector>

#include "harness/outcome/diagnosis.h"
#include "harness/outcome/outcome.h"

namespace mpsprobe {

/// A failure that a worker reported itself, and what it comes to.
struct ReportedFailure {
  Outcome outcome = Outcome::infrastructure;
  std::string title;
  std::string detail;
  bool known = true;
};

/// What a reported failure comes to: an exception is what its text says. A kind that is no outcome,
/// or a pass, is infrastructure: the worker does not speak the protocol. Untrusted input; never
/// throws but for lack of memory.
ReportedFailure read_failure(const FailureEvent& failure);

/// The one that speaks for the process: the first failure of the product, those of a command buffer
/// that ended for another process's sake last; where there is none, the first of what is left.
/// nullptr for an empty list. Points into `failures`.
const FailureEvent* first_failure(const std::vector<FailureEvent>& failures);

/// The outcome that a class of text stands for in the last words of a process.
Outcome outcome_of(TextClass text_class);

/// The title of an uncaught exception of Python's, given as "Type: message": without the type where
/// it says nothing, as C++ prints the same failure.
std::string exception_title(std::string_view last_line);

}  // namespace mpsprobe

#pragma once

#include <string>

#include "harness/record/trial.h"

namespace mpsprobe {

/// For tests: what is known of a worker process that got as far as running two threads, ended so
/// and printed `err`.
ProcessRecord ended_process(Termination termination, const std::string& err = "");

/// The same of one that reported its result and left with exit code 0.
ProcessRecord finished_process(const std::string& err = "");

}  // namespace mpsprobe

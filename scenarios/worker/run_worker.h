#pragma once

#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// The whole life of a worker process: `describe`, or `run` one process of one trial as the wire
/// protocol says (docs/protocol.md). Returns the exit code of main: 0 once everything that is to be
/// said has been said by an event, 2 for wrong arguments, 3 where the channels are missing. Ends
/// the process without returning where the runner has gone away.
int run_worker(int argc, char** argv, WorkerProgram& program);

/// Tells of an exception that came to the main thread from outside, in the phase that it is in.
/// Without effect before the process knows its cell. Main thread.
void tell_exception_of_main(const std::string& text);

}  // namespace mpsprobe

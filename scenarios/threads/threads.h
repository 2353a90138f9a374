#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/wire/cell.h"
#include "harness/wire/event.h"
#include "harness/wire/flight_recorder.h"
#include "scenarios/worker/start_thread.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// What the run phase came to.
struct RunTally {
  uint64_t operations = 0;  ///< iterations that ended
  double seconds = 0;       ///< first thread spawned to last thread joined, or done (end=exit)
  // With `times_launches`; see ResultEvent.
  double inside_seconds = 0;
  double inside_cpu_seconds = 0;
  double cpu_seconds = 0;
};

/// Which kind of failure event an exception is: "unsupported", "out_of_memory", ... , "exception".
/// Call it inside a catch block; it looks at the exception in flight. `text` receives its message.
std::string kind_of_current_exception(std::string& text);

/// Runs the threads of a cell as its axes say: start, meet, lock, throttle, beside, sync, churn,
/// init. The one that beside=wait adds has the slot of the recorder after those of the cell.
/// `start` makes the threads. `lanes` has one entry a thread; where it is null the thread makes its
/// lane itself (init=threads). `on_failure` is called from the threads, concurrently, for each
/// exception that left a lane; the thread then ends. With end=exit it returns while the threads go
/// on: everything that is given by reference must live until the process has ended, and the lanes
/// are theirs. `times_launches` asks for the times, but with end=exit: two calls of the system a
/// launch.
RunTally run_threads(const Cell& cell, int iterations, Workload& workload,
                     std::vector<std::unique_ptr<Lane>>& lanes, FlightRecorder& recorder,
                     const std::function<void(const FailureEvent&)>& on_failure,
                     const StartThread& start = system_threads(), bool times_launches = false);

}  // namespace mpsprobe

#pragma once

#include <atomic>
#include <cstdint>

#include "harness/wire/flight_recorder.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// Notes the images of the stacks that were taken, of libraries that were loaded after the start.
/// Async-signal-safe.
void note_images_of_stacks(recorder_layout::Block& block);

/// What a hung worker can still find out about itself before the runner ends it: the stacks of all
/// its threads, and whether the device still does a trivial piece of work. Everything is prepared
/// beforehand, for a hung process may not be able to allocate or to start a thread.
class HangInquest {
 public:
  /// Starts the thread that will probe, and tells the runner through the recorder that an inquest
  /// can be had. The object must live until the process ends: its thread does.
  explicit HangInquest(FlightRecorder& recorder);
  HangInquest(const HangInquest&) = delete;
  HangInquest& operator=(const HangInquest&) = delete;

  /// Whose device to probe; nullptr: nobody's, and the answer is `impossible`. Any thread.
  void watch(Workload* workload) { workload_.store(workload); }

  /// Holds the inquest: returns when the stacks are taken, while the probe goes on. On a thread
  /// that has no part in the cell; once.
  void hold();

 private:
  void probe();

  FlightRecorder& recorder_;
  std::atomic<Workload*> workload_{nullptr};
  std::atomic<uint64_t> prober_{0};
  int begin_read_ = -1;
  int begin_write_ = -1;
};

}  // namespace mpsprobe

#pragma once

#include <atomic>
#include <cstdint>
#include <semaphore>
#include <thread>

#include "harness/wire/cell.h"
#include "harness/wire/flight_recorder.h"

// What the threads of a round pass on their way to a launch.

namespace mpsprobe {

/// All threads leave within a few nanoseconds of one another, which a wake-up by the kernel would
/// not give: the last one to arrive opens it and the others spin. They yield, for there may be
/// fewer cores than threads.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : missing_(threads) {}
  void arrive() { missing_.fetch_sub(1, std::memory_order_acq_rel); }
  void arrive_and_wait() {
    arrive();
    while (missing_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
};

/// Counts the thread in for as long as the launch runs, also where it throws.
class LaunchScope {
 public:
  LaunchScope(FlightRecorder& recorder, uint32_t slot, uint32_t iteration) : recorder_(recorder) {
    recorder_.enter_launch(slot, iteration);
  }
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;
  ~LaunchScope() { recorder_.leave_launch(); }

 private:
  FlightRecorder& recorder_;
};

using Turns = std::counting_semaphore<kMostThreads>;

/// Holds one of the turns at launching, also where the launch throws.
class Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) { turns_.acquire(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { turns_.release(); }

 private:
  Turns& turns_;
};

}  // namespace mpsprobe

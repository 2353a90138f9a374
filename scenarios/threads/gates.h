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
/// fewer cores than threads. They spin only once all are there: until then they would take the time
/// that it needs to start the rest, most of all where an interpreter starts them.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : not_there_(threads), asleep_(threads) {}
  void arrive() {
    asleep_.fetch_sub(1, std::memory_order_acq_rel);
    come();
  }
  void arrive_and_wait() {
    come();
    for (int left = not_there_.load(std::memory_order_acquire); left > 0;
         left = not_there_.load(std::memory_order_acquire)) {
      not_there_.wait(left, std::memory_order_acquire);
    }
    asleep_.fetch_sub(1, std::memory_order_acq_rel);
    while (asleep_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  }

 private:
  void come() {
    if (not_there_.fetch_sub(1, std::memory_order_acq_rel) == 1) not_there_.notify_all();
  }

  std::atomic<int> not_there_;
  std::atomic<int> asleep_;
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

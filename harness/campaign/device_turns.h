#pragma once

#include <condition_variable>
#include <mutex>

namespace mpsprobe {

/// Who may use the device now: any number of jobs together, or one of them alone. A job that waits
/// to be alone goes before those that come later, so that it is not put off for as long as the
/// others keep coming. Safe to use from several threads.
class DeviceTurns {
 public:
  /// Holds a turn for its life.
  class Turn {
   public:
    Turn(DeviceTurns& turns, bool alone) : turns_(turns), alone_(alone) { turns_.begin(alone_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { turns_.end(alone_); }

   private:
    DeviceTurns& turns_;
    bool alone_;
  };

 private:
  void begin(bool alone) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (alone) {
      ++waiting_alone_;
      changed_.wait(lock, [this] { return together_ == 0 && !alone_; });
      --waiting_alone_;
      alone_ = true;
    } else {
      changed_.wait(lock, [this] { return !alone_ && waiting_alone_ == 0; });
      ++together_;
    }
  }

  void end(bool alone) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (alone) {
      alone_ = false;
    } else {
      --together_;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int together_ = 0;
  int waiting_alone_ = 0;
  bool alone_ = false;
};

}  // namespace mpsprobe

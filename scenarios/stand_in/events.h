#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace mpsprobe::stand_in {

/// Events as torch.mps.Event has them (ATen/mps/MPSEvent.h, MPSEventPool): known by a number from
/// acquire() to release(). They belong to the default stream, whatever stream the thread has: in
/// 2.15.0 MPSEventPool::acquireEvent(bool) gives them the pool's m_default_stream. A number that is
/// none is an error in LibTorch's words. Any thread.
class Events {
 public:
  uint32_t acquire(bool timing);
  void release(uint32_t event);
  /// Signals it when the default stream has come to here, and commits that stream.
  void record(uint32_t event);
  /// Has the default stream wait for it, and commits that stream.
  void wait(uint32_t event);
  /// Returns when it was signalled; at once where it was not recorded.
  void synchronise(uint32_t event);
  bool signalled(uint32_t event);
  /// Milliseconds.
  double between(uint32_t start, uint32_t end);

 private:
  struct Event {
    bool timing = false;
    std::optional<std::chrono::steady_clock::time_point> signalled;
  };
  Event& in_use(uint32_t event);

  std::mutex mutex_;
  std::map<uint32_t, Event> in_use_;
  uint32_t last_ = 0;
};

/// The process's; never destroyed.
Events& events();

}  // namespace mpsprobe::stand_in

#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace mpsprobe::sim {

/// A serial dispatch queue, as far as synchronous blocks go: one at a time, on the thread that
/// hands it in. Any thread.
class SerialQueue {
 public:
  /// Runs `block` when no other block runs. Ends the process where the calling thread is in a block
  /// of this queue already, as libdispatch does: it would wait for itself.
  void run(const std::function<void()>& block);
  /// Whether the calling thread is in a block of this queue.
  bool here() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

 private:
  std::mutex one_at_a_time_;
  std::atomic<std::thread::id> owner_{};
};

}  // namespace mpsprobe::sim

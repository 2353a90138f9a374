#include "scenarios/sim/serial_queue.h"

#include <cstdio>
#include <cstdlib>

namespace mpsprobe::sim {

void SerialQueue::run(const std::function<void()>& block) {
  if (here()) {
    // The words of libdispatch's own trap (dispatch_sync).
    std::fputs(
        "BUG IN CLIENT OF LIBDISPATCH: dispatch_sync called on queue already owned by current "
        "thread\n",
        stderr);
    std::fflush(stderr);
    std::abort();
  }
  const std::lock_guard lock(one_at_a_time_);
  // Given back whatever the block throws.
  struct Ownership {
    std::atomic<std::thread::id>& owner;
    explicit Ownership(std::atomic<std::thread::id>& of) : owner(of) {
      owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~Ownership() { owner.store({}, std::memory_order_relaxed); }
  } const ownership(owner_);
  block();
}

}  // namespace mpsprobe::sim

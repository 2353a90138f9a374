#include "scenarios/observer/trap.h"

#include <time.h>

#include <atomic>

namespace mpsprobe::observer {
namespace {

constexpr uint64_t kWait = 200'000;
// What a thread may wait before its time counts: the first meetings may be the only ones.
constexpr uint64_t kAdvance = 4 * kWait;

std::atomic<bool> set = false;

uint64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void set_trap() {
  set.store(true, std::memory_order_relaxed);
}

void spring(Thread& me, bool shared) {
  if (!set.load(std::memory_order_relaxed)) return;
  const uint64_t now = nanoseconds();
  if (me.first_seen == 0) me.first_seen = now;
  const uint64_t share = (now - me.first_seen) / (shared ? 10 : 100);
  if (me.waited + kWait > share + (shared ? kAdvance : 0)) return;
  const timespec wait{0, static_cast<long>(kWait)};
  nanosleep(&wait, nullptr);
  me.waited += nanoseconds() - now;
}

}  // namespace mpsprobe::observer

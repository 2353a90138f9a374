#include "scenarios/observer/trap.h"

#include <time.h>

namespace mpsprobe::observer {
namespace {

constexpr uint64_t kWait = 200'000;
// What a thread may wait before its time counts: the first meetings may be the only ones.
constexpr uint64_t kAdvance = 4 * kWait;

#ifdef __APPLE__
constexpr clockid_t kCheap = CLOCK_MONOTONIC_RAW_APPROX;
#else
constexpr clockid_t kCheap = CLOCK_MONOTONIC_COARSE;
#endif

uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void set_trap() {
  trap_is_set.store(true, std::memory_order_relaxed);
}

void wait_in_trap(Thread& me, bool shared) {
  // Some milliseconds behind at most, for a quarter of the price.
  const uint64_t now = nanoseconds(kCheap);
  if (me.first_seen == 0) me.first_seen = now;
  const uint64_t share = (now - me.first_seen) / (shared ? 10 : 100);
  if (me.waited + kWait > share + (shared ? kAdvance : 0)) return;
  const timespec wait{0, static_cast<long>(kWait)};
  const uint64_t begin = nanoseconds(CLOCK_MONOTONIC);
  nanosleep(&wait, nullptr);
  me.waited += nanoseconds(CLOCK_MONOTONIC) - begin;
}

}  // namespace mpsprobe::observer

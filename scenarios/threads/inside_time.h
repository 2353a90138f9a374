#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace mpsprobe {

/// Nanoseconds of a clock: CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID.
inline int64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// How long threads were inside launches, added up over them, and how much of that the processor
/// spent on the threads themselves: the rest they waited, be it for an interpreter's lock. Any
/// thread adds to it.
struct InsideTime {
  std::atomic<int64_t> nanoseconds{0};
  std::atomic<int64_t> cpu_nanoseconds{0};
};

/// Adds what the calling thread spends while this lives. Two calls of the system: `sum` is null
/// where nobody wants to know.
class InsideClock {
 public:
  explicit InsideClock(InsideTime* sum) : sum_(sum) {
    if (sum_ == nullptr) return;
    began_ = nanoseconds_of(CLOCK_MONOTONIC);
    cpu_began_ = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  }
  InsideClock(const InsideClock&) = delete;
  InsideClock& operator=(const InsideClock&) = delete;
  ~InsideClock() {
    if (sum_ == nullptr) return;
    sum_->cpu_nanoseconds += nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_began_;
    sum_->nanoseconds += nanoseconds_of(CLOCK_MONOTONIC) - began_;
  }

 private:
  InsideTime* sum_;
  int64_t began_ = 0;
  int64_t cpu_began_ = 0;
};

}  // namespace mpsprobe

#include "scenarios/threads/perturbation.h"

#include <algorithm>
#include <thread>

namespace mpsprobe {
namespace {

using Clock = Perturbation::Clock;
using std::chrono::microseconds;

// The meeting lies this far ahead of the last arrival: more than the others need to see it.
constexpr microseconds kLead{3};
// The last part of a wait spins without yielding: a yield costs about as much.
constexpr microseconds kSpin{20};
// Delays are swept through 0 and powers of two, of 100 ns: an operation on the host takes between
// tens of nanoseconds and hundreds of microseconds, and it is not known which.
constexpr uint64_t kDelays = 12;
constexpr std::chrono::nanoseconds kDelayUnit{100};
// A thread stands still for 1, 2, 4, 8 or 16 ms: cells are over in tens of milliseconds.
constexpr uint64_t kLengths = 5;
constexpr uint32_t kSurely = 256;
constexpr uint32_t kLeastPatience = 32;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): mixes a counter to independent bits.
uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

std::chrono::nanoseconds swept_delay(uint64_t seed, int thread, uint64_t number) {
  // Strides that differ: in the course of the iterations, each thread is ahead of each other.
  const auto own = static_cast<uint64_t>(thread);
  const uint64_t step = (mixed(seed ^ own) + number * (own + 1)) % kDelays;
  return kDelayUnit * (step == 0 ? 0 : int64_t{1} << (step - 1));
}

void spin_until(Clock::time_point moment) {
  for (Clock::time_point now = Clock::now(); now < moment; now = Clock::now()) {
    if (moment - now > kSpin) std::this_thread::yield();
  }
}

struct Attending {
  Perturbation* perturbation = nullptr;
  int thread = 0;
  uint64_t launches = 0;
  uint64_t places = 0;
};
thread_local Attending tl_attending;

}  // namespace

Perturbation::Perturbation(Perturb kind, int threads, uint64_t seed)
    : kind_(kind),
      threads_(threads),
      seed_(mixed(seed)),
      attending_(threads),
      patience_(static_cast<size_t>(threads)) {
  for (std::atomic<uint32_t>& patience : patience_) patience.store(kSurely);
}

Perturbation::Attendance::Attendance(Perturbation& perturbation, int thread)
    : perturbation_(perturbation) {
  tl_attending = {&perturbation, thread, 0, 0};
}

Perturbation::Attendance::~Attendance() {
  tl_attending = {};
  perturbation_.attending_.fetch_sub(1, std::memory_order_acq_rel);
}

void Perturbation::before_launch() {
  Attending& self = tl_attending;
  switch (kind_) {
    case Perturb::none:
      return;
    case Perturb::clock:
      return meet(self.thread, ++self.launches);
    case Perturb::starve:
      return stand_still(self.thread);
    case Perturb::trap:
      // Where nobody calls from within the launch, its beginning has to do.
      if (has_inside_.load(std::memory_order_relaxed)) return;
      return lie_in_wait(self.thread, ++self.places);
  }
}

void Perturbation::before_wait() {
  if (kind_ == Perturb::starve) stand_still(tl_attending.thread);
}

void Perturbation::inside() {
  if (kind_ == Perturb::starve) stand_still(tl_attending.thread);
  if (kind_ != Perturb::trap) return;
  has_inside_.store(true, std::memory_order_relaxed);
  lie_in_wait(tl_attending.thread, ++tl_attending.places);
}

void Perturbation::meet(int thread, uint64_t number) {
  const Clock::time_point bound = Clock::now() + kMeetingBound;
  {
    const std::lock_guard<std::mutex> lock(meeting_mutex_);
    if (number < meeting_.number) return;  // the others have gone on
    if (number > meeting_.number) meeting_ = {number, 0};
    if (++meeting_.arrived >= attending_.load(std::memory_order_acquire)) {
      agreed_.store((Clock::now() + kLead).time_since_epoch().count(), std::memory_order_relaxed);
      agreed_number_.store(number, std::memory_order_release);
    }
  }
  while (agreed_number_.load(std::memory_order_acquire) < number) {
    if (Clock::now() > bound) return;
    std::this_thread::yield();
  }
  const Clock::time_point agreed{Clock::duration(agreed_.load(std::memory_order_relaxed))};
  spin_until(std::min(agreed, bound) + swept_delay(seed_, thread, number));
}

void Perturbation::stand_still(int thread) {
  // All threads compute the same course of victims: the n-th stands still for a time that is drawn,
  // and as long again nobody does.
  Clock::duration at = Clock::now() - begin_;
  for (uint64_t turn = 0;; ++turn) {
    const uint64_t drawn = mixed(seed_ + turn);
    const Clock::duration length = std::chrono::milliseconds(int64_t{1} << (drawn % kLengths));
    if (at < length) {
      const auto victim = static_cast<int>((drawn >> 32) % static_cast<uint64_t>(threads_));
      if (victim == thread) std::this_thread::sleep_for(length - at);
      return;
    }
    at -= 2 * length;
    if (at < Clock::duration::zero()) return;
  }
}

void Perturbation::lie_in_wait(int thread, uint64_t number) {
  const uint64_t place = came_.fetch_add(1, std::memory_order_acq_rel) + 1;
  const auto own = static_cast<uint64_t>(thread);
  const uint64_t drawn = mixed(seed_ ^ mixed(own) ^ (number << 8));
  std::atomic<uint32_t>& patience = patience_[static_cast<size_t>(thread)];
  if (drawn % kSurely >= patience.load(std::memory_order_relaxed)) return;
  // Some objects break at the second thread, others only at a later one.
  const uint64_t others =
      threads_ < 2 ? 0 : 1 + (drawn >> 32) % static_cast<uint64_t>(threads_ - 1);
  const Clock::time_point bound = Clock::now() + kTrapBound;
  while (came_.load(std::memory_order_acquire) < place + others) {
    if (Clock::now() > bound || attending_.load(std::memory_order_acquire) < 2) {
      patience.store(std::max(patience.load(std::memory_order_relaxed) / 2, kLeastPatience),
                     std::memory_order_relaxed);
      return;
    }
    std::this_thread::yield();
  }
  patience.store(kSurely, std::memory_order_relaxed);
}

void hold_inside() {
  if (tl_attending.perturbation != nullptr) tl_attending.perturbation->inside();
}

}  // namespace mpsprobe

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "scenarios/selftest/misbehaviour.h"

// What several threads do to the same objects, with a guard or without: what ThreadSanitizer must
// report, and what it must not. In a namespace that is not the project's own, since a race of the
// project's code is never laid to a library, and that is not anonymous: gcc names its members
// without their classes.
namespace planted {

constexpr int kTimes = 20'000;  // long enough for threads to meet

class Registry {
 public:
  [[gnu::noinline]] static Registry* instance() {
    if (only == nullptr) only = new Registry;
    return only;
  }
  [[gnu::noinline]] static Registry* locked_instance() {
    static std::mutex making;
    const std::lock_guard<std::mutex> lock(making);
    static Registry* const made = new Registry;
    return made;
  }
  [[gnu::noinline]] void add(int value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_.push_back(value);
  }

 private:
  static Registry* only;
  std::mutex mutex_;
  std::vector<int> values_;
};

Registry* Registry::only = nullptr;

struct Counter {
  [[gnu::noinline]] void add() { count = count + 1; }
  long count = 0;
};

struct Samples {
  [[gnu::noinline]] void release() {
    delete[] numbers;
    released.store(true, std::memory_order_relaxed);  // says so, and orders nothing
  }
  [[gnu::noinline]] long sum() const { return numbers[0] + numbers[1]; }
  long* numbers = new long[2]{1, 2};
  std::atomic<bool> released{false};
};

// What it makes is left alone: its lock would put the threads in an order, and hide the race.
void unguarded_registry(int, int) {
  Registry::instance();
}

void locked_registry(int thread, int) {
  for (int i = 0; i < kTimes; ++i) Registry::locked_instance()->add(thread);
}

void unguarded_count(int, int) {
  static Counter counter;
  for (int i = 0; i < kTimes; ++i) counter.add();
}

void released_in_use(int thread, int) {
  static Samples samples;
  if (thread == 0) samples.release();
  if (thread != 1) return;
  while (!samples.released.load(std::memory_order_relaxed)) {
  }
  if (samples.sum() < 0) std::abort();  // uses what it read
}

namespace {

constexpr std::array kRaces{
    mpsprobe::Misbehaviour{"racy_singleton",
                           "all threads ask at once for what the first makes, unguarded", nullptr,
                           mpsprobe::Stage::launch, unguarded_registry},
    mpsprobe::Misbehaviour{"racy_counter", "all threads add to a number, unguarded", nullptr,
                           mpsprobe::Stage::launch, unguarded_count},
    mpsprobe::Misbehaviour{"use_after_release", "a thread reads what another has given back",
                           nullptr, mpsprobe::Stage::launch, released_in_use},
    mpsprobe::Misbehaviour{"locked_singleton",
                           "the same as racy_singleton under a lock: nothing is wrong", nullptr,
                           mpsprobe::Stage::launch, locked_registry},
};

}  // namespace

std::span<const mpsprobe::Misbehaviour> racing() {
  return kRaces;
}

}  // namespace planted

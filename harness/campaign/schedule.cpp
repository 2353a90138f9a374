#include "harness/campaign/schedule.h"

#include <numeric>
#include <random>
#include <utility>

namespace mpsprobe {
namespace {

/// Uniform in [0, bound). std::uniform_int_distribution may differ between standard libraries.
uint64_t below(std::mt19937_64& random, uint64_t bound) {
  const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    const uint64_t value = random();
    if (value < limit) return value % bound;
  }
}

}  // namespace

Schedule::Schedule(size_t units, size_t trials, uint64_t seed)
    : units_(units), trials_(trials), random_(seed), order_(units) {
  shuffle();
}

void Schedule::shuffle() {
  std::iota(order_.begin(), order_.end(), 0U);
  for (size_t i = units_; i > 1; --i) std::swap(order_[i - 1], order_[below(random_, i)]);
}

std::optional<Slot> Schedule::next() {
  if (place_ == units_) {
    if (units_ == 0 || trial_ + 1 >= trials_) return std::nullopt;
    ++trial_;
    place_ = 0;
    shuffle();
  }
  return Slot{order_[place_++], static_cast<uint32_t>(trial_)};
}

}  // namespace mpsprobe

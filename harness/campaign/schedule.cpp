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

std::vector<Slot> make_schedule(size_t units, size_t trials, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> order(units);
  std::vector<Slot> schedule;
  schedule.reserve(units * trials);
  for (size_t trial = 0; trial < trials; ++trial) {
    std::iota(order.begin(), order.end(), 0U);
    for (size_t i = units; i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
    for (uint32_t unit : order) schedule.push_back({unit, static_cast<uint32_t>(trial)});
  }
  return schedule;
}

}  // namespace mpsprobe

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace mpsprobe {

/// One trial of the schedule: which worker and cell (index = worker * cells + cell), which trial.
struct Slot {
  uint32_t unit = 0;
  uint32_t trial = 0;
  uint64_t place = 0;  ///< among all that a campaign runs; the campaign's to say
};

/// The order of a campaign: one round a trial, and in each round every unit once, in an order drawn
/// from `seed`. So the machine's drift (heat, other load) spreads over all cells instead of looking
/// like a boundary. The same arguments give the same order on every system: the generator is
/// std::mt19937_64, whose output the standard fixes, and the shuffle is Fisher-Yates with
/// rejection. One round is kept at a time. Not thread safe.
class Schedule {
 public:
  Schedule(size_t units, size_t trials, uint64_t seed);

  size_t size() const { return units_ * trials_; }  ///< slots altogether
  std::optional<Slot> next();                       ///< nothing behind the last one

 private:
  void shuffle();

  size_t units_;
  size_t trials_;
  std::mt19937_64 random_;
  std::vector<uint32_t> order_;  ///< of the round
  size_t trial_ = 0;
  size_t place_ = 0;  ///< in the round
};

}  // namespace mpsprobe

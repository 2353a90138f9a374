#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpsprobe {

/// One trial of the schedule: which worker and cell (index = worker * cells + cell), which trial.
struct Slot {
  uint32_t unit = 0;
  uint32_t trial = 0;
};

/// The order of a campaign: one round a trial, and in each round every unit once, in an order drawn
/// from `seed`. So the machine's drift (heat, other load) spreads over all cells instead of looking
/// like a boundary. The same arguments give the same order on every system: the generator is
/// std::mt19937_64, whose output the standard fixes, and the shuffle is Fisher-Yates with
/// rejection.
std::vector<Slot> make_schedule(size_t units, size_t trials, uint64_t seed);

}  // namespace mpsprobe

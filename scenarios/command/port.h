#pragma once

#include <cstdint>

namespace mpsprobe {

/// The first of as many successive ports of TCP as a trial has processes, on which nobody listens.
/// All processes of a trial find the same one: they begin to look at a place that the trial's seed
/// gives, and none of them listens before all have looked. Throws SetupError where none are free.
int free_ports(uint64_t seed, int processes);

}  // namespace mpsprobe

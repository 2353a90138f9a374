#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpsprobe {

/// What all that is printed calls gone, fixed, needed or the like in a world where nothing is: on
/// the newer of two builds, with a lock, in processes and after a night each rate is 1 to 10% of
/// what it was. The run of both builds in every format, the comparison of two runs, and what a
/// known failure comes to; each line with such a word. Reproducible by `seed`.
std::vector<std::string> absences_claimed(uint64_t seed);

}  // namespace mpsprobe

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/cell.h"

namespace mpsprobe {

/// What both the analysis and its writers say in the same words. Plain text without markup.

/// "out of memory" for out_of_memory.
std::string words(std::string_view name);

/// What a group of cells is: operation and path first, then every axis that is not at its default:
/// "linear nograph, lock=forward". Axes named in `without` are left out; backend always is.
std::string cell_label(const Cell& cell, const std::vector<std::string_view>& without);

/// "1 thread", "2 threads", "8 processes": the one rule for numbers beside nouns.
std::string counted(int64_t count, std::string_view plural);
template <std::unsigned_integral Count>
std::string counted(Count count, std::string_view plural) {
  return counted(static_cast<int64_t>(count), plural);
}

/// "43 s", "2:23 min", "1:02 h".
std::string duration_in_words(double seconds);

}  // namespace mpsprobe

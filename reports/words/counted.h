#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpsprobe {

/// "1 thread", "2 threads", "8 processes": the one rule for numbers beside nouns.
std::string counted(int64_t count, std::string_view plural);
template <std::unsigned_integral Count>
std::string counted(Count count, std::string_view plural) {
  return counted(static_cast<int64_t>(count), plural);
}

/// The first of them, and how many more there are: "a; b; 3 more".
std::string some_of(const std::vector<std::string>& items, size_t most,
                    std::string_view separator = ", ");

/// "a, b": those that are not empty.
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

/// The first and last of each run of consecutive numbers: of 1, 2, 3, 8 these are 1-3 and 8-8.
std::vector<std::pair<int, int>> runs_of(std::vector<int> numbers);

/// "43 s", "2:23 min", "1:02 h".
std::string duration_in_words(double seconds);

}  // namespace mpsprobe

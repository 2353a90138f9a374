#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "harness/outcome/patterns.h"

namespace mpsprobe {

/// A pattern whose fragments were all seen: from the first of them to the last. Places in
/// normalised text.
struct Match {
  const Pattern* pattern = nullptr;
  size_t begin = 0;
  size_t end = 0;
};

/// All matches of all patterns in normalised text, by where they begin. One pass: a table step a
/// character, and a step for each pattern that waits for a fragment found. Adds the steps to
/// `work`.
std::vector<Match> find_patterns(std::string_view text, size_t& work);

}  // namespace mpsprobe

#pragma once

#include <string>

#include "harness/statistics/fisher.h"
#include "harness/wire/cell.h"

namespace mpsprobe {

/// What is known of one cell on one worker while a campaign chooses its trials by their results.
struct SeenCell {
  std::string worker;
  Cell cell;
  Proportion seen;         ///< trials that count: passes and failures
  int others = 0;          ///< trials that say nothing of the cell, or were refused
  bool if_failed = false;  ///< asked where a cell like it failed (following.h)

  /// A trial of it ended; `counts` where it passed or failed.
  void add(bool counts, bool fails) {
    ++(counts ? seen.trials : others);
    if (counts && fails) ++seen.failures;
  }
};

}  // namespace mpsprobe

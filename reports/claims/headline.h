#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What a headline's lines are at most, in columns; a build has at most two.
constexpr size_t kHeadlineWidth = 100;

/// What one build came to.
struct Headline {
  std::vector<AnswerLine> lines;  ///< what is worst, then what is safe and how sure
  std::string fewest;   ///< the fewest threads or processes that fail, where a line has no room
  bool fails = false;   ///< in some cell, as far as that was asked
  bool tested = false;  ///< at least one trial counts
};

/// "MLX 0.31.1: lazy, 4 threads: of 10 trials 6 wrong numbers, 1 crash, 3 refused; 52 of 90 cells
/// fail." and "No failure in 38 of 90 cells (0 of 380 trials); each below 52% ...". Made from the
/// counts of single cells: the cell that fails most often stands first, then, where there is room,
/// the fewest threads that fail, the other axis and other kinds of failure, each with its counts.
/// Nothing is added up but passes. The bound holds over all cells that the run tested. `cells` are
/// those of one arm, at least one. Plain text.
Headline headline_of(const Analysis& analysis, const std::vector<const CellSummary*>& cells);

/// "of 10 trials 6 wrong numbers, 1 crash, 3 refused": of one cell.
std::string trials_in_words(const CellSummary& cell);

/// "lazy, 4 threads", "mlp, lock=forward, 2 processes": a cell without what all have in common, and
/// without what no sentence has room for.
std::string cell_in_words(const Analysis& analysis, const CellSummary& cell);

}  // namespace mpsprobe

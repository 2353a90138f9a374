#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What one build came to.
struct Headline {
  std::vector<AnswerLine> lines;  ///< what is worst, where else, what is safe and how sure
  bool fails = false;             ///< in some cell, as far as that was asked
  bool tested = false;            ///< at least one trial counts
};

/// "MLX 0.31.1: lazy, 4 threads: of 10 trials 6 wrong numbers, 1 crash, 3 refused; 52 of 90 cells
/// fail.", "MLX 0.31.1, fewest: lazy, 2 threads (3 of 10); also 4 processes (1 of 10)." and "No
/// failure in 38 of 90 cells (0 of 380 trials); each below 52% ...". Made from the counts of single
/// cells: the cell that fails most often stands first, then the fewest threads that fail, the other
/// axis and what was refused. Nothing is added up but passes. The bound holds over all cells that
/// the run tested. Nothing of a build that nothing counts of. Plain text.
Headline headline_of(const Analysis& analysis, size_t arm);

/// Of somebody's own command that starts as many threads as it likes nothing is said of threads.
bool counts_threads(const Analysis& analysis);

/// "lazy, 4 threads", "mlp, lock=forward, 2 processes": a cell without what all have in common, and
/// without what no sentence has room for.
std::string cell_in_words(const Analysis& analysis, const CellSummary& cell);

}  // namespace mpsprobe

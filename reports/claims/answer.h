#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The first thing that a report says. Where the matrix states expectations: how many cells came
/// out as expected. Else from how many threads it fails, whether a lock and processes help and what
/// a lock costs; for several workers what differs between them. Derived from the rest of the
/// analysis, which must be complete; the same for every matrix.
Answer find_answer(const Analysis& analysis);

/// The answer as a table: kinds of cell by build, with the counts of single cells ("10 crashes in
/// 10 at 4; 7 crashes in 10 at 2; none at 1 (0/10 < 31%)"), what fails most often first. Of a
/// campaign that settles each begins with the place that it came to. Kinds that came out alike in
/// every cell and build share a row, which says so ("each"). Plain text.
AnswerTable find_answer_rows(const Analysis& analysis);

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

/// What a reader asks after the answer: how far it was tried; where something failed, how it is
/// seen again, and, unless it is simulated, how whoever maintains the library is told. One sentence
/// each. RUN stands for the folder of the run, which a journal does not know. Needs `arms`,
/// `cells`, `rate_claims` and `left_out` of the analysis. Plain text.
std::vector<std::string> next_steps(const Analysis& analysis);

}  // namespace mpsprobe

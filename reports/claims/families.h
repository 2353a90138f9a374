#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// Cells that differ in how many threads or processes they have, and in the arm, alone.
struct Family {
  std::string label;  ///< what they are, without what all cells of the run have in common
  std::string axis;   ///< "threads" or "processes"
  /// Of each arm, ascending; pointers into the analysis. Empty where the arm has none.
  std::vector<std::vector<const CellSummary*>> by_arm;
};

/// All cells of the run by family, in the order of the plan. The analysis must outlive them.
std::vector<Family> families_of(const Analysis& analysis);
/// The same of some of its cells.
std::vector<Family> families_of(const Analysis& analysis,
                                const std::vector<const CellSummary*>& cells);

/// How many threads, or processes, the cell has.
int32_t count_in(const Family& family, const CellSummary& cell);

/// How trials of the cell failed, the worst kind first: "1 crash", "6 wrong numbers", "2 crashes at
/// the interpreter's end" where all of a kind came in one phase after the work.
std::vector<std::string> failures_in_words(const Analysis& analysis, const CellSummary& cell);

/// Whether the cell fails, as far as that was asked: with a failure, or, of a campaign that
/// settles, at the rate that was asked for or more.
bool fails(const Analysis& analysis, const CellSummary& cell);

}  // namespace mpsprobe

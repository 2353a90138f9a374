#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// Kinds of failure, the worst first.
enum class Harm : uint8_t {
  crashes,
  ends_early,
  hangs,
  wrong_numbers,
  data_races,
  gpu_errors,
  out_of_memory,
  throws,
  breaks_rules  ///< the caller did, and not the library
};
constexpr size_t kHarms = 9;
/// "1 crash", "6 wrong numbers".
std::string in_words(Harm harm, int trials);

/// The trials of a cell that failed so.
int trials_with(const CellSummary& cell, Harm harm);

/// The phase in which all trials of these cells failed that failed so, if it is one after the work:
/// tear-down, or an interpreter's end. Else nothing.
std::optional<Phase> phase_after_work(const std::vector<const CellSummary*>& cells, Harm harm);

/// Whether the cell fails, as far as that was asked: with a failure, or, of a campaign that
/// settles, at the rate that was asked for or more.
bool fails(const Analysis& analysis, const CellSummary& cell);

}  // namespace mpsprobe

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
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

/// How many threads, or processes, the cell has.
int32_t count_in(const Family& family, const CellSummary& cell);

/// What failures are called for people: "crashes", "hangs", "wrong numbers", the worst first.
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
std::string_view in_words(Harm harm);

/// The trials of a cell that failed so.
int trials_with(const CellSummary& cell, Harm harm);

/// The phase in which all trials of these cells failed that failed so, if it is one after the work:
/// tear-down, or an interpreter's end. Else nothing.
std::optional<Phase> phase_after_work(const std::vector<const CellSummary*>& cells, Harm harm);

/// The places that a campaign which settles came to: which failures are strays below them.
class SettledPlaces {
 public:
  explicit SettledPlaces(const Analysis& analysis);

  /// Whether the cell fails, as far as that was asked: with a failure, or, of a campaign that
  /// settles, at or above the place where failures begin.
  bool fails(const CellSummary& cell) const;

 private:
  const Analysis& analysis_;
  /// By arm, axis and group.
  std::map<std::tuple<std::string, std::string, std::string>, std::optional<int32_t>> places_;
};

}  // namespace mpsprobe

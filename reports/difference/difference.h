#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/statistics/fisher.h"
#include "harness/wire/enum_words.h"
#include "reports/difference/run_facts.h"

namespace mpsprobe {

enum class Change : uint8_t {
  new_failure,  ///< none of its trials failed before
  none_seen,    ///< it failed before, and none of its trials did now
  more_often,
  less_often,
  new_signature,     ///< it failed before, never like this
  signature_unseen,  ///< it still fails, and none like this was seen
  refused,           ///< the library refuses it more often than before
  refused_less,      ///< ... less often than before
  unclear,           ///< one side failed, and chance may have spared the other
};

/// What programs read.
template <>
inline constexpr auto kWordsOf<Change> = std::to_array<std::string_view>(
    {"new", "none_seen", "more_often", "less_often", "new_signature", "signature_unseen", "refused",
     "refused_less", "unclear"});

/// A cell, or one signature in it, that differs.
struct CellChange {
  Change change = Change::unclear;
  std::string arm;
  std::string cell;
  std::string title;  ///< of a change of signatures, else the most frequent one of the failing side
  Proportion before;  ///< of `refused` and `refused_less` refusals among all answers
  Proportion after;
  double p = 1;                    ///< that both have one rate (equality_p_value)
  double corrected_p = 1;          ///< for the false discovery rate over all that were tested
  std::optional<int> more_trials;  ///< of each side, for `unclear`, at the rates seen
  bool simulated = false;
};

/// What is claimed of two runs, and what cannot be told.
struct Difference {
  std::vector<CellChange> changes;  ///< surest first
  std::vector<CellChange> unclear;
  std::vector<std::string> came;        ///< cells with results only after, by arm and cell
  std::vector<std::string> went;        ///< only before
  std::vector<std::string> unexpected;  ///< cells that are not as the matrix expects, after
  int compared = 0;                     ///< cells with results, or refused, on both sides
  int tested = 0;                       ///< tests that the correction is for
  bool simulated = false;
};

/// The share of false claims that is allowed.
constexpr double kFalseDiscoveries = 0.05;

/// In what two runs are unlike, as sentences. Runs that are simulated and runs that are not are
/// never alike.
struct Unlike {
  std::vector<std::string> machines;
  std::vector<std::string> libraries;
  std::vector<std::string> code;  ///< of somebody's own: one name of a cell, two programs
  bool device_class = false;
};
Unlike unlike(const RunFacts& before, const RunFacts& after);

/// Compares cell by cell, arms of the same name, or else the only one of each run. A cell is tested
/// where something failed on either side; where both failed, each of its signatures is as well. The
/// test takes the number of failures as given, so that the others could claim nothing. What a
/// library refuses is neither: where it refused on either side, that is a test of its own. Pure.
Difference compare_runs(const RunFacts& before, const RunFacts& after);

}  // namespace mpsprobe

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/difference/run_facts.h"
#include "reports/expectations/expectations.h"

namespace mpsprobe {

/// How a known failure stands after a run.
enum class EntryStanding : uint8_t {
  as_known,    ///< seen as often as it is known, as far as can be told
  more_often,  ///< the rate rose (weigh_nights)
  less_often,  ///< the rate fell
  silent,      ///< not seen this time, which its rate permits
  unseen,      ///< not seen for so long that its rate is bounded away (chance_gone)
  not_run,     ///< no trial of its cells counts
};

template <>
inline constexpr auto kWordsOf<EntryStanding> = std::to_array<std::string_view>(
    {"as_known", "more_often", "less_often", "silent", "unseen", "not_run"});

struct JudgedEntry {
  size_t entry = 0;  ///< index into the known failures
  EntryStanding standing = EntryStanding::not_run;
  Proportion tonight;     ///< of its cells in this run
  Proportion further;     ///< of all nights that its record does not count yet, with this one
  std::string last_seen;  ///< start of the last run that saw it
  std::string since;      ///< start of the run since which it fails more or less often
  Proportion since_then;  ///< of these runs
  bool expired = false;   ///< its review_by is before this run
};

/// A failure of a cell that no entry knows: one is enough, since signatures differ.
struct UnknownFailure {
  std::string arm;
  std::string cell;
  std::string signature;
  Proportion seen;
  bool simulated = false;
  bool otherwise_known = false;  ///< the cell is known to fail, but in another way
};

/// What a run's results come to beside what is known.
struct Findings {
  /// That concern this run, in the order of the file: those that match a cell of its plan, or name
  /// its matrix.
  std::vector<JudgedEntry> entries;
  std::vector<UnknownFailure> unknown;  ///< by arm and cell
  int expected = 0;                     ///< failing trials that entries know
};

/// Judges a run. Of entries that know a failure of a cell equally well, the first has it. `earlier`
/// are runs on the same machine, in any order; those that did not start after this one, and after
/// the time up to which an entry counts what was seen, are evidence of it, as far as they ran the
/// same cells of the same worker on a device of the same class. Pure.
Findings judge_expectations(const std::vector<KnownFailure>& known, const RunFacts& run,
                            const std::vector<RunFacts>& earlier);

}  // namespace mpsprobe

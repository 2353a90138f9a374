#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reproducers/bundle/bundle_record.h"

namespace mpsprobe {

/// What a cell, or the whole bundle, comes to in a run of the bundle's cells.
enum class RecheckFinding : uint8_t {
  still_fails,      ///< today's arm fails with the bundle's signature
  fails_otherwise,  ///< it fails, with another one
  none_seen,        ///< the old arm failed again in this run, and none of the new one: no chance
  inconclusive,     ///< nothing fails today, and no more than that is known
  as_before,        ///< a cell that had not failed with the signature, and does not
};
template <>
inline constexpr auto kWordsOf<RecheckFinding> = std::to_array<std::string_view>(
    {"still_fails", "fails_otherwise", "none_seen", "inconclusive", "as_before"});

/// One cell on one arm of the run. Never added up with another arm's, or with the bundle's.
struct ArmNow {
  size_t summary = 0;           ///< index into Analysis::cells
  Proportion same;              ///< failures with the bundle's signature, of all that count
  int otherwise = 0;            ///< failures with another one
  std::string other_signature;  ///< the most frequent of these
};

/// One cell of the bundle, before and now. Today's arm is the new one where there is one.
struct RecheckedCell {
  BundleCell before;              ///< of the build that ran again, where one did
  std::optional<ArmNow> old_arm;  ///< the bundle's build
  std::optional<ArmNow> new_arm;  ///< another one
  RecheckFinding finding = RecheckFinding::inconclusive;
  std::vector<std::string> reasons;  ///< of `inconclusive`, in words
};

struct BundleVerdict {
  RecheckFinding finding = RecheckFinding::inconclusive;
  std::vector<std::string> reasons;  ///< of `inconclusive`, each once
  std::string other_signature;       ///< of `fails_otherwise`
  std::optional<int> trials_needed;  ///< a side, of a new run, where trials were too few
  std::vector<RecheckedCell> cells;  ///< in the order of the bundle, each cell once
};

/// Whether a title of today's run would stand in a bundle as `in_bundle`, without personal data.
using SameTitle = std::function<bool(const std::string& today, const std::string& in_bundle)>;

/// What the run says of the bundle: whether the bundle's failure came again, and what the run's own
/// comparison of its builds (Analysis::comparisons) permits to be said where it did not. A cell
/// that failed before is `none_seen` where an old arm failed in this same run with the bundle's
/// signature, the new one did not fail, the exact test of the two is below kClaimLevel divided by
/// the number of such cells, and nothing stands against it; the bundle is where each of them is.
/// Pure where `same_title` is.
BundleVerdict verdict_of(const BundleRecord& record, const Analysis& analysis,
                         const SameTitle& same_title);

/// Whether a worker, by its answer to `describe`, loads the build of a cell that failed in the
/// bundle. `system` is what it runs on (system_of).
bool loads_the_bundles_build(const BundleRecord& record, const nlohmann::json& describe,
                             const std::string& system);

/// "macOS 15.7.9 (24G830)", of a campaign's machine facts; "" where they do not tell.
std::string system_of(const nlohmann::json& facts);
std::string system_of(const BundleMachine& machine);

/// How many trials a cell and arm take to conclude about these cells: those that a difference as
/// large as the bundle's is seen with nine times in ten, but from kFewestTrials, since a rate of 10
/// in 10 is not 100%, to kMostDefaultTrials. Pure.
inline constexpr int kFewestTrials = 20;
inline constexpr int kMostDefaultTrials = 200;
int default_trials(const std::vector<BundleCell>& cells);

/// "SIMULATED: still fails", "none seen (below 17%), and the old build failed again",
/// "inconclusive: the old arm was not run again". The title of another failure as it came.
std::string in_words(const BundleVerdict& verdict, const BundleRecord& record,
                     const Analysis& analysis);

/// For a terminal: printable text that ends with the verdict. `not_set` names variables that the
/// bundle's run set and this one did not. Pure.
std::string verdict_text(const BundleVerdict& verdict, const BundleRecord& record,
                         const Analysis& analysis, const std::vector<std::string>& not_set);

/// For programs: {"mpsprobe_verify": 3, "finding": "none_seen", ...}, documented in docs/filing.md.
nlohmann::ordered_json verdict_json(const BundleVerdict& verdict, const BundleRecord& record,
                                    const Analysis& analysis,
                                    const std::vector<std::string>& not_set);

/// Keeps the bytes of a verdict inside its bundle, in the folder `verified`, which no manifest
/// lists, named by the time that the run began. Returns that folder. Throws ReportError where it
/// cannot, or where the folder is a link: a bundle from elsewhere must not say where to write.
std::filesystem::path keep_verdict(const std::filesystem::path& bundle, const std::string& started,
                                   const std::string& json);

}  // namespace mpsprobe

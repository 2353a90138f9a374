#pragma once

#include <string>
#include <vector>

#include "reports/groups/failure_groups.h"
#include "reproducers/bundle/bundle_record.h"
#include "reproducers/bundle/evidence.h"

namespace mpsprobe {

/// Trials of one cell and arm, as far as one signature is concerned.
struct CellCount {
  const CellSummary* summary = nullptr;  ///< points into the analysis
  int failures = 0;                      ///< by this signature
  int otherwise = 0;                     ///< by another
  Interval rate;                         ///< of those failures, see Analysis::sampling
  bool control = false;  ///< differs in one axis from a cell that failed, and never failed
};

/// One signature, with everything that a bundle says of it. Refers to the evidence, which must
/// outlive it.
struct BundleFinding {
  const Evidence* evidence = nullptr;
  const SignatureGroup* group = nullptr;
  std::string raw_title;         ///< as measured: for the user's own screen alone
  std::vector<CellCount> cells;  ///< those that failed first, fewest threads first; then the others
  std::vector<const TrialRecord*> trials;   ///< all of `cells`
  std::vector<const SignatureGroup*> with;  ///< those that this bundle stands for as well
  Reproduction reproduction;
  bool simulated = false;
  bool paravirtual = false;
  std::string watermark;  ///< marks everything that was made from simulated evidence, or nothing

  const CellCount& smallest() const { return cells.front(); }
  const Arm& arm() const { return evidence->analysis.arms[smallest().summary->arm]; }
  /// A machine fact, "" where the run does not tell.
  std::string machine(const char* fact) const;
};

/// The other signatures of which a bundle of this one tells: those that were seen nowhere but in
/// its operations, or in operations of their groups, which need the same conditions.
std::vector<const SignatureGroup*> seen_with(const Analysis& analysis, const FailureGroups& groups,
                                             const SignatureGroup& signature);

/// Gathers what the evidence says of a signature; the reproduction is left empty.
BundleFinding find(const Evidence& evidence, const SignatureGroup& group, std::string raw_title);

/// Trials of one cell that was checked for misuse, by Metal's validation or by the observer, and
/// has the backend, operation and path of the failure.
struct CheckedCount {
  const Cell* cell = nullptr;  ///< the journal's
  int trials = 0;              ///< that count
  int proved = 0;              ///< of these, with the banners of the checks in every process
  int same = 0;                ///< that failed by this signature
  int otherwise = 0;           ///< that failed by another: the checks themselves may have objected
  int observed = 0;            ///< in which every process was observed
  uint64_t calls = 0;          ///< observed in those, until each process last told
  int broken = 0;              ///< in which a rule was proved to be broken
  int suspected = 0;           ///< in which one was suspected and none proved
  /// At least as many threads and processes as the failure needs: where it needs several, what
  /// fewer do rules no misuse out.
  bool enough = false;
};
/// In the order of the journal.
std::vector<CheckedCount> count_checked(const BundleFinding& finding);

/// `bundle.json` of the finding.
BundleRecord record_of(const BundleFinding& finding);

}  // namespace mpsprobe

#pragma once

#include <map>
#include <string>

#include "reproducers/minimise/minimise.h"

namespace mpsprobe {

/// Thrown where `run_trial` says that the run has to end now; `minimise` catches it.
struct Stopped {};

/// Runs trials and counts them: what the parts of a minimisation share. Not thread safe.
class Questions {
 public:
  /// All references must outlive it; `minimum.signature` is what counts as the failure.
  Questions(const MinimiseRequest& request, const RunTrial& run_trial,
            const MinimiseObserver& observer, const Minimum& minimum);

  /// One more trial of `cell`, into `tally`, and each that it takes into `spent`; outcomes that are
  /// no evidence are noted there and the trial is repeated. False where none came to a result that
  /// counts: `tally` holds at most kMostWithoutEvidence of them, after which the cell is not tried
  /// again. Throws Stopped.
  bool run(const std::string& asked, const Cell& cell, Tally& tally, int& spent);

  /// Tells the observer.
  void tell(const Reduction& step) const;

  /// The last trial that counted.
  const TrialResult& last() const { return last_; }

  /// Why the cell makes no sense, or "".
  std::string contradiction_of(const Cell& cell) const;

  static constexpr int kMostWithoutEvidence = 5;

 private:
  const MinimiseRequest& request_;
  const RunTrial& run_trial_;
  const MinimiseObserver& observer_;
  const Minimum& minimum_;
  std::map<std::string, int> next_index_;  ///< by cell
  TrialResult last_;
};

}  // namespace mpsprobe

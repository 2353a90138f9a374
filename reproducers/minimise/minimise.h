#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/matrix/operation_info.h"
#include "harness/record/process_record.h"
#include "reproducers/minimise/minimum.h"

namespace mpsprobe {

/// What the minimiser has to know of a trial.
struct TrialResult {
  Outcome outcome = Outcome::not_run;
  std::string signature;  ///< title of a failure
};

/// Runs trial `index` of `cell`: 0, 1, 2 ... for each cell. Nothing: the run has to end now
/// (interrupted, budget over, device lost), and that trial did not happen.
using RunTrial = std::function<std::optional<TrialResult>(const Cell& cell, int index)>;

/// What is told while it goes on; any may be empty.
struct MinimiseObserver {
  /// After each trial: what is being asked ("start cell", "threads 8 -> 4"), and the trials so far.
  std::function<void(const std::string& asked, const Cell&, const Tally&)> on_trial;
  std::function<void(const Minimum&)> on_baseline;  ///< the start cell is known well enough
  std::function<void(const Reduction&)> on_step;
};

struct MinimiseRequest {
  Cell start;
  std::string signature;  ///< to keep; empty: the one that the start cell shows most often
  Operations operations;  ///< of the worker: which cells make sense, what operations are made of
  int most_trials = 300;  ///< of one question
  int patience = 59;      ///< trials of the start cell without its failure before it is given up
  int most_condition_trials = 200;  ///< of each row of the table of conditions
  bool conditions = true;           ///< false: no table; the minimum is still verified
};

/// Reduces a failing cell, one change at a time, to the simplest one that shows the same signature
/// often enough; verifies it with fresh trials; then changes each condition that is left alone.
///
/// A change is kept where Wald's sequential test says so (rate_question.h), of the rate at which
/// the signature occurs; another signature is no success. Axes off their defaults are put back all
/// at once, then by halves (A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing
/// input", IEEE Transactions on Software Engineering 28, 2002); counts are searched for the
/// smallest that fails, and the whole is repeated until nothing changes. What does not hold when it
/// is verified is taken back. A condition that turns out not to be needed is dropped, and the
/// search goes on.
///
/// Deterministic: everything follows from the request and from what `run_trial` returned, in order.
/// So a run is resumed by returning the trials that are recorded and running the others.
/// Calls `run_trial` and the observer on this thread. Fills in all of Minimum but what says where
/// and with what it ran (worker, build, versions, seed, environment, simulated).
Minimum minimise(const MinimiseRequest& request, const RunTrial& run_trial,
                 const MinimiseObserver& observer = {});

}  // namespace mpsprobe

#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/executor/executor.h"
#include "harness/record/trial.h"

namespace mpsprobe {

/// The cell of the process that shows which path `cell` takes, by LibTorch's profile log: what
/// decides the path, on one thread, twice, since a graph is first made and then found. Nothing
/// where the cell asks for no path, or its backend is not observed in this way. What only more than
/// one thread brings about it cannot show.
std::optional<Cell> probe_cell_of(const Cell& cell);

/// Runs trials, and before the first that asks for a path, on a backend that cannot tell it in the
/// trial itself, a process that shows it (probe_cell_of): once for all trials that it speaks of.
/// The log disturbs what is tested, so that a trial never has it. A probe that fails, in whatever
/// way, costs its answer and nothing else. Safe to use from several threads.
class PathProbes {
 public:
  using RunTrial = std::function<TrialRecord(const TrialRequest&)>;

  /// `existing`: of an earlier part of the same run; what it was shown is not asked again.
  PathProbes(RunTrial run, const std::vector<TrialRecord>& existing);

  /// One trial, with what is known of its path (TrialRecord::path_probe).
  TrialRecord run(const TrialRequest& request);

 private:
  using Key = std::pair<std::string, std::string>;  // worker, cell of the probe

  std::optional<PathProbe> probe(const TrialRequest& request);

  RunTrial run_;
  std::mutex mutex_;  // held while a probe runs: who wants the same one waits for it
  std::map<Key, PathProbe> known_;
};

}  // namespace mpsprobe

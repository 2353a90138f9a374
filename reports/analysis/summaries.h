#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/analysis/devices.h"
#include "reports/analysis/trial_facts.h"

namespace mpsprobe {

/// The plan of a journal as summaries without trials, which trials are then added to. Of a plan of
/// more than 10,000 cells only what was run is listed: what was not would hide it.
class Summaries {
 public:
  Summaries(const Journal& journal, const TrialFactsList& trials, const std::vector<Arm>& arms);

  CellSummary& find_or_add(size_t arm, const Cell& cell);
  size_t not_listed() const { return not_listed_; }
  std::vector<CellSummary>& all() { return cells_; }

  /// In the order of the plan; cells that an arm of a divided worker never ran are dropped.
  std::vector<CellSummary> take();

 private:
  std::vector<CellSummary> cells_;
  std::map<std::pair<size_t, std::string>, size_t> index_;
  size_t not_listed_ = 0;
};

/// Adds a trial that counts among the cell's records.
void add_trial(CellSummary& cell, const TrialFacts& trial, const DevicesSaid& devices);

/// What follows from all its trials: verdict, interval, overlap, throughput, expectation.
void conclude(CellSummary& cell, Sampling sampling);

}  // namespace mpsprobe

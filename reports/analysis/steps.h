#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/analysis/devices.h"
#include "reports/analysis/trial_facts.h"

// What analyse() is made of, in its order.

namespace mpsprobe {

/// Which arm every trial of a journal belongs to. An arm is one worker with one build of the
/// library on one device; where a worker's trials differ in that, it has several, and they are kept
/// apart.
struct Arms {
  std::vector<Arm> arms;             ///< those of one worker together, in the order of the plan
  std::vector<uint32_t> of_trial;    ///< by index into the journal's trials
  std::vector<std::string> divided;  ///< workers with more than one arm
};

/// Pure; never throws for what a worker claimed, however odd.
Arms divide_into_arms(const Journal& journal, const TrialFactsList& trials);

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

/// Where the questions of a run with --settle stand: fills in `settling` and the places of
/// `boundaries`. The trials that are missing at the least become planned and missing ones of their
/// cells. Needs `arms`, `cells` and `boundaries`.
void settle(double rate, Analysis& analysis);

/// Everything that limits what a run is worth, gravest first. `divided` names the workers whose
/// trials ran on several builds; `repeated` counts trials that the journal holds twice.
std::vector<Warning> warn(const Journal& journal, const Analysis& analysis,
                          const TrialFactsList& trials, const std::vector<std::string>& divided,
                          int repeated);

}  // namespace mpsprobe

#pragma once

#include <string>
#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// Journals made in memory, for the tests of the reports. Nothing here was measured.
class SampleJournal {
 public:
  SampleJournal();

  /// Plans a cell (text form) for the block that was begun last.
  SampleJournal& block(const std::string& title);
  SampleJournal& plan(const std::string& cell);
  SampleJournal& expect(const Expectation& expectation);  ///< of the cell planned last

  /// Adds `trials` trials of the cell planned last, of which the first `failures` fail as `how`.
  SampleJournal& ran(int trials, int failures = 0, const Judgement& how = segfault(),
                     const std::string& worker = "stock");
  /// Trials that are neither a pass nor a failure.
  SampleJournal& came_to(int trials, Outcome outcome);
  /// A trial whose worker said so that it does not do what the cell asks.
  SampleJournal& unsupported(const std::string& text);
  SampleJournal& left_out(const std::string& cell, const std::string& reason);
  SampleJournal& ended(const std::string& reason = "complete");

  static Judgement segfault();
  static Judgement hang();

  TrialRecord& last() { return journal.trials.back(); }

  Journal journal;
  double operations_per_second = 1000;  ///< of each trial from here on
  std::string provenance = "build-a";   ///< of each trial from here on
  bool overlap = true;                  ///< whether threads meet, from here on

 private:
  Cell last_cell_;
  std::string block_;
  int sequence_ = 0;
};

/// Report 000's tables as the default profile of the simulated device shows them: raw, linear on
/// both paths by threads, linear by processes, 10 trials a cell.
SampleJournal report_000();

}  // namespace mpsprobe

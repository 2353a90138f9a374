#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/process_record.h"
#include "harness/wire/cell.h"

namespace mpsprobe {

/// A known-good cell that was run after a failure, to see whether the device is still well.
struct KnownGood {
  std::string cell;
  int attempts = 0;                    ///< how many it took, at most 3
  Outcome outcome = Outcome::not_run;  ///< of the last attempt
};

/// What a process of its own showed of the path that a cell takes, before its first trial: no
/// trial.
struct PathProbe {
  std::string cell;  ///< that it ran
  std::string path;  ///< "graph", "nograph", or "not observed"
  std::string why;   ///< for people: why it was not observed; else empty
};

/// One run of one cell by one worker, in fresh processes. Raw: stored as it came, once, and never
/// replaced by what is derived from it.
struct TrialRecord {
  std::string worker = "stock";  ///< which build of the library: the name given with --worker
  Cell cell;
  int trial = 0;          ///< 0 to trials-1
  uint64_t seed = 0;      ///< of its inputs; 0: of a journal from before each had its own
  int attempt = 0;        ///< of this trial: above 0 it ran again, alone, after it was a bystander
  uint64_t sequence = 0;  ///< place in the schedule
  std::string before;     ///< the cell that ran on the device before this one; "" for the first
  std::string started;    ///< UTC, "2026-01-31T12:34:56.789Z"
  double seconds = 0;
  Judgement judgement;     ///< of the process that failed first, else of the trial as a whole
  int judged_process = 0;  ///< index into `processes` of the one that the judgement is about
  std::vector<ProcessRecord> processes;
  std::optional<KnownGood> known_good;
  std::optional<PathProbe> path_probe;  ///< the same for all trials that it speaks of
};

}  // namespace mpsprobe

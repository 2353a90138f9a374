#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/executor/worker_starts.h"
#include "harness/journal/journal.h"
#include "harness/process/child.h"
#include "harness/record/trial.h"

namespace mpsprobe {

class CrashReports;
class OutputCheck;
class Symboliser;

/// One trial to run.
struct TrialRequest {
  const WorkerInfo* worker = nullptr;
  Cell cell;
  int trial = 0;
  uint64_t sequence = 0;
  std::string before;  ///< the cell that ran on the device before
  uint64_t seed = 0;   ///< of the inputs (trial_seed.h)
  /// What is likely to run next in this one's place, whose processes may be started ahead.
  struct Following {
    const WorkerInfo* worker = nullptr;
    Cell cell;
  };
  std::optional<Following> following;  ///< nothing: the same again
};

/// Runs trials: spawns the processes of a cell, starts them together, watches over them, judges.
/// Safe to use from several threads, each with its own call of `run`.
class Executor {
 public:
  /// `extra_environment` as given with --env; `interrupted` is watched during a trial;
  /// `crash_reports` finds the system's reports of dead processes, nullptr: none are looked for.
  /// Both must outlive the executor. `start_process`: how processes are started; nothing: in the
  /// quickest way that is proven for the backend.
  Executor(ChildLimits limits, std::vector<std::string> extra_environment,
           const std::atomic<bool>& interrupted, CrashReports* crash_reports = nullptr,
           std::optional<StartProcess> start_process = std::nullopt);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  /// One trial, from spawn to judgement. Never throws for what a worker does; a machine that has no
  /// processes or descriptors left makes it `infrastructure`.
  TrialRecord run(const TrialRequest& request) const;

 private:
  /// Of a process, beside its record: times in seconds since 1970.
  struct Lifespan {
    double launched_at = 0;
    double died_at = 0;
    std::vector<RecorderReading> child_crashes;
  };

  std::vector<ProcessRecord> run_together(const TrialRequest& request, int iteration,
                                          Child::Clock::time_point trial_start) const;
  void check_output(const TrialRequest& request, TrialRecord& trial,
                    Child::Clock::time_point trial_start) const;
  WorkerKind kind_of(const WorkerInfo& worker, const Cell& cell) const;
  void expect_next(const TrialRequest& request, int iteration) const;
  void collect_evidence(const TrialRequest& request, std::vector<ProcessRecord>& records,
                        const std::vector<Lifespan>& lives) const;
  std::string setup_problem(const TrialRequest& request, const ProcessRecord& process) const;

  ChildLimits limits_;
  std::vector<std::string> extra_environment_;
  std::vector<std::string> inherited_;
  const std::atomic<bool>& interrupted_;
  CrashReports* crash_reports_;
  std::unique_ptr<Symboliser> symboliser_;
  std::unique_ptr<WorkerStarts> starts_;
  std::unique_ptr<OutputCheck> output_check_;  ///< of somebody's own command; else none
};

/// Now, in UTC: "2026-01-31T12:34:56.789Z".
std::string utc_now();

}  // namespace mpsprobe

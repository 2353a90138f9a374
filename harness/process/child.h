#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/platform/processor_use.h"
#include "harness/process/capture_buffer.h"
#include "harness/process/spawn.h"
#include "harness/record/process_record.h"
#include "harness/wire/shared_memory.h"

namespace mpsprobe {

/// How long and how much a process may take. Times in seconds.
struct ChildLimits {
  double timeout = 300;          ///< from spawn to end, whatever it does
  double stall = 20;             ///< without progress, once it is past start-up: of the flight
                                 ///< recorder, events, output, or computing a fifth of a processor
  double inquest = 2;            ///< for a hung worker to find out about itself, before SIGTERM
  double grace = 2;              ///< from SIGTERM to SIGKILL
  double reap = 5;               ///< from SIGKILL to giving up on it
  uint64_t memory_bytes = 0;     ///< resident; 0: no limit
  size_t capture_bytes = 32768;  ///< of the head, and again of the tail, of each output stream
  std::vector<std::string> notice;  ///< texts of which the first line is kept wherever it stands
};

/// One process of a trial, from spawn to reap, seen by a single-threaded loop that polls and pumps.
/// However it behaves, no call here blocks, and what it says is only stored, never obeyed.
class Child {
 public:
  using Clock = std::chrono::steady_clock;

  /// Makes the process: `spawn`, or what forks it.
  using Launch = std::function<SpawnResult(const SpawnRequest&)>;

  /// Starts `arguments` as a worker. A process that cannot be started is a finished child whose
  /// record says why. `trial_start` is what ProcessRecord::ended_at counts from. The last variable
  /// of the environment that `launch` gets is the mark of its descendants (descendants.h).
  Child(const std::vector<std::string>& arguments, std::vector<std::string> environment,
        const ChildLimits& limits, Clock::time_point trial_start, const Launch& launch = spawn);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Kills and reaps what still runs.
  ~Child();

  /// Tells one that was started before its cell was known what to do, by a line on its gate. Its
  /// times and limits count from now. False where it has ended meanwhile: it is no part of a trial.
  bool begin(const std::string& line, Clock::time_point trial_start);

  /// When its process was started, and when its part in a trial began: seconds since 1970, by the
  /// clock that the system stamps its crash reports with.
  double launched_at() const { return launched_at_; }
  double begun_at() const { return begun_at_; }

  /// Adds the descriptors that this child wants watched.
  void add_to(std::vector<pollfd>& polled) const;
  /// How soon to call `pump` again even if no descriptor is ready, in milliseconds.
  int patience_ms() const;
  /// Reads what there is, notices progress and death, enforces the limits.
  void pump();

  bool finished() const { return finished_; }
  bool ready() const { return record_.ready; }
  /// Lets it start its run. Without effect on one that has ended.
  void open_gate();
  /// Ends it: SIGTERM, then SIGKILL after the grace. The first reason given is the one that counts.
  /// One that hangs is asked before, where it offers that, for the stacks of its threads.
  void end(EndedBy why);

  /// What is known of it; call once, after `finished()`.
  ProcessRecord take_record();
  /// The crashes of what an own command started (child_crashes.h); call once, after `finished()`.
  std::vector<RecorderReading> take_child_crashes();

 private:
  void start(const std::vector<std::string>& arguments, std::vector<std::string> environment,
             const Launch& launch);
  void forgive_suspension();
  void read_streams();
  void read_events();
  void take_line(std::string_view line);
  void take_observed(const ObservedEvent& observed);
  void enforce_limits();
  void look_at_threads(Clock::time_point now);
  void look_at_processor(Clock::time_point now);
  void note_progress();
  void look_at_descendants();
  bool begin_inquest();
  void kill_at_once();
  void terminate();
  void reap_if_dead();
  void reap();
  void close_channels();
  void signal_group(int signal) const;
  double seconds_since(Clock::time_point when) const;

  ChildLimits limits_;
  Clock::time_point trial_start_;
  Clock::time_point started_;
  Clock::time_point last_progress_;
  Clock::time_point last_thread_look_;
  Clock::time_point last_processor_look_;
  Clock::time_point last_memory_look_;
  Clock::time_point last_pump_;
  double launched_at_;
  double begun_at_;
  std::optional<Clock::time_point> inquest_begun_;
  bool crashed_before_inquest_ = false;
  std::optional<Clock::time_point> term_sent_;
  std::optional<Clock::time_point> kill_sent_;
  std::optional<SharedMemory> memory_;
  uint64_t progress_ = 0;
  int fewest_threads_ = 0;  // seen while it takes itself apart; 0: none yet
  ProcessorUse processor_use_;
  double computed_ = 0;  // seconds of a processor since the last progress
  bool past_gate_ = false;
  uint64_t memory_kills_before_ = 0;
  std::vector<StackSeen> descendants_;  ///< of a hung or slow one: where they are
  std::vector<RecorderReading> child_crashes_;
  std::string mark_;  ///< of what it starts, wherever that goes
  Descriptor out_;
  Descriptor err_;
  Descriptor events_;
  Descriptor gate_;
  CaptureBuffer out_capture_;
  CaptureBuffer err_capture_;
  std::string line_;
  bool line_too_long_ = false;
  ProcessRecord record_;
  bool finished_ = false;
};

}  // namespace mpsprobe

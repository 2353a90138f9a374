#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/crash_report/crash_report.h"
#include "harness/stack/stack.h"
#include "harness/wire/enum_words.h"
#include "harness/wire/event.h"
#include "harness/wire/flight_recorder.h"
#include "harness/wire/start_process.h"

namespace mpsprobe {

/// What one trial, or one process of it, came to.
enum class Outcome : uint8_t {
  pass,
  wrong_result,
  exception,
  assertion,
  signal,
  hang,
  exit,
  missing,
  out_of_memory,
  gpu_error,
  data_race,  ///< ThreadSanitizer reported code under test
  /// The observer proved that the caller broke a rule: a failure of the caller, never of the
  /// framework.
  misuse,
  /// The library said that it will not do this: neither a pass nor a failure.
  refused,
  /// It was still computing at the time limit: slow, not hung, and neither passed nor failed.
  timeout,
  // Never evidence about the product:
  setup_failed,
  unsupported,
  infrastructure,
  not_run,
};

template <>
inline constexpr auto kWordsOf<Outcome> = std::to_array<std::string_view>(
    {"pass", "wrong_result", "exception", "assertion", "signal", "hang", "exit", "missing",
     "out_of_memory", "gpu_error", "data_race", "misuse", "refused", "timeout", "setup_failed",
     "unsupported", "infrastructure", "not_run"});

/// True for every outcome in which the product failed.
bool is_failure(Outcome outcome);
/// True where the outcome counts as a trial of the product: a pass or a failure.
bool is_evidence(Outcome outcome);

/// How a process ended, as the system said it. Exit codes and signals are different types, so that
/// exit(11) and SIGSEGV can never be mistaken for one another.
struct Exited {
  int code = 0;
  friend bool operator==(const Exited&, const Exited&) = default;
};
struct Signaled {
  int signal = 0;
  bool core_dumped = false;
  friend bool operator==(const Signaled&, const Signaled&) = default;
};
/// It never ran: the error of posix_spawn, pipe, memfd_create ...
struct NotSpawned {
  int error = 0;
  std::string what;
  friend bool operator==(const NotSpawned&, const NotSpawned&) = default;
};
/// Still there after SIGKILL and a bounded wait: stuck in the kernel.
struct NotReaped {
  friend bool operator==(const NotReaped&, const NotReaped&) = default;
};
using Termination = std::variant<Exited, Signaled, NotSpawned, NotReaped>;

/// From a wait(2) status.
Termination termination_from_status(int status);

/// Who ended the process, as the runner knows it: it notes the reason before it sends a signal.
enum class EndedBy : uint8_t { nobody, deadline, no_progress, memory_limit, user, cancelled };
template <>
inline constexpr auto kWordsOf<EndedBy> = std::to_array<std::string_view>(
    {"nobody", "deadline", "no_progress", "memory_limit", "user", "cancelled"});

/// What a stream of the child held: the first and the last bytes, and how many there were.
struct Capture {
  std::string head;
  std::string tail;    ///< what followed the head; where bytes were dropped, only the last of it
  uint64_t bytes = 0;  ///< all that were written
  std::vector<std::string> noticed;  ///< lines from the dropped middle that speak of a failure

  uint64_t dropped() const {
    const uint64_t kept = head.size() + tail.size();
    return bytes > kept ? bytes - kept : 0;  // a text may have been replaced by a longer one
  }
  /// Head and tail, with a line between them that says how much is missing.
  std::string text() const;
  /// Head and tail, with `mark` as that line.
  std::string text(std::string_view mark) const;
};

struct Usage {
  double user_seconds = 0;
  double system_seconds = 0;
  uint64_t max_rss_bytes = 0;  ///< of this child alone (wait4), in bytes on every system
};

/// What the observer saw of a process with observe=.
struct Observation {
  uint64_t calls = 0;                   ///< until the process last told
  std::vector<std::string> suspicions;  ///< at most 16; the first ones, in words
};

/// Everything known of one process of a trial: raw, before anything is concluded from it.
struct ProcessRecord {
  int process = 0;     ///< index within the trial
  int iteration = -1;  ///< with lifetime=fresh: which iteration it ran; otherwise -1
  int64_t pid = 0;
  StartProcess start = StartProcess::exec;  ///< how it came to be
  std::string start_remark;  ///< why not in the way that was chosen; empty where it was
  Termination termination = NotSpawned{};
  EndedBy ended_by = EndedBy::nobody;
  /// It crashed only after the runner had it take its own stacks: that is no crash of the cell's.
  bool crashed_in_inquest = false;
  double seconds = 0;        ///< from spawn, or from being told its cell, to reap
  double ready_seconds = 0;  ///< from there until it was ready; 0 where it never was
  double ended_at = 0;       ///< seconds from the start of the trial to the reap
  double failed_at = 0;      ///< to the first failure that it told of; 0: it told of none
  double idle_seconds = 0;   ///< from the last progress until it ended, or the runner ended it
  Usage usage;
  RecorderReading recorder;
  bool ready = false;  ///< it said so
  std::optional<HelloEvent> hello;
  std::optional<ResultEvent> result;
  std::vector<FailureEvent> failures;  ///< at most 64; the first ones
  Capture out;
  Capture err;
  uint64_t garbage_bytes = 0;       ///< on the events channel, in lines that are no event
  bool was_stopped = false;         ///< by SIGSTOP or the like, at some time
  bool left_descendants = false;    ///< something in its process group outlived it
  bool kernel_memory_kill = false;  ///< the system killed for memory while it ran
  std::string children;             ///< that a hung or slow one had, by their command lines
  bool own_command = false;         ///< somebody's own command: 0 is its pass (event.h)
  int child_signal = 0;             ///< of an own command: what a process that it started died of
  std::string stop_signals;         ///< what the runner sent: "", "TERM", "TERM KILL"
  std::string setup_problem;        ///< the runner's own finding: build changed, banner missing
  StackEvidence stacks;             ///< of a crash or a hang, symbolised from `recorder`
  std::optional<CrashReport> crash_report;  ///< the system's own, of this process and no other
  std::vector<GpuEvent> gpu_events;         ///< reported by the system around its time
  bool api_validation_seen = false;         ///< Metal's banner: API validation is in force
  bool shader_validation_seen = false;      ///< Metal's banner: shader validation is in force
  std::optional<Observation> observation;   ///< it was observed
  /// As read from a journal: which of Journal::image_sets it had loaded, and `recorder.images` is
  /// empty. Empty where it told of no image.
  std::string image_set;
};

/// What a signature rests on, the strongest first. `place` is thin: only where the process was, and
/// perhaps in which library; the signature says so.
enum class Basis : uint8_t { none, text, frames, place };
template <>
inline constexpr auto kWordsOf<Basis> = std::to_array<std::string_view>({"none", "text", "frames",
                                                                         "place"});

/// A failure that a process told of beside the one that titles it.
struct OtherFinding {
  std::string title;
  bool known = true;
  friend bool operator==(const OtherFinding&, const OtherFinding&) = default;
};

/// What a record came to.
struct Judgement {
  Outcome outcome = Outcome::not_run;
  std::string detail;         ///< "SIGSEGV", exit code "11", title of an assertion; "" for a pass
  std::string signature;      ///< title of the failure, the same for the same bug; "" for a pass
  bool known = true;          ///< the text is one that the table of patterns names
  Basis basis = Basis::none;  ///< what the signature rests on
  std::vector<OtherFinding> also;  ///< what else it told of, in order of appearance, each once
  std::vector<std::string> why;    ///< the names of the rows that made the signature
  bool bystander = false;  ///< it died of a GPU restart that another process caused: run it again
  Phase phase = Phase::startup;  ///< where the process was
};

/// "SIGSEGV" for 11; "signal 77" for a number without a name. Knows both Linux and macOS numbers of
/// the system that it runs on.
std::string signal_name(int signal);

}  // namespace mpsprobe

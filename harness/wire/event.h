#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace mpsprobe {

/// Version of everything that runner and worker say to each other. A worker of another version is
/// refused before the first trial.
constexpr int kProtocolVersion = 2;

/// Descriptors and arguments of a worker: `WORKER run --cell CELL --process K --iteration I
/// --seed S` with these descriptors open. `WORKER describe` prints what the worker is, as JSON.
constexpr int kRecorderFd = 3;  ///< flight recorder, shared memory
constexpr int kEventsFd = 4;    ///< events, one JSON object a line, worker to runner
constexpr int kGateFd = 5;      ///< bytes below; end of file means: end at once

/// What the runner says through the gate.
constexpr char kStartByte = 1;  ///< start the run
constexpr char kInquestByte =
    2;  ///< find out about your hang (flight_recorder.h), you are ended then

/// The worker is up: which build of which library it really loaded.
struct HelloEvent {
  int protocol = 0;
  std::string provenance;  ///< JSON object, canonical dump
};

/// Whether the provenance says that the process, once it has begun, is a program that knows nothing
/// of mpsprobe: it passes where it leaves with 0, and inquest_signal() asks for its inquest.
bool is_own_command(const HelloEvent& hello);

/// Everything is prepared; the worker waits at the gate.
struct ReadyEvent {};

/// Something failed that the process survived. `kind` is a word of the outcome table:
/// "wrong_result", "exception", "gpu_error", "out_of_memory", "misuse", "unsupported",
/// "setup_failed".
struct FailureEvent {
  std::string kind;
  std::string text;
  std::string phase;
  int thread = -1;     ///< -1: the main thread
  int iteration = -1;  ///< -1: outside an iteration
  std::string operation;
};

/// The worker did all that the cell asks. A worker that exits with 0 without it is `missing`.
struct ResultEvent {
  uint64_t operations = 0;    ///< iterations that ended, over all threads and rounds
  double seconds = 0;         ///< of the run phase: gate to last thread joined
  uint64_t checked = 0;       ///< results compared with the reference
  uint64_t unchecked = 0;     ///< results not kept for comparison
  std::string observed_path;  ///< "graph", "nograph", "blit", "none", or "not observed"
  // Of workers in a language whose interpreter may have a lock; else 0.
  double inside_seconds = 0;      ///< that threads were inside launches, added up over them
  double inside_cpu_seconds = 0;  ///< of these, that the processor spent on the threads themselves
  double cpu_seconds = 0;         ///< of the whole process in the run phase
};

/// What the observer of a cell with observe= has seen until now: that it watches (0 calls), more
/// calls, or a suspicion. What it proves is a FailureEvent of the kind "misuse".
struct ObservedEvent {
  uint64_t calls = 0;     ///< outermost ones, in all threads
  std::string suspicion;  ///< in words; empty: none
};

using Event = std::variant<HelloEvent, ReadyEvent, FailureEvent, ResultEvent, ObservedEvent>;

/// One line of the events channel, without the newline. Bytes that are no UTF-8 are replaced.
std::string to_line(const Event& event);

/// The event that a line holds, or nothing where it holds none. Never throws: the line comes from a
/// process that may be dying. Text is cut to 64 KiB.
std::optional<Event> parse_event(std::string_view line);

}  // namespace mpsprobe

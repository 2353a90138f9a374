#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/wire/backend.h"

namespace mpsprobe {

enum class Path : uint8_t { automatic, nograph, graph };
/// Where a library computes that has more than one place: where it does by itself, or on the CPU.
enum class DeviceUse : uint8_t { automatic, cpu };
enum class StreamUse : uint8_t { automatic, per_thread, thread_unsafe };
enum class CaptureMode : uint8_t { global, thread_local_, relaxed };
enum class QueueUse : uint8_t { per_thread, shared };
enum class ModelSharing : uint8_t { shared, per_thread };
enum class Owner : uint8_t { thread, main, other };
enum class Init : uint8_t { main, threads };
enum class Warmup : uint8_t { none, main };
enum class Start : uint8_t { barrier, staggered, sequential, main };
/// Where the threads wait for one another in each iteration, beside the start.
enum class Meet : uint8_t { none, launch, stage };
enum class Sync : uint8_t { each, end, never };
enum class Shapes : uint8_t { same, per_thread };
enum class WaitFor : uint8_t { device, stream, event, item };
enum class Lock : uint8_t { none, forward };
/// What one more thread does beside those that launch. All but the first two are calls of
/// torch.mps.
enum class BesideThreads : uint8_t { none, wait, event, cache, statistics, profiler };
/// What a thread does last: nothing, or it clears the streams that the library made for it.
enum class Leave : uint8_t { nothing, clear_streams };
/// How a process ends: all threads are joined and everything is destroyed, or the main thread
/// leaves while they work.
enum class End : uint8_t { join, exit };
enum class Validation : uint8_t { none, api, api_shader };
enum class Observe : uint8_t { none, rules, trap };
/// What the worker was compiled with, beside the library under test.
enum class Sanitizer : uint8_t { none, thread };
enum class Lifetime : uint8_t { process, fresh };

/// The most threads that a cell may have, and the default of `throttle`: no launch ever waits.
inline constexpr int32_t kMostThreads = 256;

/// One point of the matrix: what a worker is asked to do in one trial. A plain value; every field
/// is one axis and `axes()` (axis.h) is the table that names, reads, writes and documents them.
struct Cell {
  Backend backend = Backend::sim;
  std::string op;  ///< name in the worker's operation table, e.g. "linear"
  Path path = Path::automatic;
  int32_t threads = 1;
  int32_t processes = 1;
  int32_t iterations = 10;        ///< per thread, and per round where churn > 1
  std::string shape = "default";  ///< "default" or sizes, "8x64x64"
  Shapes shapes = Shapes::same;   ///< of LibTorch's backends; means nothing elsewhere
  std::string dtype = "default";  ///< "default" or a name from the operation's list, "float16"
  DeviceUse device = DeviceUse::automatic;  ///< of the backend mlx; means nothing elsewhere
  StreamUse stream = StreamUse::automatic;
  CaptureMode capture = CaptureMode::global;  ///< of a CUDA graph; means nothing elsewhere
  QueueUse queue = QueueUse::per_thread;      ///< of the backend metal; means nothing elsewhere
  ModelSharing model = ModelSharing::shared;
  Owner owner = Owner::thread;  ///< of the backend mlx; means nothing elsewhere
  Init init = Init::main;
  Warmup warmup = Warmup::none;
  Start start = Start::barrier;
  Meet meet = Meet::none;
  Sync sync = Sync::each;
  WaitFor wait = WaitFor::device;  ///< of the backends mps and cuda; means nothing elsewhere
  Lock lock = Lock::none;
  int32_t throttle = kMostThreads;  ///< the most launches at a time, in one process
  BesideThreads beside = BesideThreads::none;
  int32_t churn = 1;             ///< rounds of spawning and joining the threads
  Leave leave = Leave::nothing;  ///< of the backend mlx; means nothing elsewhere
  int32_t stack = 0;             ///< bytes of each thread's; 0: the system's own default
  End end = End::join;
  std::string env = "inherited";  ///< variables that it sets or unsets, as variables.h has them
  Validation validation = Validation::none;
  Observe observe = Observe::none;  ///< of the backends metal and mps; means nothing elsewhere
  Sanitizer sanitizer = Sanitizer::none;
  Lifetime lifetime = Lifetime::process;
  std::string profile = "report-000";  ///< of the simulated Metal device; means nothing elsewhere

  friend bool operator==(const Cell&, const Cell&) = default;
};

/// Whether the work of each thread comes after that of the one before it.
inline bool in_turn(const Cell& cell) {
  return cell.start == Start::sequential || cell.start == Start::main;
}

/// The word of the axis `path`.
std::string_view name_of(Path path);

/// The one canonical text form: "sim/linear/nograph/threads=3", then "/axis=value" in the order of
/// `axes()` for every axis that differs from its default. Used as test name, command-line argument,
/// JSON key and first line of a reproducer. Contains no character that a shell treats specially.
std::string to_string(const Cell& cell);

/// The cell that `text` names: backend/op/path, then axis=value in any order, defaults allowed.
/// `parse_cell(to_string(c)) == c` for every valid cell. Throws InputError that names the part.
Cell parse_cell(std::string_view text);

}  // namespace mpsprobe

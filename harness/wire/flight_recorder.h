#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/enum_words.h"

namespace mpsprobe {

/// Where a worker is in its life. A death is reported together with the phase it happened in.
/// `finalise`: an interpreter's end, in workers that have one.
enum class Phase : uint32_t { startup, warmup, run, check, teardown, finalise };
/// Where one thread is inside an iteration.
enum class Step : uint32_t { idle, waiting, locking, launching, synchronising, finished };

/// How far a worker got with the inquest: what it finds out about its own hang, when the runner
/// asks for it (kInquestByte on the gate) before it ends the worker.
enum class Inquest : uint32_t { unavailable, offered, stacks, probe, done };
/// What became of a trivial piece of work given to the device of a hung worker, on a way around
/// what hangs. `not_answered`: given, and not ended in time; `impossible`: the backend has none.
enum class Probe : uint32_t { not_tried, not_answered, completed, failed, impossible };

template <>
inline constexpr auto kWordsOf<Phase> =
    std::to_array<std::string_view>({"startup", "warmup", "run", "check", "teardown", "finalise"});
template <>
inline constexpr auto kWordsOf<Step> = std::to_array<std::string_view>(
    {"idle", "waiting", "locking", "launching", "synchronising", "finished"});
template <>
inline constexpr auto kWordsOf<Inquest> =
    std::to_array<std::string_view>({"unavailable", "offered", "stacks", "probe", "done"});
template <>
inline constexpr auto kWordsOf<Probe> = std::to_array<std::string_view>(
    {"not_tried", "not_answered", "completed", "failed", "impossible"});

/// The layout of the flight recorder: memory shared by runner and worker that outlives the worker.
/// Written only with relaxed or release atomic stores by the worker; read by the runner at any
/// moment, also while a hostile or dying worker scribbles over it (see `read_recorder`).
/// Version 2; the layout is part of the wire protocol (docs/protocol.md).
namespace recorder_layout {

constexpr uint64_t kMagic = 0x32626f727073706d;  // "mpsprob2", little endian
constexpr uint32_t kVersion = 2;
constexpr uint32_t kThreads = 257;     // 256 threads of a cell, and the main thread as the last
constexpr uint32_t kMainThread = 256;  // slot of the main thread
constexpr uint32_t kFrames = 64;
constexpr uint32_t kImages = 1024;
constexpr uint32_t kStacks = 512;
constexpr size_t kOperationBytes = 32;
constexpr size_t kImageIdBytes = 36;
constexpr size_t kImagePathBytes = 448;
constexpr size_t kThreadNameBytes = 32;

struct alignas(64) ThreadSlot {
  std::atomic<uint64_t> place;       ///< iteration << 32 | step << 1 | 1 once the thread has begun
  std::atomic<uint64_t> progress;    ///< grows with every step: no growth is a hang
  std::atomic<uint64_t> launches;    ///< launches entered
  std::atomic<uint64_t> overlapped;  ///< of these, how many found another thread inside
  char operation[kOperationBytes];   ///< written before `place` first becomes nonzero
};

/// What the crash handler noted. `signal` is stored last; 0 means no crash was seen.
struct CrashNote {
  std::atomic<uint32_t> signal;
  int32_t code;      ///< siginfo_t::si_code
  uint64_t address;  ///< siginfo_t::si_addr
  uint32_t thread;   ///< slot of the crashed thread, or UINT32_MAX where it has none
  std::atomic<uint32_t> frame_count;
  uint64_t thread_id;        ///< of the system: tid on Linux, as `thread_id` of pthreads on macOS
  uint64_t stack_pointer;    ///< of the interrupted code: near `address` where a stack overflowed
  uint64_t frames[kFrames];  ///< program counter, then return addresses
};

/// An executable mapping of the worker, so that raw addresses can be told as image + offset.
struct Image {
  uint64_t base;               ///< load address that offsets count from
  uint64_t begin;              ///< first address
  uint64_t end;                ///< one past the last address
  uint32_t id_bytes;           ///< of `id`; 0: the image has none
  uint8_t id[kImageIdBytes];   ///< ELF: note NT_GNU_BUILD_ID; Mach-O: LC_UUID
  char path[kImagePathBytes];  ///< as the loader knows it; cut at its front where it is longer
};

/// What a thread of a hung process waits for, as far as it can be seen. orphaned_lock: the system
/// said that there is no thread of the owner's number any more.
enum class WaitKind : uint32_t { none, lock, orphaned_lock };

/// The stack of one thread of a hung process.
struct StackNote {
  std::atomic<uint32_t> complete;  ///< stored last: 1
  uint32_t slot;                   ///< of the thread in `threads`, or UINT32_MAX
  uint64_t thread_id;
  uint32_t wait_kind;                 ///< WaitKind
  std::atomic<uint32_t> frame_count;  ///< of `frames`
  uint64_t wait_address;              ///< of the lock that it waits for
  uint64_t wait_owner;                ///< thread_id that the lock names as its owner, 0: none
  char name[kThreadNameBytes];
  uint64_t frames[kFrames];  ///< program counter, then return addresses
};

struct Block {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes;  ///< sizeof(Block) as the runner sees it; a worker of another layout refuses
  std::atomic<uint32_t> phase;
  std::atomic<uint32_t> inside;       ///< threads inside a launch right now
  std::atomic<uint32_t> most_inside;  ///< the most that were inside at once
  std::atomic<uint32_t> image_count;
  std::atomic<uint32_t> inquest;       ///< Inquest: how far the worker got with looking at itself
  std::atomic<uint32_t> probe;         ///< Probe: what became of the trivial work
  std::atomic<uint32_t> stack_count;   ///< entries of `stacks` that were begun
  std::atomic<uint32_t> stacks_asked;  ///< threads whose stacks were asked for
  ThreadSlot threads[kThreads];
  CrashNote crash;
  Image images[kImages];
  StackNote stacks[kStacks];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace recorder_layout

/// A worker's view of its flight recorder: every function is async-signal-safe, lock-free and safe
/// to call from any thread for its own slot. Does not own the memory.
class FlightRecorder {
 public:
  /// `block` must point to a block that `initialise` prepared, and outlive this object.
  explicit FlightRecorder(recorder_layout::Block* block) : block_(block) {}

  /// Prepares fresh zeroed memory (runner's side).
  static void initialise(recorder_layout::Block* block);

  void set_phase(Phase phase) {
    block_->phase.store(static_cast<uint32_t>(phase), std::memory_order_release);
  }
  Phase phase() const { return static_cast<Phase>(block_->phase.load(std::memory_order_acquire)); }

  /// Names what the thread works on (cut to 31 bytes) and marks its slot as begun.
  void begin_thread(uint32_t slot, std::string_view operation);

  /// Notes that the thread is at `step` of `iteration`. Call before doing what the step names.
  void at(uint32_t slot, uint32_t iteration, Step step) {
    recorder_layout::ThreadSlot& thread = block_->threads[slot];
    thread.place.store(uint64_t{iteration} << 32 | uint64_t{static_cast<uint32_t>(step)} << 1 | 1,
                       std::memory_order_relaxed);
    // One writer per slot: a plain increment, without the cost of a locked instruction.
    thread.progress.store(thread.progress.load(std::memory_order_relaxed) + 1,
                          std::memory_order_release);
  }

  /// Brackets a launch: counts how many threads are inside one at the same time.
  void enter_launch(uint32_t slot, uint32_t iteration) {
    at(slot, iteration, Step::launching);
    recorder_layout::ThreadSlot& thread = block_->threads[slot];
    const uint32_t now = block_->inside.fetch_add(1, std::memory_order_relaxed) + 1;
    thread.launches.store(thread.launches.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
    if (now > 1) {
      thread.overlapped.store(thread.overlapped.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
      uint32_t most = block_->most_inside.load(std::memory_order_relaxed);
      while (now > most && !block_->most_inside.compare_exchange_weak(most, now)) {
      }
    }
  }
  void leave_launch() { block_->inside.fetch_sub(1, std::memory_order_relaxed); }

  recorder_layout::Block* block() const { return block_; }

 private:
  recorder_layout::Block* block_;
};

/// One thread as the runner read it.
struct ThreadPlace {
  uint32_t thread = 0;  ///< index; recorder_layout::kMainThread is the main thread
  std::string operation;
  uint32_t iteration = 0;
  Step step = Step::idle;
};

struct FrameAddress {
  std::string path;      ///< of the image, as the loader knew it; empty where none matched
  std::string image_id;  ///< build id or UUID in lower-case hex; empty where it has none
  uint64_t offset = 0;   ///< from the image's load address; the raw address where none matched
  /// File name of the image.
  std::string image() const { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0
  friend bool operator==(const FrameAddress&, const FrameAddress&) = default;
};

struct CrashSeen {
  int signal = 0;
  int code = 0;
  uint64_t address = 0;
  int32_t thread = -1;  ///< -1: not a thread of the cell; kMainThread: the main thread
  uint64_t thread_id = 0;
  uint64_t stack_pointer = 0;
  std::vector<FrameAddress> frames;
};

/// The stack of one thread of a hung process, as raw addresses.
struct StackSeen {
  int32_t thread = -1;  ///< as ThreadStack::thread
  uint64_t thread_id = 0;
  std::string name;
  recorder_layout::WaitKind wait = recorder_layout::WaitKind::none;
  uint64_t wait_address = 0;
  uint64_t wait_owner = 0;
  std::vector<FrameAddress> frames;
};

/// An image that the process had loaded.
struct ImageSeen {
  std::string path;
  std::string id;  ///< build id or UUID in lower-case hex; empty where it has none
  friend bool operator==(const ImageSeen&, const ImageSeen&) = default;
};

/// What the runner read out of a recorder.
struct RecorderReading {
  bool intact = true;  ///< false: magic, version or an enumeration was overwritten
  Phase phase = Phase::startup;
  uint64_t progress = 0;                   ///< sum over threads
  uint64_t launches = 0;                   ///< sum over threads
  uint64_t overlapped = 0;                 ///< of these, with another thread inside
  uint32_t most_inside = 0;                ///< 1 where launches happened but never two at once
  std::vector<ThreadPlace> threads;        ///< those that had begun, by index
  CrashSeen crash;                         ///< signal 0: none
  std::vector<StackSeen> stacks;           ///< of a hang; empty where none were taken
  Inquest inquest = Inquest::unavailable;  ///< how far the worker got with it
  uint32_t threads_asked = 0;  ///< of a hang: how many threads there were to take stacks of
  Probe probe = Probe::not_tried;
  std::vector<ImageSeen> images;  ///< each once, in the order of the loader
};

/// Reads the recorder without trusting it: every index, enumeration and string is checked.
RecorderReading read_recorder(const recorder_layout::Block& block);

/// The signal that asks somebody's own command for its inquest. 0, on macOS: the byte on the gate
/// does, as for workers.
int inquest_signal();

/// How far the worker got with its inquest; for a damaged recorder: unavailable.
Inquest read_inquest(const recorder_layout::Block& block);

/// Whether the crash handler noted a crash.
bool has_crashed(const recorder_layout::Block& block);

/// Only the sum of progress: cheap enough for every tick.
uint64_t read_progress(const recorder_layout::Block& block);

}  // namespace mpsprobe

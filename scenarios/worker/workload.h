#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "harness/wire/cell.h"
#include "harness/wire/flight_recorder.h"
#include "scenarios/worker/start_thread.h"

namespace mpsprobe {

/// An error that the runner is told of by a kind of its own, see FailureEvent.
class KnownError : public std::runtime_error {
 public:
  KnownError(const char* kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  const char* kind() const { return kind_; }

 private:
  const char* kind_;
};
/// The cell cannot run on this machine or with this library: no such device, no such dtype.
struct UnsupportedError : KnownError {
  explicit UnsupportedError(const std::string& text) : KnownError("unsupported", text) {}
};
/// Something outside the product is broken: a missing library, an unreadable profile.
struct SetupError : KnownError {
  explicit SetupError(const std::string& text) : KnownError("setup_failed", text) {}
};
/// Memory ran out, of the host or of the device.
struct OutOfMemoryError : KnownError {
  explicit OutOfMemoryError(const std::string& text) : KnownError("out_of_memory", text) {}
};
/// The device reported an error for work that it had accepted.
struct GpuError : KnownError {
  explicit GpuError(const std::string& text) : KnownError("gpu_error", text) {}
};
/// A launch itself saw that its result is wrong.
struct WrongResultError : KnownError {
  explicit WrongResultError(const std::string& text) : KnownError("wrong_result", text) {}
};

/// What comparing one thread's results with the reference came to.
struct CheckResult {
  uint64_t checked = 0;
  uint64_t unchecked = 0;    ///< results that were not kept
  int wrong_iteration = -1;  ///< first iteration with a wrong result, -1: none
  std::string difference;    ///< what was wrong there: index, expected, got, tolerance
};

/// The work of one thread of a cell. Used by one thread at a time.
class Lane {
 public:
  virtual ~Lane() = default;
  /// What this lane executes, for the flight recorder: "linear", or one of a mix.
  virtual std::string operation() const = 0;
  /// Called on the thread that is going to launch, before the start: thread-local set-up.
  virtual void enter() {}
  /// One iteration up to the point where the host call returns. Throws what the library throws.
  virtual void launch(int iteration) = 0;
  /// Waits until the device has done what this lane launched.
  virtual void synchronise() = 0;
  /// Called on the same thread after its last iteration, also where one threw: what it made for
  /// itself goes. Must not throw.
  virtual void leave() {}
  /// Compares what the launches produced with the CPU's result. Called on the main thread after all
  /// threads have joined, so that copying results back is no part of what is tested.
  virtual CheckResult check() = 0;
};

/// One operation on one backend, as one cell asks for it.
class Workload {
 public:
  virtual ~Workload() = default;
  /// First contact with the device. Called once, on the main thread, where the cell says init=main.
  virtual void touch_device() = 0;
  /// Inputs, weights and outputs for one thread; called on the main thread (init=main) or
  /// concurrently in the threads (init=threads).
  virtual std::unique_ptr<Lane> make_lane(int thread) = 0;
  /// Waits for everything prepared so far; called on the main thread before the start.
  virtual void settle() = 0;
  /// Waits for the whole device, as a thread does that launches nothing, while lanes launch; or
  /// does what else the cell's `beside` says. Called again and again, on a thread of its own.
  virtual void wait_beside() {
    throw UnsupportedError("beside=wait: this backend has nothing that another thread waits for");
  }
  /// Which path the operation took, where that was seen; "not observed" otherwise.
  virtual std::string observed_path() = 0;
  /// Gives the device a trivial piece of work on a way of its own, around whatever the lanes use,
  /// and waits for it: `completed`, `failed`, or `impossible` where the backend has no such way.
  /// Calls `submitted` once the device has it: what hangs before that hangs in the host. Called
  /// once, on a thread of its own, while the lanes hang; it may never return.
  virtual Probe probe(const std::function<void()>& /*submitted*/) { return Probe::impossible; }
};

/// What makes a program a worker: the operations it has and the library it loaded. One object for
/// the life of the process.
class WorkerProgram {
 public:
  virtual ~WorkerProgram() = default;
  /// Called once, on the main thread, in the process that runs the trial or answers, before
  /// anything else of this object: what it sets in the library is not done before a fork.
  virtual void begin() {}
  /// Reply to `WORKER describe`: operations, backends and why some are not available (protocol.md).
  virtual nlohmann::json describe() = 0;
  /// Which library is really loaded, for the hello event. Called before the device is touched.
  virtual nlohmann::json provenance(const Cell& cell) = 0;
  /// Throws UnsupportedError or SetupError with a reason that a person can act on.
  virtual std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) = 0;
  /// What makes the threads of a cell: the system, or the language that the operations are in.
  virtual StartThread thread_starter(const Cell& cell) {
    return system_threads(static_cast<size_t>(cell.stack));
  }
  /// Bytes of stack that those threads have where a cell does not say; 0 where it is not known.
  virtual size_t thread_stack() { return default_thread_stack(); }
  /// Whether it is told how much of the time inside launches the threads computed: of an
  /// interpreter that may let one at a time, being inside together says less.
  virtual bool times_launches() const { return false; }
  /// Whether a process ends by returning from run_worker: there an interpreter ends before the
  /// process does, which is the phase `finalise`. Otherwise run_worker ends it by exit().
  virtual bool ends_interpreter() const { return false; }
};

}  // namespace mpsprobe

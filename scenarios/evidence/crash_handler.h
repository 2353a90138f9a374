#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// Notes signal, fault address, thread and raw return addresses of a crash in the flight recorder,
/// then lets the action happen that it replaced, which is the system's unless the program installed
/// one before: wait status, core dump and the system's crash report stay as they would be. For
/// SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT and SIGSYS. The handler is async-signal-safe
/// but for the unwinder, which is loaded beforehand; the signal and the program counter are noted
/// before it is entered. Call once, on the main thread, before other threads start.
void install_crash_handler(FlightRecorder& recorder);

/// The same where the recorder is asked for in the handler, since the process may be another than
/// the one that installed it: a fork. Async-signal-safe; nullptr: there is none, and nothing is
/// noted.
using FindRecorder = recorder_layout::Block* (*)();
void install_crash_handler(FindRecorder find);

/// Of a program that sets an action of its own for one of these signals, while the handler stands:
/// takes it as the one to let happen, so that the handler comes first. False where the system has
/// to be called: for other signals, after a crash, and for the handler's own calls. `action` and
/// `old` are those of sigaction(2).
bool take_action(int signal, const struct sigaction* action, struct sigaction* old);

/// Takes the handler out of the way of a program's own for one of the signals, from now on. False
/// where the program has none. Async-signal-safe.
bool give_back_action(int signal);

/// Tells the handler which slot of the recorder the calling thread has, and gives the thread a
/// signal stack of its own, so that a stack overflow is noted as well. Keep it alive while the
/// thread runs. On a thread that has one, the newer of the two holds until it goes.
class CrashContext {
 public:
  explicit CrashContext(uint32_t slot);
  CrashContext(const CrashContext&) = delete;
  CrashContext& operator=(const CrashContext&) = delete;
  ~CrashContext();

 private:
  uint32_t slot_;
  std::unique_ptr<std::byte[]> stack_;
  stack_t before_{};
};

}  // namespace mpsprobe

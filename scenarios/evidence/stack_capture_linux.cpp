#ifdef __linux__

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "scenarios/evidence/stack_capture.h"
#include "scenarios/evidence/thread_identity.h"
#include "scenarios/evidence/unwind.h"

namespace mpsprobe {
namespace {

using recorder_layout::StackNote;
using recorder_layout::WaitKind;

constexpr long kTickNs = 1'000'000;
constexpr int kTicks = 500;

recorder_layout::Block* stacks_block = nullptr;

// The first ones are taken by some threading libraries and by profilers.
int capture_signal() {
  return SIGRTMIN + 7;
}

/// What a system call that the signal interrupted had been asked for. The kernel restarts it, so
/// that the registers stand as they did when it was called, with the counter on the instruction
/// itself.
struct PendingCall {
  long number = -1;
  uint64_t first = 0;
  uint64_t second = 0;
  uint64_t third = 0;
};

PendingCall pending_call(const void* context) {
  const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  const auto& registers = machine->uc_mcontext.gregs;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): registers hold numbers
  const auto* code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  if (code[0] != 0x0f || code[1] != 0x05) return {};  // syscall
  return {registers[REG_RAX], static_cast<uint64_t>(registers[REG_RDI]),
          static_cast<uint64_t>(registers[REG_RSI]), static_cast<uint64_t>(registers[REG_RDX])};
#elif defined(__aarch64__)
  const auto& registers = machine->uc_mcontext.regs;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): registers hold numbers
  const auto* code = reinterpret_cast<const uint32_t*>(machine->uc_mcontext.pc);
  if (*code != 0xd4000001) return {};  // svc #0
  return {static_cast<long>(registers[8]), registers[0], registers[1], registers[2]};
#else
  (void)machine;
  return {};
#endif
}

/// Whether the system knows no thread of this number in this process: the owner has ended.
bool has_ended(uint64_t thread) {
  return thread != 0 && thread <= INT32_MAX &&
         syscall(SYS_tgkill, getpid(), static_cast<pid_t>(thread), 0) != 0 && errno == ESRCH;
}

/// glibc's lock: a thread that has to wait sets its word to 2 and waits for that to change
/// (sysdeps/nptl/lowlevellock.h). In a pthread_mutex_t the word is followed by a count and by the
/// owner's thread number (sysdeps/nptl/bits/struct_mutex.h); in a lock of the C library itself by
/// something else. Which it is, the reader of the stack has to tell.
void note_wait(StackNote& note, const void* context) {
  constexpr uint64_t kCommand = 0x7f;  // without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME
  constexpr uint64_t kPrivate = 0x80;
  constexpr uint64_t kFutexWait = 0;
  constexpr uint64_t kContended = 2;
  constexpr uint64_t kOwnerOffset = 8;
  const PendingCall call = pending_call(context);
  // A lock that processes share: its owner may be of another one.
  const bool shared = (call.second & kPrivate) == 0;
  if (call.number != SYS_futex || (call.second & kCommand) != kFutexWait ||
      call.third != kContended || shared) {
    return;
  }
  note.wait_address = call.first;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): registers hold numbers
  note.wait_owner = *reinterpret_cast<const volatile uint32_t*>(call.first + kOwnerOffset);
  note.wait_kind =
      static_cast<uint32_t>(has_ended(note.wait_owner) ? WaitKind::orphaned_lock : WaitKind::lock);
}

void note_own_stack(void* context) {
  const uint32_t index = stacks_block->stack_count.fetch_add(1, std::memory_order_relaxed);
  if (index < recorder_layout::kStacks) {
    StackNote& note = stacks_block->stacks[index];
    note.thread_id = thread_id();
    note.slot = slot_of_thread(note.thread_id);
    prctl(PR_GET_NAME, note.name);
    note_wait(note, context);
    unwind(context, Counter::code, note.frames, note.frame_count);
    note.complete.store(1, std::memory_order_release);
  }
}

void note_stack_in_handler(int, siginfo_t*, void* context) {
  const int saved_errno = errno;
  note_own_stack(context);
  errno = saved_errno;
}

/// Sends the signal to every thread that has a slot, or to every one that has none, but to some; to
/// how many. readdir would allocate.
uint32_t signal_threads(bool with_slot, uint64_t own, const OwnThreads& others) {
  // Of linux_dirent64, see getdents64(2).
  constexpr long kLengthOffset = 16;
  constexpr long kNameOffset = 19;
  const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  alignas(8) char buffer[4096];
  uint32_t sent = 0;
  for (;;) {
    const long got = syscall(SYS_getdents64, folder, buffer, sizeof(buffer));
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const char* entry = buffer + at;
      uint16_t length = 0;
      std::memcpy(&length, entry + kLengthOffset, sizeof(length));
      at += length;
      uint64_t thread = 0;
      for (const char* digit = entry + kNameOffset; *digit >= '0' && *digit <= '9'; ++digit) {
        thread = thread * 10 + static_cast<uint64_t>(*digit - '0');
      }
      if (thread == 0 || thread == own) continue;
      if (std::find(others.begin(), others.end(), thread) != others.end()) continue;
      if ((slot_of_thread(thread) != UINT32_MAX) != with_slot) continue;
      if (syscall(SYS_tgkill, getpid(), static_cast<pid_t>(thread), capture_signal()) == 0) ++sent;
    }
  }
  close(folder);
  return sent;
}

uint32_t begun_stacks() {
  return std::min(stacks_block->stack_count.load(), recorder_layout::kStacks);
}

uint32_t complete_stacks() {
  uint32_t complete = 0;
  for (uint32_t i = 0; i < begun_stacks(); ++i) complete += stacks_block->stacks[i].complete.load();
  return complete;
}

}  // namespace

bool give_up_capture(recorder_layout::Block& block) {
  const uint64_t own = thread_id();
  StackNote* const end =
      block.stacks + std::min(block.stack_count.load(), recorder_layout::kStacks);
  StackNote* const note = std::find_if(block.stacks, end, [own](const StackNote& stack) {
    return stack.thread_id == own && stack.complete.load() == 0;
  });
  if (note == end) return false;
  note->complete.store(1, std::memory_order_release);
  return true;
}

void prepare_stack_capture(FlightRecorder& recorder) {
  stacks_block = recorder.block();
  struct sigaction action {};
  action.sa_sigaction = note_stack_in_handler;
  // Restarted, a waiting thread goes on waiting, and shows what for.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT}) {
    sigdelset(&action.sa_mask, fault);
  }
  sigaction(capture_signal(), &action, nullptr);
}

void capture_stacks(FlightRecorder&, const OwnThreads& own) {
  // The cell's first: there is not room for any number of them.
  const uint32_t asked =
      signal_threads(true, thread_id(), own) + signal_threads(false, thread_id(), own);
  stacks_block->stacks_asked.store(asked);
  const timespec tick{0, kTickNs};
  for (int i = 0; i < kTicks && complete_stacks() < std::min(asked, recorder_layout::kStacks); ++i)
    nanosleep(&tick, nullptr);
}

void capture_stacks_in_handler(FlightRecorder& recorder, void* context) {
  capture_stacks(recorder, {});
  note_own_stack(context);
  stacks_block->stacks_asked.fetch_add(1);
}

}  // namespace mpsprobe

#endif

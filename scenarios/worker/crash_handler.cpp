#include "scenarios/worker/crash_handler.h"

#include <signal.h>
#include <time.h>

#include <array>
#include <cerrno>

#include "scenarios/worker/thread_identity.h"
#include "scenarios/worker/unwind.h"

namespace mpsprobe {
namespace {

constexpr size_t kStackBytes = 128 * 1024;
constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};

recorder_layout::Block* noted_block = nullptr;
std::atomic<bool> noting{false};
volatile sig_atomic_t first_signal = 0;

void note(int signal, const siginfo_t* info, const void* context) {
  recorder_layout::CrashNote& crash = noted_block->crash;
  crash.code = info->si_code;
  // For a signal that a process sent, the field holds who sent it, not an address.
  const bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE || signal == SIGABRT;
  crash.address = sent ? 0 : reinterpret_cast<uint64_t>(info->si_addr);
  const Interrupted at = interrupted_at(context);
  crash.thread_id = thread_id();
  crash.thread = slot_of_thread(crash.thread_id);
  crash.stack_pointer = at.stack_pointer;
  crash.frames[0] = at.program_counter;
  crash.frame_count.store(1, std::memory_order_relaxed);
  crash.signal.store(static_cast<uint32_t>(signal), std::memory_order_release);
  crash.frame_count.store(unwind(context, crash.frames, recorder_layout::kFrames),
                          std::memory_order_release);
}

void handle(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (!noting.exchange(true)) {
    first_signal = signal;
    note(signal, info, context);
  } else if (noted_block->crash.thread_id == thread_id() && first_signal != signal) {
    // The unwinder itself crashed on a broken stack: end by the signal that it all began with.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(first_signal, &standard, nullptr);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, first_signal);
    raise(first_signal);
    pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  } else if (noted_block->crash.thread_id != thread_id()) {
    // Another thread crashed first and is being noted: give it a moment before this one ends it
    // all.
    const timespec moment{0, 200'000'000};
    nanosleep(&moment, nullptr);
  }
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  // A fault happens again when the instruction is repeated, and dies with its true cause. What does
  // not repeat is raised again; it stays pending until this handler returns.
  bool faults = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
#ifdef __aarch64__
  faults = faults || signal == SIGTRAP;  // brk stays where it is; int3 does not
#endif
  bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
#ifdef SI_TKILL
  sent = sent || info->si_code == SI_TKILL;
#endif
  const bool repeats = faults && !sent;
  if (!repeats) raise(signal);
  errno = saved_errno;
}

}  // namespace

void install_crash_handler(FlightRecorder& recorder) {
  noted_block = recorder.block();
  prepare_unwinder();
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
}

CrashContext::CrashContext(uint32_t slot) : slot_(slot), stack_(new std::byte[kStackBytes]) {
  tie_thread(slot);
  stack_t stack{};
  stack.ss_sp = stack_.get();
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
}

CrashContext::~CrashContext() {
  stack_t stack{};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  untie_thread(slot_);
}

}  // namespace mpsprobe

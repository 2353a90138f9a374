#include "scenarios/worker/crash_handler.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/ucontext.h>
#include <time.h>

#include <array>
#include <cerrno>

namespace mpsprobe {
namespace {

constexpr size_t kStackBytes = 128 * 1024;
constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};

recorder_layout::Block* noted_block = nullptr;
std::atomic<bool> noting{false};
volatile sig_atomic_t first_signal = 0;
thread_local uint32_t thread_slot = UINT32_MAX;

uint64_t program_counter(const void* context) {
  const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__linux__) && defined(__x86_64__)
  return static_cast<uint64_t>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
  return machine->uc_mcontext.pc;
#elif defined(__APPLE__) && defined(__aarch64__)
  return machine->uc_mcontext->__ss.__pc;
#elif defined(__APPLE__) && defined(__x86_64__)
  return machine->uc_mcontext->__ss.__rip;
#else
  (void)machine;
  return 0;
#endif
}

void note(int signal, const siginfo_t* info, const void* context) {
  recorder_layout::CrashNote& crash = noted_block->crash;
  crash.code = info->si_code;
  // For a signal that a process sent, the field holds who sent it, not an address.
  const bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE || signal == SIGABRT;
  crash.address = sent ? 0 : reinterpret_cast<uint64_t>(info->si_addr);
  crash.thread = thread_slot;
  crash.frames[0] = program_counter(context);
  crash.frame_count.store(1, std::memory_order_relaxed);
  crash.signal.store(static_cast<uint32_t>(signal), std::memory_order_release);

  // The unwinder sees this handler first; the interrupted code begins where the counter stands.
  std::array<void*, recorder_layout::kFrames> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  int first = 0;
  for (int i = 0; i < count; ++i) {
    if (reinterpret_cast<uint64_t>(frames[i]) == crash.frames[0]) first = i + 1;
  }
  uint32_t used = 1;
  for (int i = first; i < count && used < recorder_layout::kFrames; ++i) {
    crash.frames[used++] = reinterpret_cast<uint64_t>(frames[i]);
  }
  crash.frame_count.store(used, std::memory_order_release);
}

void handle(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (!noting.exchange(true)) {
    first_signal = signal;
    note(signal, info, context);
  } else if (noted_block->crash.thread == thread_slot && first_signal != signal) {
    // The unwinder itself crashed on a broken stack: end by the signal that it all began with.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(first_signal, &standard, nullptr);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, first_signal);
    raise(first_signal);
    pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  } else if (noted_block->crash.thread != thread_slot) {
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
  // The first call loads the unwinder, which allocates: not something to do in the handler.
  std::array<void*, 2> frames{};
  backtrace(frames.data(), static_cast<int>(frames.size()));
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
}

CrashContext::CrashContext(uint32_t slot) : stack_(new std::byte[kStackBytes]) {
  thread_slot = slot;
  stack_t stack{};
  stack.ss_sp = stack_.get();
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
}

CrashContext::~CrashContext() {
  stack_t stack{};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  thread_slot = UINT32_MAX;
}

}  // namespace mpsprobe

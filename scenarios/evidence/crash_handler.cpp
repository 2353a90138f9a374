#include "scenarios/evidence/crash_handler.h"

#include <signal.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "scenarios/evidence/arm_syndrome.h"
#include "scenarios/evidence/images.h"
#include "scenarios/evidence/stack_capture.h"
#include "scenarios/evidence/thread_identity.h"
#include "scenarios/evidence/unwind.h"

namespace mpsprobe {
namespace {

constexpr size_t kStackBytes = 128 * 1024;
constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};

FindRecorder find_recorder = nullptr;
recorder_layout::Block* crash_block = nullptr;
std::atomic<bool> noting{false};
std::array<struct sigaction, kSignals.size()> replaced_actions{};
std::array<std::atomic<bool>, kSignals.size()> given_back{};
volatile sig_atomic_t first_signal = 0;

/// Lets happen what would have without this handler: an interpreter's own handler writes its
/// stacks, and by default the process dies. Async-signal-safe.
void restore_action(int signal) {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] != signal) continue;
    given_back[i].store(true);
    sigaction(signal, &replaced_actions[i], nullptr);
  }
}

/// Whether somebody sent the signal: then the instruction does not fail again when it is repeated,
/// and what else the signal says is about the sender.
bool was_sent(int signal, const siginfo_t& info, const void* context) {
#if defined(__APPLE__) && defined(__aarch64__)
  // The codes of macOS do not tell. The processor's syndrome does.
  (void)info;
  return !is_fault_of_instruction(signal,
                                  static_cast<const ucontext_t*>(context)->uc_mcontext->__es.__esr);
#else
  (void)signal;
  (void)context;
  bool sent = info.si_code == SI_USER || info.si_code == SI_QUEUE;
#ifdef SI_TKILL
  sent = sent || info.si_code == SI_TKILL;
#endif
  return sent;
#endif
}

/// A fault happens again when the instruction is repeated, and dies with its true cause.
bool is_fault(int signal) {
#ifdef __aarch64__
  if (signal == SIGTRAP) return true;  // brk stays where it is; int3 does not
#endif
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

Counter counter_of(int signal, const siginfo_t& info, bool sent, uint64_t program_counter) {
  if (sent || (signal != SIGSEGV && signal != SIGBUS)) return Counter::code;
#if defined(__linux__) && defined(__x86_64__)
  // Of an address that no process can have, the processor does not tell which it was.
  if (program_counter >> 47 != 0) return Counter::no_code;
#endif
  return reinterpret_cast<uint64_t>(info.si_addr) == program_counter ? Counter::no_code
                                                                     : Counter::code;
}

void note(int signal, const siginfo_t& info, void* context) {
  recorder_layout::CrashNote& crash = crash_block->crash;
  const bool sent = was_sent(signal, info, context);
  crash.code = info.si_code;
  // For a signal that was sent, the field holds who sent it, not an address.
  crash.address = is_fault(signal) && !sent ? reinterpret_cast<uint64_t>(info.si_addr) : 0;
  const Interrupted at = interrupted_at(context);
  crash.thread_id = thread_id();
  crash.thread = slot_of_thread(crash.thread_id);
  crash.stack_pointer = at.stack_pointer;
  crash.frames[0] = at.program_counter;
  crash.frame_count.store(1, std::memory_order_relaxed);
  crash.signal.store(static_cast<uint32_t>(signal), std::memory_order_release);
  unwind(context, counter_of(signal, info, sent, at.program_counter), crash.frames,
         crash.frame_count);
  note_images_of(*crash_block, {crash.frames, crash.frame_count.load()});
}

void handle(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (!noting.load()) crash_block = find_recorder();
  if (crash_block == nullptr) {
    restore_action(signal);
    if (!is_fault(signal) || was_sent(signal, *info, context)) raise(signal);
    return;
  }
  // Not the product's fault: what is there of the stack stays, and the process goes on to hang.
  if (give_up_capture(*crash_block)) {
    for (;;) pause();
  }
  if (!noting.exchange(true)) {
    first_signal = signal;
    note(signal, *info, context);
  } else if (crash_block->crash.thread_id == thread_id() && first_signal != signal) {
    // The unwinder itself crashed on a broken stack: end by the signal that it all began with.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(first_signal, &standard, nullptr);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, first_signal);
    raise(first_signal);
    pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  } else if (crash_block->crash.thread_id != thread_id()) {
    // Another thread crashed first and is being noted: give it a moment before this one ends it
    // all.
    const timespec moment{0, 200'000'000};
    nanosleep(&moment, nullptr);
  }
  restore_action(signal);
  // What does not repeat is raised again; it stays pending until this handler returns.
  if (!is_fault(signal) || was_sent(signal, *info, context)) raise(signal);
  errno = saved_errno;
}

}  // namespace

void install_crash_handler(FlightRecorder& recorder) {
  static recorder_layout::Block* of_worker = nullptr;
  of_worker = recorder.block();
  install_crash_handler([] { return of_worker; });
}

void install_crash_handler(FindRecorder find) {
  find_recorder = find;
  prepare_unwinder();
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &action, &replaced_actions[i]);
    // Who ignored it would repeat the fault for ever.
    if (replaced_actions[i].sa_handler == SIG_IGN) replaced_actions[i].sa_handler = SIG_DFL;
  }
}

bool take_action(int signal, const struct sigaction* action, struct sigaction* old) {
  const auto at = std::find(kSignals.begin(), kSignals.end(), signal);
  if (at == kSignals.end() || find_recorder == nullptr || noting.load()) return false;
  const auto i = static_cast<size_t>(at - kSignals.begin());
  struct sigaction& replaced = replaced_actions[i];
  if (given_back[i].load() || action == &replaced || old == &replaced) return false;
  const struct sigaction before = replaced;
  if (action != nullptr) replaced = *action;
  if (old != nullptr) *old = before;
  return true;
}

bool give_back_action(int signal) {
  struct sigaction action {};
  if (!take_action(signal, nullptr, &action)) return false;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return false;
  restore_action(signal);
  return true;
}

CrashContext::CrashContext(uint32_t slot) : slot_(slot), stack_(new std::byte[kStackBytes]) {
  tie_thread(slot);
  stack_t stack{};
  stack.ss_sp = stack_.get();
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, &before_);
}

CrashContext::~CrashContext() {
  sigaltstack(&before_, nullptr);
  untie_thread(slot_);
}

}  // namespace mpsprobe

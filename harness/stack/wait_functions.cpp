#include "harness/stack/wait_functions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mpsprobe {
namespace {

using Kind = Wait::Kind;

/// How much a function tells.
enum class Tells : uint8_t {
  little,  ///< of what all waiting is made: only believed where nothing else stands below it
  kind,    ///< what kind of wait it is
  mutex,   ///< and that it is for a mutex
};

struct WaitFunction {
  std::string_view name;  ///< without leading underscores, and "GI_" of glibc's own aliases
  Kind kind;
  Tells tells;
};

// glibc, musl, and macOS: libsystem_kernel, libsystem_pthread, libdispatch.
constexpr std::array kWaitFunctions = std::to_array<WaitFunction>({
    {"futex", Kind::lock, Tells::little},
    {"futex_wait", Kind::lock, Tells::little},
    {"futex_wait_simple", Kind::lock, Tells::little},
    {"futex_abstimed_wait", Kind::lock, Tells::little},
    {"futex_abstimed_wait64", Kind::lock, Tells::little},
    {"futex_abstimed_wait_cancelable64", Kind::lock, Tells::little},
    {"futex_abstimed_wait_common", Kind::lock, Tells::little},
    {"futex_abstimed_wait_common64", Kind::lock, Tells::little},
    {"futex_lock_pi64", Kind::lock, Tells::mutex},
    {"timedwait", Kind::other, Tells::little},
    {"timedwait_cp", Kind::other, Tells::little},
    {"syscall", Kind::other, Tells::little},
    {"syscall_cp", Kind::other, Tells::little},
    {"syscall_cp_asm", Kind::other, Tells::little},
    {"syscall_cancel", Kind::other, Tells::little},
    {"syscall_cancel_arch", Kind::other, Tells::little},
    {"internal_syscall_cancel", Kind::other, Tells::little},
    {"ulock_wait", Kind::lock, Tells::little},
    {"ulock_wait2", Kind::lock, Tells::little},
    {"semwait_signal", Kind::sleep, Tells::little},
    {"semwait_signal_nocancel", Kind::sleep, Tells::little},
    {"dispatch_thread_event_wait_slow", Kind::other, Tells::little},

    {"lll_lock_wait", Kind::lock, Tells::mutex},
    {"lll_lock_wait_private", Kind::lock, Tells::kind},  // inside malloc and stdio: no owner in it
    {"lll_timedlock_wait", Kind::lock, Tells::mutex},
    {"lll_clocklock_wait", Kind::lock, Tells::mutex},
    {"pthread_mutex_lock", Kind::lock, Tells::mutex},
    {"pthread_mutex_lock_full", Kind::lock, Tells::mutex},
    {"pthread_mutex_cond_lock", Kind::lock, Tells::mutex},
    {"pthread_mutex_timedlock", Kind::lock, Tells::mutex},
    {"pthread_mutex_clocklock", Kind::lock, Tells::mutex},
    {"pthread_mutex_clocklock_common", Kind::lock, Tells::mutex},
    {"pthread_mutex_firstfit_lock_wait", Kind::lock, Tells::mutex},
    {"pthread_mutex_firstfit_lock_slow", Kind::lock, Tells::mutex},
    {"pthread_mutex_lock_wait", Kind::lock, Tells::mutex},
    {"pthread_mutex_lock_slow", Kind::lock, Tells::mutex},
    {"psynch_mutexwait", Kind::lock, Tells::mutex},
    {"os_unfair_lock_lock_slow", Kind::lock, Tells::mutex},
    {"os_unfair_recursive_lock_lock_slow", Kind::lock, Tells::mutex},
    {"pthread_rwlock_rdlock", Kind::lock, Tells::kind},
    {"pthread_rwlock_wrlock", Kind::lock, Tells::kind},
    {"pthread_rwlock_rdlock_full64", Kind::lock, Tells::kind},
    {"pthread_rwlock_wrlock_full64", Kind::lock, Tells::kind},
    {"pthread_rwlock_lock_wait", Kind::lock, Tells::kind},
    {"psynch_rw_rdlock", Kind::lock, Tells::kind},
    {"psynch_rw_wrlock", Kind::lock, Tells::kind},
    {"pthread_spin_lock", Kind::lock, Tells::kind},
    {"cxa_guard_acquire", Kind::lock, Tells::kind},
    {"DISPATCH_WAIT_FOR_QUEUE__", Kind::lock, Tells::kind},
    {"dispatch_sync_f_slow", Kind::lock, Tells::kind},

    {"pthread_cond_wait", Kind::condition, Tells::kind},
    {"pthread_cond_timedwait", Kind::condition, Tells::kind},
    {"pthread_cond_timedwait64", Kind::condition, Tells::kind},
    {"pthread_cond_clockwait", Kind::condition, Tells::kind},
    {"pthread_cond_clockwait64", Kind::condition, Tells::kind},
    {"pthread_cond_wait_common", Kind::condition, Tells::kind},
    {"psynch_cvwait", Kind::condition, Tells::kind},

    {"pthread_join", Kind::join, Tells::kind},
    {"pthread_clockjoin_ex", Kind::join, Tells::kind},
    {"pthread_timedjoin_ex", Kind::join, Tells::kind},
    {"pthread_timedjoin_np", Kind::join, Tells::kind},
    {"pthread_clockjoin_np", Kind::join, Tells::kind},

    {"read", Kind::input, Tells::kind},
    {"libc_read", Kind::input, Tells::kind},
    {"read_nocancel", Kind::input, Tells::kind},
    {"readv", Kind::input, Tells::kind},
    {"pread64", Kind::input, Tells::kind},
    {"poll", Kind::input, Tells::kind},
    {"poll_nocancel", Kind::input, Tells::kind},
    {"ppoll", Kind::input, Tells::kind},
    {"select", Kind::input, Tells::kind},
    {"pselect", Kind::input, Tells::kind},
    {"recv", Kind::input, Tells::kind},
    {"recvfrom", Kind::input, Tells::kind},
    {"recvmsg", Kind::input, Tells::kind},
    {"accept", Kind::input, Tells::kind},
    {"accept4", Kind::input, Tells::kind},
    {"epoll_wait", Kind::input, Tells::kind},
    {"epoll_pwait", Kind::input, Tells::kind},
    {"kevent", Kind::input, Tells::kind},
    {"kevent64", Kind::input, Tells::kind},

    {"nanosleep", Kind::sleep, Tells::kind},
    {"clock_nanosleep", Kind::sleep, Tells::kind},
    {"clock_nanosleep_time64", Kind::sleep, Tells::kind},
    {"usleep", Kind::sleep, Tells::kind},
    {"sleep", Kind::sleep, Tells::kind},

    {"sem_wait", Kind::other, Tells::kind},
    {"sem_timedwait", Kind::other, Tells::kind},
    {"new_sem_wait", Kind::other, Tells::kind},
    {"new_sem_wait_slow", Kind::other, Tells::kind},
    {"new_sem_wait_slow64", Kind::other, Tells::kind},
    {"do_futex_wait", Kind::other, Tells::little},
    {"semaphore_wait_trap", Kind::other, Tells::little},
    {"semaphore_timedwait_trap", Kind::other, Tells::little},
    {"dispatch_sema4_wait", Kind::other, Tells::kind},
    {"dispatch_semaphore_wait", Kind::other, Tells::kind},
    {"dispatch_semaphore_wait_slow", Kind::other, Tells::kind},
    {"dispatch_group_wait", Kind::other, Tells::kind},
    {"dispatch_group_wait_slow", Kind::other, Tells::kind},
    {"pthread_barrier_wait", Kind::other, Tells::kind},
    {"mach_msg", Kind::other, Tells::kind},
    {"mach_msg_trap", Kind::other, Tells::kind},
    {"mach_msg2_trap", Kind::other, Tells::kind},
    {"workq_kernreturn", Kind::other, Tells::kind},
    {"wait4", Kind::other, Tells::kind},
    {"waitid", Kind::other, Tells::kind},
    {"pause", Kind::other, Tells::kind},
    {"sigsuspend", Kind::other, Tells::kind},
    {"sigwait", Kind::other, Tells::kind},
    {"sigtimedwait", Kind::other, Tells::kind},
});

// Waiting is never more than a few functions deep.
constexpr int kMostNamed = 8;
constexpr int kMostNamedForMutex = 4;

const WaitFunction* wait_function(std::string_view name) {
  // These are functions of C: what has arguments in its name is of C++ and of somebody else.
  if (name.find('(') != std::string_view::npos) return nullptr;
  name = name.substr(0, name.find('.'));  // "do_futex_wait.constprop.0"
  const auto without_underscores = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of('_'), text.size()));
  };
  name = without_underscores(name);
  if (name.starts_with("GI_")) name = without_underscores(name.substr(3));
  const auto at = std::find_if(kWaitFunctions.begin(), kWaitFunctions.end(),
                               [&](const WaitFunction& known) { return known.name == name; });
  return at != kWaitFunctions.end() ? &*at : nullptr;
}

}  // namespace

WaitShown wait_shown(const std::vector<StackFrame>& frames) {
  WaitShown shown;
  bool certain = false;
  int named = 0;
  for (const StackFrame& frame : frames) {
    if (frame.function.empty()) continue;  // a system library without symbols
    shown.named = true;
    const WaitFunction* known = wait_function(frame.function);
    if (known == nullptr && frame.inlined) continue;
    if (known == nullptr || ++named > kMostNamed) break;
    if (!certain && (known->tells != Tells::little || shown.kind == Kind::none)) {
      shown.kind = known->kind;
      certain = known->tells != Tells::little;
    }
    // What is called from within a wait says what for, not who called it.
    if (known->tells == Tells::mutex && shown.kind == Kind::lock && named <= kMostNamedForMutex) {
      shown.mutex = true;
    }
  }
  return shown;
}

}  // namespace mpsprobe

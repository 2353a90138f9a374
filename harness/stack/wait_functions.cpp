#include "harness/stack/wait_functions.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

using Kind = Wait::Kind;

/// How much a function tells.
enum class Tells : uint8_t {
  little,  ///< of what all waiting is made: only believed where nothing else stands below it
  kind,    ///< what kind of wait it is
  mutex,   ///< and that it is for a mutex
};

struct WaitFunctions {
  Kind kind;
  Tells tells;
  /// A space between; without leading underscores, and "GI_" of glibc's own aliases.
  std::string_view names;
};

// glibc, musl, and macOS: libsystem_kernel, libsystem_pthread, libdispatch.
constexpr WaitFunctions kWaitFunctions[] = {
    {Kind::lock, Tells::little,
     "futex futex_wait futex_wait_simple futex_abstimed_wait futex_abstimed_wait64 "
     "futex_abstimed_wait_cancelable64 futex_abstimed_wait_common "
     "futex_abstimed_wait_common64 ulock_wait ulock_wait2"},
    {Kind::lock, Tells::mutex,
     "futex_lock_pi64 lll_lock_wait lll_timedlock_wait lll_clocklock_wait pthread_mutex_lock "
     "pthread_mutex_lock_full pthread_mutex_cond_lock pthread_mutex_timedlock "
     "pthread_mutex_clocklock pthread_mutex_clocklock_common "
     "pthread_mutex_firstfit_lock_wait pthread_mutex_firstfit_lock_slow "
     "pthread_mutex_lock_wait pthread_mutex_lock_slow psynch_mutexwait "
     "os_unfair_lock_lock_slow os_unfair_recursive_lock_lock_slow"},
    {Kind::other, Tells::little,
     "timedwait timedwait_cp syscall syscall_cp syscall_cp_asm syscall_cancel "
     "syscall_cancel_arch internal_syscall_cancel dispatch_thread_event_wait_slow "
     "do_futex_wait semaphore_wait_trap semaphore_timedwait_trap"},
    {Kind::sleep, Tells::little, "semwait_signal semwait_signal_nocancel"},
    // lll_lock_wait_private: inside malloc and stdio, with no owner in it.
    {Kind::lock, Tells::kind,
     "lll_lock_wait_private pthread_rwlock_rdlock pthread_rwlock_wrlock "
     "pthread_rwlock_rdlock_full64 pthread_rwlock_wrlock_full64 pthread_rwlock_lock_wait "
     "psynch_rw_rdlock psynch_rw_wrlock pthread_spin_lock cxa_guard_acquire "
     "DISPATCH_WAIT_FOR_QUEUE__ dispatch_sync_f_slow"},
    {Kind::condition, Tells::kind,
     "pthread_cond_wait pthread_cond_timedwait pthread_cond_timedwait64 "
     "pthread_cond_clockwait pthread_cond_clockwait64 pthread_cond_wait_common psynch_cvwait"},
    {Kind::join, Tells::kind,
     "pthread_join pthread_clockjoin_ex pthread_timedjoin_ex pthread_timedjoin_np "
     "pthread_clockjoin_np"},
    {Kind::input, Tells::kind,
     "read libc_read read_nocancel readv pread64 poll poll_nocancel ppoll select pselect "
     "recv recvfrom recvmsg accept accept4 epoll_wait epoll_pwait kevent kevent64"},
    {Kind::sleep, Tells::kind, "nanosleep clock_nanosleep clock_nanosleep_time64 usleep sleep"},
    {Kind::other, Tells::kind,
     "sem_wait sem_timedwait new_sem_wait new_sem_wait_slow new_sem_wait_slow64 "
     "dispatch_sema4_wait dispatch_semaphore_wait dispatch_semaphore_wait_slow "
     "dispatch_group_wait dispatch_group_wait_slow pthread_barrier_wait mach_msg "
     "mach_msg_trap mach_msg2_trap workq_kernreturn wait4 waitid pause sigsuspend sigwait "
     "sigtimedwait"},
};

// Waiting is never more than a few functions deep.
constexpr int kMostNamed = 8;
constexpr int kMostNamedForMutex = 4;

const WaitFunctions* wait_function(std::string_view name) {
  // These are functions of C: what has arguments in its name is of C++ and of somebody else.
  if (name.find('(') != std::string_view::npos) return nullptr;
  // "do_futex_wait.constprop.0", "pthread_cond_wait@@GLIBC_2.3.2"
  name = name.substr(0, name.find_first_of(".@"));
  const auto without_underscores = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of('_'), text.size()));
  };
  name = without_underscores(name);
  if (name.starts_with("GI_")) name = without_underscores(name.substr(3));
  static const std::map<std::string_view, const WaitFunctions*> kByName = [] {
    std::map<std::string_view, const WaitFunctions*> by_name;
    for (const WaitFunctions& group : kWaitFunctions) {
      for (const std::string_view each : split(group.names, ' ')) by_name.emplace(each, &group);
    }
    return by_name;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

}  // namespace

WaitShown wait_shown(const std::vector<StackFrame>& frames) {
  WaitShown shown;
  int named = 0;
  for (const StackFrame& frame : frames) {
    if (frame.function.empty()) continue;  // a system library without symbols
    shown.named = true;
    const WaitFunctions* known = wait_function(frame.function);
    if (known == nullptr && frame.inlined) continue;
    if (known == nullptr || ++named > kMostNamed) break;
    if (!shown.certain && (known->tells != Tells::little || shown.kind == Kind::none)) {
      shown.kind = known->kind;
      shown.certain = known->tells != Tells::little;
    }
    // What is called from within a wait says what for, not who called it.
    if (known->tells == Tells::mutex && shown.kind == Kind::lock && named <= kMostNamedForMutex) {
      shown.mutex = true;
    }
  }
  return shown;
}

}  // namespace mpsprobe

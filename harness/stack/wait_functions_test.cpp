#include "harness/stack/wait_functions.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsprobe {
namespace {

std::vector<StackFrame> stack_of(const std::vector<std::string>& functions) {
  std::vector<StackFrame> frames;
  for (const std::string& function : functions) frames.emplace_back().function = function;
  return frames;
}

struct Known {
  std::vector<std::string> functions;
  Wait::Kind kind;
  bool mutex;
};

TEST(WaitFunctions, TellTheKindFromRealStacks) {
  const Known cases[] = {
      {{"__lll_lock_wait", "pthread_mutex_lock", "worker()"}, Wait::Kind::lock, true},
      {{"__GI___lll_lock_wait", "___pthread_mutex_lock", "f()"}, Wait::Kind::lock, true},
      {{"", "pthread_mutex_lock", "worker()"}, Wait::Kind::lock, true},
      {{"__lll_lock_wait_private", "malloc"}, Wait::Kind::lock, false},
      {{"__psynch_mutexwait", "_pthread_mutex_firstfit_lock_wait", "f()"}, Wait::Kind::lock, true},
      {{"__ulock_wait", "_pthread_join", "main"}, Wait::Kind::join, false},
      {{"__ulock_wait", "_os_unfair_lock_lock_slow", "f()"}, Wait::Kind::lock, true},
      {{"__ulock_wait", "_dispatch_thread_event_wait_slow", "__DISPATCH_WAIT_FOR_QUEUE__",
        "_dispatch_sync_f_slow", "f()"},
       Wait::Kind::lock,
       false},
      {{"__futex_abstimed_wait_common", "__pthread_clockjoin_ex", "main"}, Wait::Kind::join, false},
      {{"__futex_abstimed_wait_common", "pthread_cond_wait", "f()"}, Wait::Kind::condition, false},
      {{"__lll_lock_wait", "__pthread_mutex_cond_lock", "pthread_cond_wait"},
       Wait::Kind::lock,
       true},
      {{"syscall", "__cxa_guard_acquire", "f()"}, Wait::Kind::lock, false},
      {{"do_futex_wait.constprop.0", "__new_sem_wait_slow64.constprop.0"},
       Wait::Kind::other,
       false},
      {{"__poll", "f()"}, Wait::Kind::input, false},
      {{"clock_nanosleep", "__nanosleep", "usleep"}, Wait::Kind::sleep, false},
      {{"__semwait_signal", "nanosleep", "f()"}, Wait::Kind::sleep, false},
      {{"mach_msg2_trap", "mach_msg"}, Wait::Kind::other, false},
  };
  for (const Known& known : cases) {
    SCOPED_TRACE(known.functions.front() + " < " + known.functions[1]);
    const WaitShown shown = wait_shown(stack_of(known.functions));
    EXPECT_EQ(name_of(shown.kind), name_of(known.kind));
    EXPECT_EQ(shown.mutex, known.mutex);
    EXPECT_TRUE(shown.named);
  }
}

TEST(WaitFunctions, OnlyCountOnTop) {
  EXPECT_EQ(wait_shown(stack_of({"compute(int)", "pthread_mutex_lock"})).kind, Wait::Kind::none);
  EXPECT_FALSE(wait_shown(stack_of({"compute(int)", "pthread_mutex_lock"})).mutex);
}

TEST(WaitFunctions, OfSomebodyElseAreNotTaken) {
  EXPECT_EQ(wait_shown(stack_of({"select(at::Tensor)", "main"})).kind, Wait::Kind::none);
  EXPECT_EQ(wait_shown(stack_of({"app::read", "main"})).kind, Wait::Kind::none);
}

TEST(WaitFunctions, AreFoundBehindWhatWasInlinedIntoThem) {
  std::vector<StackFrame> frames = stack_of({"lll_mutex_lock_optimized", "pthread_mutex_lock"});
  EXPECT_EQ(wait_shown(frames).kind, Wait::Kind::none);
  frames[0].inlined = true;
  EXPECT_EQ(wait_shown(frames).kind, Wait::Kind::lock);
}

TEST(WaitFunctions, SayNothingOfFramesWithoutNames) {
  const WaitShown shown = wait_shown(stack_of({"", ""}));
  EXPECT_EQ(shown.kind, Wait::Kind::none);
  EXPECT_FALSE(shown.named);
}

}  // namespace
}  // namespace mpsprobe

// What is known of a death, against real processes that die in known ways: the functions that the
// self-test worker plants are what the stacks have to show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "harness/executor/misbehaving_worker_for_tests.h"

namespace mpsprobe {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::NotNull;
using testing::SizeIs;

class EvidenceTest : public MisbehavingWorker {
 protected:
  ProcessRecord misbehave(const std::string& name, int threads = 2) {
    trial_ = MisbehavingWorker::misbehave(name, threads);
    return trial_.processes.at(0);
  }

  TrialRecord trial_;
};

#ifdef MPSPROBE_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// ThreadSanitizer keeps a signal back until the thread next calls what it watches. One that waits
// for a lock or spins never does, and so shows no stack.
#if defined(__SANITIZE_THREAD__)
constexpr bool kSignalsComeLate = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kSignalsComeLate = true;
#else
constexpr bool kSignalsComeLate = false;
#endif
#else
constexpr bool kSignalsComeLate = false;
#endif

std::vector<std::string> functions_of(const ThreadStack& stack) {
  std::vector<std::string> functions;
  for (const StackFrame& frame : stack.frames) functions.push_back(frame.function);
  return functions;
}

const ThreadStack* stack_of(const ProcessRecord& process, int thread) {
  const auto& threads = process.stacks.threads;
  const auto at = std::find_if(threads.begin(), threads.end(), [thread](const ThreadStack& stack) {
    return stack.thread == thread;
  });
  return at == threads.end() ? nullptr : &*at;
}

/// The functions of the faulting thread, the crashed one on top.
std::vector<std::string> crashed(const ProcessRecord& process) {
  return process.stacks.threads.empty() ? std::vector<std::string>{}
                                        : functions_of(process.stacks.threads.front());
}

TEST_F(EvidenceTest, ACrashShowsTheFunctionsThatLedToIt) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer puts its own handler in the place of ours";
  const ProcessRecord process = misbehave("nested_crash");
  const std::vector<std::string> functions = crashed(process);
  ASSERT_GE(functions.size(), 4U);
  EXPECT_EQ(functions[0], "mpsprobe::faults::nested_inner(int)");
  EXPECT_EQ(functions[1], "mpsprobe::faults::nested_middle(int)");
  EXPECT_EQ(functions[2], "mpsprobe::faults::nested_outer(int)");
  EXPECT_EQ(functions[3], "mpsprobe::faults::nested_crash()");
  EXPECT_TRUE(process.stacks.threads.front().faulting);
  EXPECT_EQ(process.stacks.threads.front().thread, 1);
}

TEST_F(EvidenceTest, AnOverflowedStackShowsWhatRecursed) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer puts its own handler in the place of ours";
  const ProcessRecord process = misbehave("stack_overflow");
  ASSERT_THAT(crashed(process), Not(IsEmpty()));
  EXPECT_THAT(crashed(process).front(), HasSubstr("recurse"));
  const CrashSeen& crash = process.recorder.crash;
  EXPECT_LT(
      std::max(crash.address, crash.stack_pointer) - std::min(crash.address, crash.stack_pointer),
      65536U);
}

TEST_F(EvidenceTest, ACallThroughANullPointerShowsTheCaller) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer puts its own handler in the place of ours";
  const std::vector<std::string> functions = crashed(misbehave("null_call"));
  ASSERT_GE(functions.size(), 2U);
  EXPECT_EQ(functions[0], "");
  EXPECT_EQ(functions[1], "mpsprobe::faults::null_call()");
  EXPECT_GE(functions.size(), 5U) << "the callers of the caller are known as well";
}

TEST_F(EvidenceTest, ACallToWhereNothingIsShowsTheWholeStack) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer puts its own handler in the place of ours";
  for (const std::string kind : {"wild_call", "heap_call"}) {
    const std::vector<std::string> functions = crashed(misbehave(kind));
    ASSERT_GE(functions.size(), 5U) << kind;
    EXPECT_EQ(functions[0], "");
    EXPECT_THAT(functions, Contains("mpsprobe::faults::" + kind + "()"));
#ifdef __APPLE__
    // There, where memory is there and holds no code, it is the latter.
    EXPECT_THAT(trial_.judgement.detail, AnyOf("SIGSEGV", "SIGBUS"));
#else
    EXPECT_EQ(trial_.judgement.detail, "SIGSEGV");
#endif
  }
}

#ifdef __GLIBC__
TEST_F(EvidenceTest, ACrashInsideMallocShowsMallocAndWhoCalledIt) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const std::vector<std::string> functions = crashed(misbehave("heap_crash"));
  EXPECT_THAT(functions, Contains(AnyOf("malloc", "__libc_malloc")));
  EXPECT_THAT(functions, Contains("mpsprobe::faults::heap_crash()"));
}
#endif

// On macOS a lock does not say who holds it.
#ifdef __linux__
TEST_F(EvidenceTest, EightThreadsInALockCycleAreAllShownAndTheCycleIsNamed) {
  if (kSignalsComeLate) GTEST_SKIP() << "ThreadSanitizer keeps the signals back";
  const ProcessRecord process = misbehave("lock_cycle", 8);
  EXPECT_EQ(trial_.judgement.outcome, Outcome::hang);
  ASSERT_THAT(process.stacks.lock_cycle, SizeIs(8));
  for (int thread = 0; thread < 8; ++thread) {
    const ThreadStack* stack = stack_of(process, thread);
    ASSERT_NE(stack, nullptr) << thread;
    EXPECT_THAT(functions_of(*stack), Contains("mpsprobe::faults::lock_cycle(int, int)"));
    EXPECT_EQ(stack->wait.kind, Wait::Kind::lock);
    const ThreadStack* next = stack_of(process, (thread + 1) % 8);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(stack->wait.owner, next->thread_id);
    EXPECT_FALSE(stack->wait.owner_gone);
  }
  // Each waits for the one that follows it.
  for (size_t i = 0; i < 8; ++i) {
    const uint64_t next = process.stacks.lock_cycle[(i + 1) % 8];
    const auto at = std::find_if(
        process.stacks.threads.begin(), process.stacks.threads.end(),
        [&](const ThreadStack& stack) { return stack.thread_id == process.stacks.lock_cycle[i]; });
    ASSERT_NE(at, process.stacks.threads.end());
    EXPECT_EQ(at->wait.owner, next);
  }
}

TEST_F(EvidenceTest, ALockWhoseOwnerHasEndedIsNoCycle) {
  if (kSignalsComeLate) GTEST_SKIP() << "ThreadSanitizer keeps the signals back";
  const ProcessRecord process = misbehave("lock_orphaned");
  EXPECT_THAT(process.stacks.lock_cycle, IsEmpty());
  const ThreadStack* stack = stack_of(process, 1);
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->wait.kind, Wait::Kind::lock);
  EXPECT_TRUE(stack->wait.owner_gone);
}
#endif

TEST_F(EvidenceTest, AThreadThatSpinsWaitsForNothing) {
  if (kSignalsComeLate) GTEST_SKIP() << "ThreadSanitizer keeps the signals back";
  limits_.stall = 4;
  limits_.timeout = 8;
  const ProcessRecord process = misbehave("busy_loop");
  EXPECT_EQ(trial_.judgement.outcome, Outcome::timeout);
  const ThreadStack* stack = stack_of(process, 1);
  ASSERT_NE(stack, nullptr);
  EXPECT_THAT(functions_of(*stack), Contains("mpsprobe::faults::busy_loop()"));
  EXPECT_EQ(stack->wait.kind, Wait::Kind::none);
}

TEST_F(EvidenceTest, AStackThatCannotBeTakenIsNoCrash) {
  if (kSignalsComeLate) GTEST_SKIP() << "ThreadSanitizer keeps the signals back";
  limits_.stall = 4;
  limits_.timeout = 8;
  const ProcessRecord process = misbehave("misleading_frame");
  EXPECT_EQ(trial_.judgement.outcome, Outcome::timeout);
  EXPECT_FALSE(process.crashed_in_inquest);
  EXPECT_EQ(process.recorder.crash.signal, 0);
  const ThreadStack* stack = stack_of(process, 1);
  ASSERT_NE(stack, nullptr);
  EXPECT_THAT(functions_of(*stack),
              Contains(AnyOf("mpsprobe_misleading_frame", "mpsprobe::faults::busy_loop()")));
  EXPECT_THAT(stack_of(process, recorder_layout::kMainThread), NotNull());
}

#ifdef __linux__
TEST_F(EvidenceTest, ACrashThatTheInquestCausesLeavesTheHangAHang) {
  if (kSignalsComeLate) GTEST_SKIP() << "ThreadSanitizer keeps the signals back";
  const ProcessRecord process = misbehave("abort_when_interrupted");
  EXPECT_EQ(trial_.judgement.outcome, Outcome::hang);
  EXPECT_EQ(process.ended_by, EndedBy::no_progress);
  EXPECT_TRUE(process.crashed_in_inquest);
  EXPECT_EQ(process.recorder.crash.signal, SIGABRT);
}
#endif

TEST_F(EvidenceTest, AHangBeforeTheStartShowsItsStacksAsWell) {
  if (kSignalsComeLate) GTEST_SKIP() << "ThreadSanitizer keeps the signals back";
  limits_.timeout = 1;
  const ProcessRecord process = misbehave("hang_early");
  EXPECT_EQ(trial_.judgement.outcome, Outcome::hang);
  EXPECT_FALSE(process.ready);
  const ThreadStack* stack = stack_of(process, recorder_layout::kMainThread);
  ASSERT_NE(stack, nullptr);
  EXPECT_THAT(functions_of(*stack), Contains("mpsprobe::faults::deadlock()"));
}

TEST_F(EvidenceTest, AStoppedProcessIsEndedWithoutItsStacks) {
  const ProcessRecord process = misbehave("stopped");
  EXPECT_EQ(trial_.judgement.outcome, Outcome::hang);
  EXPECT_THAT(process.stacks.threads, IsEmpty());
}

TEST_F(EvidenceTest, WhatPassesCarriesNoStacks) {
  const ProcessRecord process = misbehave("pass");
  EXPECT_THAT(process.stacks.threads, IsEmpty());
  EXPECT_EQ(process.recorder.inquest, Inquest::offered);
}

TEST_F(EvidenceTest, TheImagesOfAProcessAreKnownWithTheirIds) {
  const ProcessRecord process = misbehave("pass");
  ASSERT_THAT(process.recorder.images, Not(IsEmpty()));
  EXPECT_EQ(process.recorder.images.front().path, path());
  EXPECT_THAT(process.recorder.images,
              Contains(testing::Field(&ImageSeen::path, HasSubstr("libc"))));
}

}  // namespace
}  // namespace mpsprobe

#include <gtest/gtest.h>

#include "harness/stack/own_address_for_tests.h"
#include "harness/stack/symboliser.h"

namespace mpsprobe {
namespace {

using recorder_layout::kMainThread;
using recorder_layout::WaitKind;

/// A thread whose frames have no names.
StackSeen nameless(int thread, uint64_t id, uint64_t owner) {
  StackSeen seen;
  seen.thread = thread;
  seen.thread_id = id;
  seen.frames = {{"", "", 0x1234}};
  if (owner != 0) {
    seen.wait = WaitKind::lock;
    seen.wait_address = 0x7000 + owner;
    seen.wait_owner = owner;
  }
  return seen;
}

TEST(StackEvidence, NamesTheCycleOfEightThreads) {
  RecorderReading recorder;
  recorder.stacks.push_back(nameless(kMainThread, 100, 0));
  for (int thread = 7; thread >= 0; --thread) {
    recorder.stacks.push_back(nameless(thread, 101 + thread, 101 + (thread + 1) % 8));
  }
  recorder.stacks.push_back(nameless(-1, 50, 0));
  Symboliser symboliser;
  const StackEvidence evidence = stack_evidence(recorder, symboliser);
  EXPECT_EQ(evidence.lock_cycle, (std::vector<uint64_t>{101, 102, 103, 104, 105, 106, 107, 108}));
  ASSERT_EQ(evidence.threads.size(), 10U);
  for (int thread = 0; thread < 8; ++thread) EXPECT_EQ(evidence.threads[thread].thread, thread);
  EXPECT_EQ(evidence.threads[8].thread, static_cast<int>(kMainThread));
  EXPECT_EQ(evidence.threads[9].thread_id, 50U);
  EXPECT_EQ(evidence.threads[0].wait, (Wait{Wait::Kind::lock, 0x7000 + 102, 102, false}));
}

TEST(StackEvidence, DoesNotBelieveAnOwnerThatNothingSpeaksFor) {
  RecorderReading recorder;
  recorder.stacks = {nameless(0, 1, 0xdeadbeef), nameless(1, 2, 0)};
  Symboliser symboliser;
  const StackEvidence evidence = stack_evidence(recorder, symboliser);
  EXPECT_EQ(evidence.threads[0].wait, Wait{});
  EXPECT_TRUE(evidence.lock_cycle.empty());
}

TEST(StackEvidence, TakesTheFirstThreadOfACrash) {
  RecorderReading recorder;
  recorder.stacks = {nameless(0, 1, 0), nameless(1, 2, 0)};
  recorder.crash.signal = 11;
  recorder.crash.thread = 1;
  recorder.crash.thread_id = 2;
  recorder.crash.frames = {{"", "", 0}, {"/nowhere/libgone.so", "ab", 0x40}};
  Symboliser symboliser;
  const StackEvidence evidence = stack_evidence(recorder, symboliser);
  ASSERT_EQ(evidence.threads.size(), 2U);
  EXPECT_TRUE(evidence.threads[0].faulting);
  EXPECT_EQ(evidence.threads[0].thread, 1);
  ASSERT_EQ(evidence.threads[0].frames.size(), 2U);
  EXPECT_EQ(evidence.threads[0].frames[1], (StackFrame{"libgone.so", "ab", 0x40, "", "", false}));
  EXPECT_FALSE(evidence.threads[1].faulting);
  EXPECT_EQ(evidence.threads[1].thread, 0);
}

TEST(StackEvidence, IsEmptyWhereNothingWasSeen) {
  Symboliser symboliser;
  EXPECT_EQ(stack_evidence(RecorderReading{}, symboliser), StackEvidence{});
}

/// A thread in a function of the C library, waiting for a lock of `owner`.
StackSeen inside_of(const char* function, uint64_t id, uint64_t owner) {
  StackSeen seen = nameless(0, id, owner);
  seen.frames = {own_address(function)};
  return seen;
}

TEST(StackEvidence, BelievesTheOwnerOfAMutexAndSeesThatItIsGone) {
  RecorderReading recorder;
  recorder.stacks = {inside_of("pthread_mutex_lock", 1, 4711)};
  recorder.stacks[0].wait = WaitKind::orphaned_lock;
  Symboliser symboliser;
  const StackEvidence evidence = stack_evidence(recorder, symboliser);
  ASSERT_EQ(evidence.threads.size(), 1U);
  EXPECT_EQ(evidence.threads[0].frames[0].function, "pthread_mutex_lock");
  EXPECT_EQ(evidence.threads[0].wait, (Wait{Wait::Kind::lock, 0x7000 + 4711, 4711, true}));
}

TEST(StackEvidence, AnOwnerWhoseStackIsMissingIsNotGone) {
  RecorderReading recorder;
  recorder.stacks = {inside_of("pthread_mutex_lock", 1, 4711)};
  Symboliser symboliser;
  const StackEvidence evidence = stack_evidence(recorder, symboliser);
  EXPECT_EQ(evidence.threads.at(0).wait, (Wait{Wait::Kind::lock, 0x7000 + 4711, 4711, false}));
}

TEST(StackEvidence, ALinkRegisterThatIsStaleIsNoCaller) {
  const FrameAddress top = own_address("pthread_mutex_lock");
  FrameAddress within = top;
  within.offset += 16;
  const FrameAddress caller = own_address("pthread_cond_wait");
  Symboliser symboliser;
  EXPECT_EQ(without_stale_link({top, within, caller}, symboliser),
            (std::vector<FrameAddress>{top, caller}));
  EXPECT_EQ(without_stale_link({top, caller, within}, symboliser),
            (std::vector<FrameAddress>{top, caller, within}));
  EXPECT_EQ(without_stale_link({top}, symboliser), (std::vector<FrameAddress>{top}));
}

TEST(StackEvidence, KnowsThatAConditionVariableHasNoOwner) {
  RecorderReading recorder;
  recorder.stacks = {inside_of("pthread_cond_wait", 1, 2), nameless(1, 2, 1)};
  Symboliser symboliser;
  const StackEvidence evidence = stack_evidence(recorder, symboliser);
  EXPECT_EQ(evidence.threads[0].wait, (Wait{Wait::Kind::condition, 0, 0, false}));
  EXPECT_TRUE(evidence.lock_cycle.empty());
}

}  // namespace
}  // namespace mpsprobe

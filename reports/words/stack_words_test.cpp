#include "reports/words/stack_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/evidence_for_tests.h"
#include "reports/hostile_text_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(StackWords, FramesShowFunctionSourceAndOffset) {
  EXPECT_EQ(stack_in_words(crashed_in_encode().threads[0].frames, 24),
            " 0  libmpsprobe_sim.so  mpsprobe::sim::Kernel::bind()  (metal.cpp:41)  inlined\n"
            " 1  libmpsprobe_sim.so  mpsprobe::sim::Stream::encode(int)  (stream.cpp:120)\n"
            " 2  libtorch_cpu.so     at::native::linear(at::Tensor const&)\n"
            " 3  libtorch_cpu.so     + 0x1b92264\n"
            " 4  ?                   + 0x7f0012345678\n");
}

TEST(StackWords, FramesThatOnlyPassThingsOnAreMarkedAndFoldedAtTheEntry) {
  const std::vector<StackFrame> frames{
      {"libc.so.6", "", 1, "abort", "", false},
      {"libsim.so", "", 2, "mpsprobe::sim::encode(int)", "", false},
      {"libc.so.6", "", 3, "start_thread", "", false},
      {"libc.so.6", "", 4, "clone3", "", false}};
  EXPECT_EQ(stack_in_words(frames, 8, Entry::show),
            " 0~ libc.so.6  abort\n 1  libsim.so  mpsprobe::sim::encode(int)\n"
            " 2~ libc.so.6  start_thread\n 3~ libc.so.6  clone3\n");
  EXPECT_EQ(stack_in_words(frames, 8, Entry::fold),
            " 0~ libc.so.6  abort\n 1  libsim.so  mpsprobe::sim::encode(int)\n   2 more\n");
  // Where nothing else is there, nothing is left out.
  EXPECT_EQ(stack_in_words({frames[2], frames[3]}, 8, Entry::fold),
            " 0~ libc.so.6  start_thread\n 1~ libc.so.6  clone3\n");
}

TEST(StackWords, WhatIsCutOffIsCounted) {
  const std::vector<StackFrame> frames(100, StackFrame{"a.so", "", 1, "f", "", false});
  EXPECT_THAT(stack_in_words(frames, 2), HasSubstr(" 1  a.so  f\n   98 more\n"));
}

TEST(StackWords, FramesOfAnInterpreterInARowAreOneLine) {
  const StackFrame evaluate{"libpython3.11.so.1.0", "", 1, "_PyEval_EvalFrameDefault", "", false};
  std::vector<StackFrame> frames{{"cv2.abi3.so", "", 1, "cv::resize", "", false}};
  frames.insert(frames.end(), 30, evaluate);
  frames.push_back({"own.so", "", 1, "call_back", "", false});
  frames.insert(frames.end(), 2, evaluate);
  EXPECT_EQ(stack_in_words(frames, 5),
            " 0  cv2.abi3.so           cv::resize\n"
            " 1~ libpython3.11.so.1.0  30 frames of the interpreter\n"
            "31  own.so                call_back\n"
            "32~ libpython3.11.so.1.0  _PyEval_EvalFrameDefault\n"
            "33~ libpython3.11.so.1.0  _PyEval_EvalFrameDefault\n");
  EXPECT_THAT(stack_in_words(frames, 2), HasSubstr("30 frames of the interpreter\n   3 more\n"));
  // An interpreter that dies of itself.
  frames.assign(3, {"libpython3.11.so.1.0", "", 1, "PyUnicode_New", "", false});
  EXPECT_THAT(stack_in_words(frames, 9), HasSubstr(" 0  libpython3.11.so.1.0  PyUnicode_New\n"));
}

TEST(StackWords, PythonIsWrittenAsPythonDoes) {
  const std::vector<StackFrame> frames{
      {"app.py", "", 0, "infer", "/home/me/mpsprobe/app.py:12", false},
      {"app.py", "", 0, "<module>", "/home/me/mpsprobe/app.py", false},
      {"_runtime.py", "", 0, "_run", "/x/mpsprobe/_runtime.py:224", false},
      {"threading.py", "", 0, "run", "/usr/lib/threading.py:9", false}};
  EXPECT_EQ(python_stack_in_words(frames, 9),
            "File \"/home/me/mpsprobe/app.py\", line 12, in infer\nFile "
            "\"/home/me/mpsprobe/app.py\", in <module>\n2 "
            "more\n");
  EXPECT_EQ(python_stack_in_words(frames, 1),
            "File \"/home/me/mpsprobe/app.py\", line 12, in infer\n3 more\n");
}

TEST(StackWords, OnlyImagesWithoutNamesAreListedWithTheirIds) {
  const auto images = images_without_names(crashed_in_encode().threads[0].frames, 24);
  ASSERT_THAT(images, SizeIs(1));
  EXPECT_EQ(images[0].image, "libtorch_cpu.so");
  EXPECT_EQ(images[0].image_id, "aa11");
}

TEST(StackWords, ACycleNamesEveryThreadInTurn) {
  EXPECT_EQ(lock_cycle_in_words(lock_cycle_of_8()),
            "thread 0 waits for a lock that thread 1 holds, thread 1 for one that thread 2 holds, "
            "thread 2 for one that thread 3 holds, thread 3 for one that thread 4 holds, thread 4 "
            "for one that thread 5 holds, thread 5 for one that thread 6 holds, thread 6 for one "
            "that thread 7 holds and thread 7 for one that thread 0 holds");
  EXPECT_EQ(lock_cycle_in_words(crashed_in_encode()), "");
}

TEST(StackWords, AThreadThatTheEvidenceLacksIsNamedByItsNumber) {
  StackEvidence stacks = lock_cycle_of_8();
  stacks.lock_cycle = {5000, 123};
  EXPECT_EQ(lock_cycle_in_words(stacks),
            "thread 0 waits for a lock that thread id 123 holds and thread id 123 for one that "
            "thread 0 holds");
}

TEST(StackWords, WaitsOutsideTheCycleAreTold) {
  EXPECT_THAT(waits_in_words(lock_cycle_of_8()),
              ElementsAre("the main thread waits for another thread to end",
                          "a thread that is none of the cell's (pool-0) waits for time to pass "
                          "(asleep)"));
}

TEST(StackWords, ALockWhoseHolderEndedAndThreadsThatWaitAlikeAreTold) {
  EXPECT_THAT(waits_in_words(lock_of_an_ended_thread()),
              ElementsAre("thread 0 waits for a lock whose holder (thread id 4711) has ended: it "
                          "ended while it held the lock",
                          "threads 1-2 wait for a condition"));
}

TEST(StackWords, AHolderThatIsNotSeenIsNotGuessed) {
  StackEvidence stacks = lock_of_an_ended_thread();
  stacks.threads[0].wait = {Wait::Kind::lock, 0x7f00, 0, false};
  EXPECT_EQ(waits_in_words(stacks)[0],
            "thread 0 waits for the lock at 0x7f00; who holds it is not seen");
}

TEST(StackWords, IdenticalStacksAreFolded) {
  const StackEvidence stacks = lock_cycle_of_8();
  const auto groups = group_stacks(stacks);
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_EQ(threads_in_words(groups[0]), "threads 0-7");
  EXPECT_EQ(threads_in_words(groups[1]), "the main thread");
}

TEST(StackWords, ADifferentCallSiteIsADifferentStack) {
  StackEvidence stacks = lock_cycle_of_8();
  stacks.threads[3].frames[3].offset += 8;
  const auto groups = group_stacks(stacks);
  ASSERT_THAT(groups, SizeIs(4));
  EXPECT_EQ(threads_in_words(groups[0]), "threads 0-2 and threads 4-7");
  EXPECT_EQ(threads_in_words(groups[1]), "thread 3");
}

TEST(StackWords, HostileNamesArePrintable) {
  for (const std::string& hostile : hostile_texts()) {
    StackEvidence stacks = lock_cycle_of_8();
    for (ThreadStack& stack : stacks.threads) {
      stack.thread = -1;
      stack.name = hostile;
      stack.frames = {{hostile, hostile, 1, hostile, hostile, false}};
    }
    SCOPED_TRACE(hostile.substr(0, 40));
    EXPECT_TRUE(is_harmless(lock_cycle_in_words(stacks)));
    EXPECT_TRUE(is_harmless(stack_in_words(stacks.threads[0].frames, 8)));
    EXPECT_LT(stack_in_words(stacks.threads[0].frames, 8).size(), 500u);
    EXPECT_THAT(waits_in_words(stacks), Not(IsEmpty()));
    for (const std::string& line : waits_in_words(stacks)) EXPECT_TRUE(is_harmless(line));
  }
}

}  // namespace
}  // namespace mpsprobe

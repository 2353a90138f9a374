#include "harness/outcome/interleaved.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "harness/outcome/judge.h"
#include "harness/outcome/sample_process.h"

namespace mpsprobe {
namespace {

// Threads that go on printing do so between the runtime's lines as well.
TEST(OtherLines, StandBetweenTheTypeAndTheText) {
  std::string printed = "terminate called after throwing an instance of 'lanes::Error'\n";
  for (int i = 0; i < 40; ++i) printed += "worker " + std::to_string(i) + ": lane taken\n";
  const std::string others = printed;
  printed += "  what():  no lane of the pool is left\nworker 3: lane taken\n";
  EXPECT_EQ(judge(ended_process(Signaled{SIGABRT, false}, printed)).signature,
            "no lane of the pool is left");
  EXPECT_EQ(judge(ended_process(Signaled{SIGABRT, false}, others + others)).signature,
            "exception of type lanes::Error");
}

// A line that a log put something in front of is none that a page broke.
TEST(OtherLines, StandBelowTheTextBehindWhatALogPuts) {
  EXPECT_EQ(
      judge(ended_process(
                Signaled{SIGABRT, false},
                "terminate called after throwing an instance of 'lanes::Error'\n"
                "  what():  no lane_of_the_large_pool_of_this_device_for_all_threads is left\n"
                "03:45:52 lane 3 taken\n"))
          .signature,
      "no lane_of_the_large_pool_of_this_device_for_all_threads is left");
}

// The runtime writes the type by itself, and other threads do not wait for it.
TEST(OtherLines, StandInFrontOfTheText) {
  const std::string lines = "[t2] iter 85 ok\n[t3] iter 80 ok\n";
  EXPECT_EQ(judge(ended_process(Signaled{SIGABRT, false},
                                lines +
                                    "terminate called after throwing an instance of "
                                    "'lanes::Error'\n  what():  [t1] iter 95 ok\n" +
                                    lines + "no lane of the pool is left\n" + lines))
                .signature,
            "no lane of the pool is left");
}

TEST(OtherLines, AreGluedToTheType) {
  EXPECT_EQ(judge(ended_process(Signaled{SIGABRT, false},
                                "worker 1: lane taken\n"
                                "terminate called after throwing an instance of 'worker 3: lane "
                                "taken\nlanes::Errorworker 4: lane taken\n'\n  what():  no lane of "
                                "the pool is left\n"))
                .signature,
            "no lane of the pool is left");
}

TEST(OtherLines, StandWithinTheType) {
  std::string printed = "terminate called after throwing an instance of 'worker 3: lane taken\n";
  printed +=
      "worker 1: lane taken\nlanes::Error'\nworker 2: lane taken\n  what():  worker 5: lane ";
  printed += "taken\nno lane of the pool is left\n";
  EXPECT_EQ(judge(ended_process(Signaled{SIGABRT, false},
                                printed + "Exception raised from take at pool.cpp:12 (most recent "
                                          "call first):\nworker 7: lane taken\n"))
                .signature,
            "no lane of the pool is left");
}

}  // namespace
}  // namespace mpsprobe

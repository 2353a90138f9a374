#include "harness/title/clause.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(ClauseTitle, IsTheSameWhoeverPassesTheMessageOn) {
  const std::string plain = "the lane of <type> has no room for N";
  for (
      const char* line : {
          "the lane of float16 has no room for 12 bytes",
          "RuntimeError: the lane of bfloat16 has no room for 12 GiB",
          "std::runtime_error: the lane of c10::Half has no room for 1e-05",
          "2026-01-02 03:04:05,678 - lanes - ERROR - the lane of float has no room for -1",
          "2026-01-02 03:04:05.678 | ERROR    | lanes.pool:take:61 - the lane of int8 has no room "
          "for 2",
          "[rank3]: LaneError: the lane of torch.float32 has no room for 1, 2, 3",
          "E0102 03:04:05.678901 4711 pool.cc:45] the lane of f32 has no room for 3x4",
          " 12%|##   | 3/25 [00:04<00:30,  1.39s/it]RuntimeError: the lane of Half has no room for "
          "7",
          "(Worker pid=4711) lanes error: the lane of float has no room for 9 at /x/y/pool.cpp:12",
          "libc++abi: terminating due to uncaught exception of type lanes::Error: the lane of "
          "float has no room for 9.",
          "Error Domain=LaneErrorDomain Code=3 \"the lane of float has no room for 9\" "
          "UserInfo={NSLocalizedDescription=the lane of float has no room for 9}",
          "Terminating app due to uncaught exception 'NSLaneException', reason: 'the lane of float "
          "has no room for 9'",
          "C++ exception with description \"the lane of float has no room for 9\" thrown in SetUp",
          "`RuntimeError: the lane of float has no room for 9`",
          "RuntimeError: the lane of float has no room for 9. Please close other lanes. Or not.",
          "FAILED test_lanes.py::test_take - RuntimeError: the lane of float has no room for 9",
          "worker left early: lanes.LaneError: the lane of float has no room for 9",
      }) {
    EXPECT_EQ(clause_title(line), plain) << line;
  }
}

TEST(ClauseTitle, LeavesOutWhatAProgramWasDoing) {
  EXPECT_EQ(clause_title("error loading the lanes: no lane of the pool is left"),
            "no lane of the pool is left");
  EXPECT_EQ(clause_title("error loading the lanes: No such file or directory"),
            "error loading the lanes: No such file or directory");
}

TEST(ClauseTitle, LeavesOutAdviceInFront) {
  EXPECT_EQ(clause_title("UserError: Consider other lanes. No lane of the pool is left"),
            "No lane of the pool is left");
}

TEST(ClauseTitle, KeepsWhatItNeedsToSayAnything) {
  EXPECT_EQ(clause_title("KeyError: 'lane'"), "KeyError");
  EXPECT_EQ(clause_title("KeyError: 'no lane is called so'"), "no lane is called so");
  // Two words are enough to go without the type.
  EXPECT_EQ(clause_title("RuntimeError: Unknown mode: 3"), "Unknown mode");
  EXPECT_EQ(clause_title("error: Unknown mode: 12"), "Unknown mode");
  EXPECT_EQ(clause_title("[lanes::take] Unable to map a lane"),
            "[lanes::take] Unable to map a lane");
  EXPECT_EQ(clause_title(""), "");
}

TEST(ClauseTitle, ReadsTheMessageInARecordOfRusts) {
  EXPECT_EQ(clause_title("Error: Pool(Error { code: Failure, msg: \"every lane is taken now\" })"),
            "every lane is taken now");
  EXPECT_EQ(clause_title("loc: error: 'mps.take' op has no lane"), "mps.take op has no lane");
}

TEST(ClauseTitle, IsWhatAnOperatorSaidThatTorchCompileRan) {
  const char* title = "no lane of the pool";
  EXPECT_EQ(clause_title("TorchRuntimeError: Failed running call_function <built-in function add>"
                         "(*(FakeTensor(..., size=(3,)), 3), **{}): no lane of the pool"),
            title);
  EXPECT_EQ(clause_title("TorchRuntimeError: Dynamo failed to run FX node with fake tensors: "
                         "call_method add(*(3,), **{}): got LaneError('no lane of the pool')"),
            title);
  EXPECT_EQ(clause_title("Lane of pool failed. This lane can"), "Lane of pool failed");
}

TEST(ClauseTitle, LeavesOutWhichThreadAndWhen) {
  for (const char* front : {"worker 3: ", "worker 3 caught: ", "thread 12 failed: ", "rank 0 -> ",
                            "iteration 17: ", "failed at iteration 17: ", "error in round 3: "}) {
    EXPECT_EQ(clause_title(std::string(front) + "no lane of the pool"), "no lane of the pool")
        << front;
  }
}

TEST(ClauseTitle, KeepsAnOperatorBehindAProgramsOwnWords) {
  EXPECT_EQ(clause_title("caught unflatten: no lane of the pool is left"),
            "unflatten: no lane of the pool is left");
  EXPECT_EQ(clause_title("take_lane failed: no lane left"), "no lane left");
}

TEST(ClauseTitle, KeepsOperatorsApart) {
  EXPECT_NE(clause_title("Could not run 'aten::lanes' with arguments from the 'MPS' backend"),
            clause_title("Could not run 'aten::pools' with arguments from the 'MPS' backend"));
  EXPECT_NE(clause_title("lanes gone: status=LANE_LOST"),
            clause_title("lanes gone: status=LANE_ODD"));
  EXPECT_NE(clause_title("lane index (3) is beyond the pool"),
            clause_title("lane length (3) is beyond the pool"));
}

TEST(ClauseTitle, EndsInFrontOfWhatWasFoundInstead) {
  for (const char* line : {
           "expected a lane of pool 3, but got pool",
           "expected a lane of pool 3, got 4",
           "expected a lane of pool 3 (got Lane)",
           "expected a lane of pool 3; received 4 of them",
           "expected a lane of pool 3 but instead found Lane (7)",
           "expected a lane of pool 3. Got: pool",
           "expected a lane of pool 3, but found4 of them",
           "expected a lane of pool 3! Found Lane",
       }) {
    EXPECT_EQ(clause_title(line), "expected a lane of pool N") << line;
  }
  EXPECT_EQ(clause_title("expected Lane, got Pool"), "expected Lane");
  // Where too little would be left, and where it is no value.
  EXPECT_EQ(clause_title("Lane, got Pool here"), "Lane, got Pool here");
  EXPECT_EQ(clause_title("take() of the pool got an unexpected lane"),
            "take() of the pool got an unexpected lane");
  EXPECT_EQ(clause_title("no lane of it found in the pool"), "no lane of it found in the pool");
}

TEST(ClauseTitle, ReadsAWrittenExceptionToItsEnd) {
  EXPECT_EQ(clause_title("LaneError(\"Lane ['take', '-v'] returned a wrong lane of it\")"),
            clause_title("Lane ['take', '-v'] returned a wrong lane of it"));
}

TEST(ClauseTitle, IsWhatFollowsTheLastWrapper) {
  for (const char* line : {
           "!!! Exception during processing !!! the lane of the pool has run dry",
           "!!! Exception during processing!!! **the lane of the pool has run dry**",
           "Error occurred when executing TakeLane: the lane of the pool has run dry",
           "An error occurred while taking lanes: the lane of the pool has run dry!",
           "[lanes]: Current run stops due to exception: the lane of the pool has run dry",
           "[mps] LaneError: the lane of the pool has run dry",
           "Global exception the lane of the pool has run dry",
           "Uncaught (in promise) Error: the lane of the pool has run dry",
           "Error invoking remote method 'take': Error: the lane of the pool has run dry",
           "[4711:0102/030405.678:ERROR:pool.cc(12)] the lane of the pool has run dry",
           ("[2026-01-02 03:04:05,678: ERROR/ForkPoolWorker-1] Task lanes.take[7] raised "
            "unexpected: LaneError('the lane of the pool has run dry')"),
           "ERROR:lanes.pool:the lane of the pool has run dry",
           "<class 'LaneError'>: the lane of the pool has run dry",
           "lanes.LaneError - the lane of the pool has run dry",
           ("{\"level\":\"error\",\"msg\":\"LaneError: the lane of the pool has run "
            "dry\",\"pool\":3}"),
           "{\"log\": \"the lane of the pool has run dry\\nbye\", \"stream\": \"stderr\"}",
           "time=2026-01-02T03:04:05Z level=error msg=\"the lane of the pool has run dry\"",
           "FATAL: LaneError(\"the lane of the pool has run dry\")",
           "RuntimeError: &quot;the lane of the pool has run dry&quot;",
           "\\u001b[31mRuntimeError: the lane of the pool has run dry\\u001b[0m",
           "Thread 1: Fatal error: the lane of the pool has run dry",
           "[error] worker 3: inference failed: the lane of the pool has run dry",
           "rank 12: the lane of the pool has run dry",
           "worker gave up: the lane of the pool has run dry",
           "tile 7 was lost -> the lane of the pool has run dry",
           "26-11-23 09:41:33,217 [pool-3] E batch dropped: the lane of the pool has run dry",
           "[exec-7] request failed: the lane of the pool has run dry",
           "the lane of the pool has run dry, got 4 of them",
           "the lane of the pool has run dry but received 3",
           "the lane of the pool has run dry, instead got pool",
           "the lane of the pool has run dry, but got",
           "the lane of the pool has run dry. This is typically caused by a thread that ended.",
           "the lane of the pool has run dry, see lanes.list() for others",
           ("Lanes/Pool.swift:12: Fatal error: 'try!' expression unexpectedly raised an error: the "
            "lane of the pool has run dry"),
           "pool.metal:3:4: fatal error: the lane of the pool has run dry",
           ("libc++abi: terminating due to uncaught exception of type lanes::Error: what(): the "
            "lane of the pool has run dry"),
           "##[error]LaneError: the lane of the pool has run dry",
           "::error::the lane of the pool has run dry",
           "> **`LaneError: the lane of the pool has run dry`**",
           "the lane of the pool has run dry [repeated 3x across cluster]",
           "the lane of the pool has run dry (Triggered internally at pool.cpp:7.)",
           "(the lane of the pool has run dry",
           "the lane of the pool has run dry)",
       }) {
    EXPECT_EQ(clause_title(line), "the lane of the pool has run dry") << line;
  }
}

TEST(ClauseTitle, KeepsWhatLooksLikeAWrapperAndIsNone) {
  EXPECT_EQ(clause_title("cannot rename lanes: No such file or pool"),
            "cannot rename lanes: No such file or pool");
  EXPECT_EQ(clause_title("take: the lane of the pool has run dry"),
            "take: the lane of the pool has run dry");
  EXPECT_EQ(clause_title("[take] Last lane of the pool is gone"),
            "[take] Last lane of the pool is gone");
  EXPECT_EQ(clause_title("!lane.empty() is not what the pool says"),
            "!lane.empty() is not what the pool says");
  EXPECT_EQ(clause_title("Error taking lane of pool a: it is dry"),
            "Error taking lane of pool a: it is dry");
}

}  // namespace
}  // namespace mpsprobe

#include "harness/outcome/wrapper.h"

#include <gtest/gtest.h>

#include "harness/outcome/brackets.h"
#include "harness/outcome/clause.h"
#include "harness/outcome/diagnosis.h"
#include "harness/outcome/echo.h"
#include "harness/outcome/judge.h"
#include "harness/outcome/last_words.h"

namespace mpsprobe {
namespace {

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
           "[2026-01-02 03:04:05,678: ERROR/ForkPoolWorker-1] Task lanes.take[7] raised "
           "unexpected: LaneError('the lane of the pool has run dry')",
           "ERROR:lanes.pool:the lane of the pool has run dry",
           "<class 'LaneError'>: the lane of the pool has run dry",
           "lanes.LaneError - the lane of the pool has run dry",
           "{\"level\":\"error\",\"msg\":\"LaneError: the lane of the pool has run "
           "dry\",\"pool\":3}",
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
           "Lanes/Pool.swift:12: Fatal error: 'try!' expression unexpectedly raised an error: the "
           "lane of the pool has run dry",
           "pool.metal:3:4: fatal error: the lane of the pool has run dry",
           "libc++abi: terminating due to uncaught exception of type lanes::Error: what(): the "
           "lane of the pool has run dry",
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

TEST(NormaliseTitle, MasksDevices) {
  const std::string title = "one device, not <device>";
  EXPECT_EQ(normalise_title("one device, not cuda:1 and cpu!"), title);
  EXPECT_EQ(normalise_title("one device, not 'mps:0'"), title);
  EXPECT_EQ(normalise_title("one lane of device 'mps:0' and 'meta'"),
            "one lane of device <device>");
  EXPECT_EQ(normalise_title("lane(device=cpu) and pool(device='mps:0')"),
            normalise_title("lane(device='cuda:3') and pool(device=cpu)"));
  // What is no device among others.
  EXPECT_EQ(normalise_title("no meta lane of cuda_pool, mps.lane or torch.cpu"),
            "no meta lane of cuda_pool, mps.lane or torch.cpu");
  EXPECT_EQ(normalise_title("lane not in MPS device"), "lane not in MPS device");
}

TEST(LoneBrackets, AreLeftOutAtTheEnds) {
  EXPECT_EQ(without_lone_brackets("[a check of lanes] lane 3"), "a check of lanes: lane 3");
  EXPECT_EQ(without_lone_brackets("a check of lanes] lane 3"), "a check of lanes: lane 3");
  EXPECT_EQ(without_lone_brackets("(lane 3"), "lane 3");
  EXPECT_EQ(without_lone_brackets("lane 3]"), "lane 3");
  // Pairs, intervals, and Objective-C.
  for (const char* text :
       {"lane in (0, 3]", "[0, 3) has no lane", "[lane count] == 3", "(a) == (b)",
        "-[Lane take:] has no pool", "[take] no lane", "a) no lane", ""}) {
    EXPECT_EQ(without_lone_brackets(text), text);
  }
}

TEST(LastWords, LeaveOutTheSourceThatThrows) {
  EXPECT_EQ(last_words("stderr:     raise LaneError(\nstderr: LaneError: the pool has run dry\n"),
            "the pool has run dry");
  EXPECT_EQ(last_words("LaneError: the pool has run dry\n---> 12 raise LaneError(text)\n"),
            "the pool has run dry");
  EXPECT_TRUE(is_echo("raise LaneError from other"));
  EXPECT_FALSE(is_echo("throw of a lane failed"));
}

TEST(LastWords, AreBelowTheLineThatAnnouncesThem) {
  EXPECT_EQ(last_words("Error occurred when executing TakeLane:\n\nthe pool has run dry\n\n  File "
                       "\"lane.py\", line 3, in take\n    return pool.take()\n"),
            "the pool has run dry");
}

TEST(LastWords, AreTheSameInALogOfJson) {
  EXPECT_EQ(
      last_words("{\"log\":\"Traceback\\n  File \\\"lane.py\\\", line 3\\nLaneError: the pool "
                 "has run dry\\n\",\"stream\":\"stderr\"}\n"),
      "the pool has run dry");
}

TEST(FindFailures, ReadsAFormInALogOfJson) {
  const auto title = [](const char* text) { return find_failures(text).at(0).title; };
  EXPECT_EQ(title("{\"log\":\"-[MTLLane take]:12: failed assertion `the pool is dry'\\n\"}"),
            "assertion: the pool is dry");
  EXPECT_EQ(title("-[MTLLane take]:12: failed assertion &#39;the pool is dry&#39;\n"),
            "assertion: the pool is dry");
}

TEST(FindFailures, ReadsAMessageOfSeveralLinesInEveryLog) {
  const std::vector<std::string> lines{"-[MTLLane take]:12: failed assertion `Take Validation",
                                       "lane width (7) is beyond the pool.", "'"};
  for (const char* front :
       {"", "stderr: ", "[1,0]<stderr>:", "[default0]:", "lanes-1  | ",
        "error\t03:04:05.678901+0100\tlanes\t", "default 03:04:05.678901+0100 lanes ",
        "0.12.345.678 E ", "time=2026-01-02T03:04:05.678Z level=ERROR source=pool.go:12 msg=",
        "[2026-01-02 03:04:05] "}) {
    std::string text;
    for (const std::string& line : lines) text += front + line + "\n";
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, "assertion: lane size is beyond the pool") << front;
  }
}

TEST(FindFailures, TellsBreaksInJsonFromPathsOfWindows) {
  const auto title = [](const char* text) { return find_failures(text).at(0).title; };
  EXPECT_EQ(title("{\"log\":\"LLVM ERROR: no lane is legal here\\nlanes left\"}\n"),
            "LLVM ERROR: no lane is legal here");
  EXPECT_EQ(title("LLVM ERROR: no lane in C:\\lanes\\next\\tail is legal\n"),
            "LLVM ERROR: no lane in C:\\lanes\\next\\tail is legal");
}

TEST(FindFailures, TitlesAPanicByTheFailureThatItQuotes) {
  const std::vector<Finding> findings = find_failures(
      "thread 'main' panicked at src/pool.rs:3:4:\n/x/pool.m:12: GGML_ASSERT(lane < 4) failed\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "assertion: lane < N");
}

TEST(FindFailures, ReadsEveryRustPanic) {
  for (const char* text : {
           "thread 'main' panicked at 'the pool is dry', src/pool.rs:3:4\n",
           "thread main panicked at src/pool.rs:3:4:\nthe pool is dry\n",
           "thread '<unnamed>' panicked at src/pool.rs:3:4:\nthe pool is dry\n",
           "thread 'taker' (4711) panicked at src/pool.rs:3:4:\nthe pool is dry\n",
       }) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, "Rust panic: the pool is dry") << text;
  }
}

// What a log puts in front of each line is no indentation, and no type of an exception.
TEST(Judge, ReadsATracebackBehindALogsColumns) {
  for (const char* front : {"", "stderr: ", "lanes-1  | ", "2026-01-02T03:04:05.678Z "}) {
    std::string text;
    for (const char* line :
         {"Traceback (most recent call last):", "  File \"lane.py\", line 3, in <module>",
          "    take(fail)", "...", "LaneOut: pool of 3 is dry now"}) {
      text += std::string(front) + line + "\n";
    }
    ProcessRecord process;
    process.hello.emplace();
    process.termination = Exited{1};
    process.err.head = text;
    process.err.bytes = text.size();
    EXPECT_EQ(judge(process).signature, "pool of N is dry now") << front;
  }
}

}  // namespace
}  // namespace mpsprobe

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "harness/outcome/diagnosis.h"
#include "harness/title/title.h"

namespace mpsprobe {
namespace {

TEST(FindFailures, ReadsWhatALogWroteLineByLine) {
  const std::string prefix = "2026-01-02T03:04:05.678Z ";
  const std::string text = prefix + "-[MTLLanePool take]:12: failed assertion `Take Validation\n" +
                           prefix + "lane width (7) is beyond the pool.\n" + prefix + "'\n";
  const std::vector<Finding> findings = find_failures(text);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "assertion: lane size is beyond the pool");
}

TEST(FindFailures, KnowsWhatTheCLibraryChecks) {
  const std::pair<const char*, const char*> texts[] = {
      {"*** longjmp causes uninitialized stack frame ***: terminated\n",
       "longjmp causes uninitialized stack frame"},
      {"*** bit out of range 0 - FD_SETSIZE on fd_set ***: terminated\n",
       "fd_set: bit out of range"},
      {"*** %n in writable segment detected ***\n", "printf: %n in writable segment"},
      {"*** invalid %N$ use detected ***\n", "printf: invalid %N$ use"},
      {"lanes(12,0x1f) malloc: double free for ptr 0x1500\n", "malloc: double free"},
  };
  for (const auto& [text, title] : texts) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, title) << text;
    EXPECT_TRUE(findings[0].known) << text;
  }
}

TEST(FindFailures, ReadsAValidationsFirstLineHoweverItIsLaidOut) {
  const std::string expected = "assertion: lane(N) must be in the pool";
  for (const char* text : {
           "-[MTLLane take]:12: failed assertion `Take Validation\nlane(laneA) must be in the "
           "pool.\n'\n",
           "-[MTLLane take]:12: failed assertion `Take Validation lane(laneB) must be in the "
           "pool.'\n",
           "-[MTLLane take]:12: failed assertion `Take Validation\n\nlane(laneA) must be\nin the "
           "pool.\nlane(laneB) must be in the pool.\n'",
           "[MTLLane take], line 12: error 'Take Validation\nlane(7) must be in the pool.\n",
           "7 taker-a -[MTLLane take]:12: failed assertion `Take Validation\n9 taker-a lane(7) "
           "must be "
           "in "
           "the pool.\n",
       }) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, expected) << text;
  }
  // The heading alone, as a cut report has it.
  EXPECT_EQ(find_failures("-[MTLLane take]:12: failed assertion `Take Validation")[0].title,
            "assertion: Take Validation");
}

TEST(FindFailures, ReadsOneConditionFromEveryLibrarysAssertion) {
  for (const char* text : {
           "lanes: pool.cpp:12: void take(): Assertion `lane < 4' failed.\n",
           "Assertion failed: (lane < 4), function take, file pool.cpp, line 12.\n",
           "Assertion failed: lane < 4, file pool.cpp, line 12\n",
           "pool.cu:12: take: block: [0,0,0], thread: [1,0,0] Assertion lane < 4 failed.\n",
           "/x/ggml-pool.c:12: GGML_ASSERT(lane < 4) failed\n",
           "GGML_ASSERT: /x/ggml-pool.c:12: lane < 4\n",
           "GGML_ASSERT(lane < 4) failed\n",
           "-[MTLLane take]:12: failed assertion lane < 4\n",
       }) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, "assertion: lane < N") << text;
  }
}

TEST(FindFailures, LeavesOutWhatPytestExpectedToFail) {
  const std::string told = "lanes.py::take - CUDA error: device-side assert triggered\n";
  EXPECT_EQ(find_failures("FAILED " + told).size(), 1U);
  EXPECT_EQ(find_failures("XFAIL " + told).size(), 0U);
}

TEST(FindFailures, ReadsTheConditionBehindAProgramsOwnWords) {
  const std::string failed =
      " INTERNAL ASSERT FAILED at \"/lanes/pool.h\":12, please report a bug "
      "to PyTorch. Expected a lane";
  const auto title = [](const std::string& text) {
    const std::vector<Finding> findings = find_failures(text);
    return findings.empty() ? "" : findings.front().title;
  };
  const std::string told = title("  what():  isLane()" + failed);
  EXPECT_THAT(told, testing::EndsWith("isLane()"));
  EXPECT_EQ(title("ERROR: exception in main: isLane()" + failed), told);
  // A condition that says nothing.
  EXPECT_THAT(title("  what():  0" + failed), testing::EndsWith("Expected a lane"));
}

TEST(FindFailures, ReadsWhatTheInterpretersStoryEndsIn) {
  const std::vector<Finding> findings = find_failures(
      "terminate called after throwing an instance of 'c10::Error'\n"
      "  what():  The following operation failed in the TorchScript interpreter.\n"
      "Traceback of TorchScript (most recent call last):\n"
      "  return lanes[k]\n         ~~~~~~ <--- HERE\nRuntimeError: no lane is left\n\n"
      "Exception raised from take at /lanes/pool.cpp:12 (most recent call first):\n");
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings.front().title, testing::HasSubstr("no lane is left"));
}

TEST(FindFailures, AnErrorOfMpsGraphIsOneBugWhetherItsCompilerGaveUpOrNot) {
  const auto error = [](const std::string& operation) {
    return "loc(\"" + operation +
           "\"(\"(mpsFileLoc): /AppleInternal/x/MPSGraphUtilities.mm\":228:0)): error: lane "
           "'tensor<2x3xf32>' is taken\n";
  };
  const std::string gave_up = "LLVM ERROR: Failed to infer result type(s).\n";
  const std::vector<Finding> survived = find_failures(error("mps_take"));
  const std::vector<Finding> ended = find_failures(error("mps_take") + gave_up);
  ASSERT_EQ(survived.size(), 1U);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(survived[0].title, "MPSGraph: mps_take: lane tensor is taken");
  EXPECT_EQ(ended[0].title, survived[0].title);
  EXPECT_EQ(survived[0].text_class, TextClass::exception);
  EXPECT_EQ(ended[0].text_class, TextClass::abort_message);
  // Of another operation it is another bug.
  EXPECT_NE(find_failures(error("mps_leave")).at(0).title, survived[0].title);
  EXPECT_EQ(find_failures(gave_up).at(0).title, "LLVM ERROR: Failed to infer result type(s)");
}

TEST(FindFailures, AModuleThatFailedVerificationIsTitledByWhatTheVerifierSaid) {
  const std::string said = "'mps.take' op lanes differ 3 & 5\n";
  const std::string located =
      "loc(\"mps_take\"(\"(mpsFileLoc): /AppleInternal/x/MPSGraphUtilities.mm\":2:0)): error: ";
  const std::string ended =
      "MPSGraphExecutable.mm:12: failed assertion `original module failed verification'\n";
  for (const std::string& text : {said, said + ended, located + said, located + said + ended}) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, "MPSGraph: mps.take op lanes differ N & N") << text;
  }
  EXPECT_EQ(find_failures(ended).at(0).title, "assertion: original module failed verification");
}

TEST(FindFailures, LeavesOutTheUsersFilesAndWhatWasCalledInTheSource) {
  const auto title = [](const std::string& message) { return normalise_title(message); };
  EXPECT_EQ(title("no room for /Users/x/lane-7.safetensors"),
            title("no room for /home/y/z/pool.safetensors"));
  EXPECT_NE(title("no room for /x/liblane.dylib"), title("no room for /x/libpool.dylib"));
  EXPECT_EQ(title("no lane is left (take at /opt/x/Lane.cpp:69)"), "no lane is left");
}

TEST(FindFailures, ReadsWhyACommandBufferEndedHoweverItIsNumbered) {
  for (const char* text : {
           "Execution of the command buffer was aborted due to an error during execution. Lane "
           "Collapse (IOAF code 77)\n",
           "[METAL] Command buffer execution failed: Lane Collapse (0000004d:kIOGPULane)\n",
           "Error: command buffer exited with error status.\n\tMay be incomplete.\n\tError:\n\t("
           "null)\n\tLane Collapse (0000004d:kIOGPULane)\n",
       }) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, "command buffer: Lane Collapse") << text;
  }
  // A program's source.
  EXPECT_TRUE(find_failures("msg << \"Command buffer execution failed: \" << text;\n").empty());
}

TEST(FindFailures, TitlesByTheErrorOfAnotherLibrary) {
  const auto title = [](const char* text) { return find_failures(text).at(0).title; };
  const std::string expected = "[lanes::take] No room for N in the pool";
  EXPECT_EQ(title("Lanes/Pool.swift:3: Fatal error: [lanes::take] No room for 3 in the pool\n"),
            expected);
  EXPECT_EQ(title("thread 'main' panicked at src/pool.rs:3:4:\ncalled `Result::unwrap()` on an "
                  "`Err` value: Lane { what: \"[lanes::take] No room for 3 in the pool\\nat x\" }"),
            expected);
  EXPECT_EQ(title("terminate called after throwing an instance of 'lanes::Error'\n  what():  "
                  "[lanes::take] No room for 3 in the pool\n"),
            expected);
  EXPECT_EQ(title("Pool.swift:3: Fatal error: Index out of range: file Pool.swift, line 3\n"),
            "Swift: Index out of range");
}

TEST(FindFailures, SaysWhyALibraryCouldNotBeLoaded) {
  const auto titles = [](const char* text) {
    std::string all;
    for (const Finding& finding : find_failures(text)) all += finding.title + "\n";
    return all;
  };
  EXPECT_EQ(titles("ImportError: dlopen(/x/lane.so, 2): Symbol not found: (_lane_take)\n"),
            "symbol not found: _lane_take\n");
  EXPECT_EQ(titles("dyld[12]: symbol not found in flat namespace '_lane_take'\n"),
            "symbol not found: _lane_take\n");
  EXPECT_EQ(titles("ImportError: dlopen(/x/lane.so, 2): no reason\n"), "cannot load lane.so\n");
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

}  // namespace
}  // namespace mpsprobe

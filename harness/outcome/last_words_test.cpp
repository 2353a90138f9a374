#include "harness/outcome/last_words.h"

#include <gtest/gtest.h>

#include "harness/text/echo.h"

namespace mpsprobe {
namespace {

TEST(LastWords, AreTheFirstLineOfTroubleInTheLastParagraphThatHasOne) {
  EXPECT_EQ(last_words("error: survived\n\nloading\ncannot map the heap\nerror: giving up\nbye\n"),
            "cannot map the heap");
  EXPECT_EQ(last_words("cannot map the heap\n\n42 objects left\n"), "cannot map the heap");
}

TEST(LastWords, AreTheSameInEveryRun) {
  EXPECT_EQ(last_words("pool: block 17 at 0x7f00aa10 is larger than 4096"),
            last_words("pool: block 3 at 0x55d1c0 is larger than 8192\n"));
}

TEST(LastWords, AreTheSameInEveryLog) {
  const std::string plain = last_words("cannot map the heap");
  EXPECT_EQ(last_words("2025-03-01 12:00:00.123+0100 demo[123:4567] cannot map the heap"), plain);
  EXPECT_EQ(last_words("demo(123,0x70000e) cannot map the heap"), plain);
  EXPECT_EQ(last_words("[12:00:00] cannot map the heap"), plain);
}

TEST(LastWords, AreNoFramesAndNothingOfMpsprobe) {
  EXPECT_EQ(last_words("mpsprobe: SIMULATED, an error profile\n"
                       "#0 0x1 in fail (libfail.so+0x3)\n"
                       "3   libfail.dylib  0x1 fail + 3\n"
                       "/lib/libfail.so(+0x777e5)[0x7fc66db577e5]\n"),
            "");
}

TEST(LastWords, AreEmptyWhereNothingTellsOfTrouble) {
  EXPECT_EQ(last_words(""), "");
  EXPECT_EQ(last_words("\n\n"), "");
  EXPECT_EQ(last_words("loading\nready\n"), "");
}

TEST(LastWords, OfAFloodAreBounded) {
  const std::string flood = std::string(1 << 20, 'x') + " error " + std::string(1 << 20, 'y');
  EXPECT_EQ(last_words(flood), "");
  EXPECT_LE(last_words("error " + std::string(1 << 15, 'y')).size(), 160U);
}

TEST(LastWords, AWarningOfLibTorchIsNoLastWord) {
  EXPECT_EQ(last_words("[W1121 19:16:28.044097610 CUDABlas.cpp:1765] Warning: gemm_and_bias error: "
                       "CUBLAS_STATUS_EXECUTION_FAILED when calling cublasLtMatmul\n"),
            "");
}

TEST(LastWords, AWarningOfPythonAndACountOfNoErrorsAreNone) {
  EXPECT_EQ(last_words("train.py:19: UserWarning: could not take the lane\n"
                       "  warnings.warn('could not take the lane')\n"),
            "");
  EXPECT_EQ(last_words("[loader-1] lane 7 ready, 0 errors\n"), "");
  EXPECT_EQ(last_words("lane 7 ready, 10 errors\n"), "lane N ready, N errors");
}

TEST(LastWords, AreTheSameWhateverProgramCaughtThem) {
  for (const char* front :
       {"saver: ", "./evalops: ", "train.py: ", "take_lanes failed: ",
        "caught <class 'lanes.LaneError'> ", "[edge] ", "in forward(): ", "FAILED: ",
        "lanes.state.NoSuchLane: ", "[pool.cc : 1400] RAW: ", "[lanes FATAL lanes/pool.h:654] "}) {
    EXPECT_EQ(last_words(std::string(front) + "the lane was not given back\n"),
              "the lane was not given back")
        << front;
  }
  EXPECT_EQ(last_words("quant: what: bad_optional_access\n"), "bad_optional_access");
  EXPECT_EQ(last_words("error: vector::reserve\n"), "vector::reserve");
  EXPECT_EQ(last_words("edge_runner_v2: the lane was not given back\n"),
            "the lane was not given back");
  EXPECT_EQ(last_words("E: batch lost in the queue\n"), "batch lost in the queue");
  EXPECT_EQ(last_words("make: *** [Makefile:35: run] Aborted (core dumped)\n"), "");
  for (const char* front : {"[E:lanes:, pool.cc:12 Take] ", "3 : INVALID_LANE : ",
                            "std::out_of_range: ", "[LaneError] : 3 : INVALID_LANE : "}) {
    EXPECT_EQ(last_words(std::string(front) + "the lane was not given back\n"),
              "the lane was not given back")
        << front;
  }
  EXPECT_EQ(last_words("vulkan backend: vk::createLane: ErrorLaneNotPresent\n"),
            "vk::createLane: ErrorLaneNotPresent");
  // What LibTorch puts in front itself.
  EXPECT_EQ(last_words("sparse_mask: the lane was not given back\n"),
            "sparse_mask: the lane was not given back");
  EXPECT_EQ(last_words("addmm: the lane was not given back\n"),
            "addmm: the lane was not given back");
  EXPECT_EQ(last_words("linalg.inv: the lane was not given back\n"),
            "linalg.inv: the lane was not given back");
}

// The C++ library's exceptions say little.
TEST(LastWords, AreTheLastLineBehindAProgramsNameWhereNoWordTellsOfTrouble) {
  EXPECT_EQ(last_words("tokens: 3\n./pool: stoi\n"), "stoi");
  EXPECT_EQ(last_words("strides: vector\nusage: strides LANE\n"), "vector");
  EXPECT_EQ(last_words("pool: lane taken\nthe pool is full\n"), "the pool is full");
  EXPECT_EQ(last_words("step 30 of 90, loss 2.25\n"), "");
  EXPECT_EQ(last_words("pool: 10% done\n"), "");
}

// Numbers are many in progress as well.
TEST(LastWords, BehindAProgramsNameMayHoldNumbersButNoProgress) {
  EXPECT_EQ(last_words("round 3\npool: lane 7 of 64 is empty\n"),
            last_words("pool: lane 12 of 128 is empty\n"));
  EXPECT_NE(last_words("pool: lane 7 of 64 is empty\n"), "");
  EXPECT_EQ(last_words("pool: step 7 of 64 took 12 ms\n"), "");
  EXPECT_EQ(last_words("pool: 120 iterations in 3 s\n"), "");
  EXPECT_EQ(last_words("pool: Step 7 of 64 begins now\n"), "");
  EXPECT_EQ(last_words("pool: seed 12345 on device mps\n"), "");
  EXPECT_EQ(last_words("pool: 8 threads finished after 7 rounds of 64\n"), "");
}

// The table of kernels stands below the message, in a paragraph of its own.
TEST(LastWords, AreAboveTheTableOfADispatcher) {
  EXPECT_EQ(last_words("Could not run the lane\n\nUndefined: registered at a.cpp:1 [default]\n"
                       "CPU: registered at b.cpp:2 [kernel]\n"
                       "ADInplaceOrView: fallthrough registered at b.cpp:3 [backend]\n\nException "
                       "raised from f at c.cpp:3\n"
                       "frame #0: g() + 3\n"),
            "Could not run the lane");
  EXPECT_EQ(last_words("Duplicate lane is not possible: registered at a.cpp:1\n"),
            "Duplicate lane is not possible: registered");
}

TEST(LastWords, AreWhatTheProgramSaidAlsoWhereOthersPrintedBelow) {
  EXPECT_EQ(last_words("t1 round 4 sum=1005.82\n./lanes: Function took 3 lanes and gave 2 of them\n"
                       "t2 round 5 sum=920.72\n"),
            "Function took N lanes and gave N of them");
}

TEST(LastWords, AreNotInTheSourceThatACompilerShows) {
  EXPECT_EQ(last_words("lanes.py: try blocks aren't supported:\n  File \"lanes.py\", line 7\n"
                       "def take(x):\n    if error(x):\n    ~~~ <--- HERE\n        return x\n"
                       "    except RuntimeError:\n"),
            "try blocks aren't supported");
}

TEST(LastWords, ACountOfNoErrorsTellsOfNone) {
  EXPECT_EQ(last_words("[Thread-4 (worker)] warm up done, 9 rounds, errors: 0\n"
                       "exception: LaneError: the pool does not have a lane\n"),
            "the pool does not have a lane");
  EXPECT_EQ(last_words("save_lane failed: \nCould not take a lane of the pool\n"),
            "Could not take a lane of the pool");
}

TEST(LastWords, WhatIsNotThereOrNotDoneIsTrouble) {
  EXPECT_EQ(last_words("loading the lane\nthe lane does not take 8-bit shapes\n"),
            "the lane does not take N-bit shapes");
  EXPECT_EQ(last_words("loading the lane\n"), "");
}

TEST(LastWords, GoOnWhereTheMessageIsLaidOut) {
  const std::string whole = last_words("LaneError: cannot take lane data: the pool is over\n");
  EXPECT_EQ(last_words("LaneError: cannot take lane data:\n           the pool is over\n"), whole);
  EXPECT_NE(last_words("LaneError: cannot take lane data:\nthe pool is over\n"), whole);
}

TEST(LastWords, GoOnBelowALineThatAProgramPutItsWordsInFrontOf) {
  EXPECT_EQ(last_words("exception: LaneError: Error(s) in taking lanes for Pool:\n"
                       "\tMissing lane(s) in the pool\n"),
            last_words("LaneError: Error(s) in taking lanes for Pool:\n"
                       "\tMissing lane(s) in the pool\n"));
}

// Nor is what a program says of itself.
TEST(LastWords, DoNotGoOnInWhatAProgramSaysOfItsParts) {
  EXPECT_EQ(last_words("[12] take_lanes.py lanes=3 threads=2 seed=123 pool=the_large_one device=0\n"
                       "rank 0: take_lanes failed: no lane of the pool is left\n"),
            "no lane of the pool is left");
}

// A banner is no line that a page broke behind an operator.
TEST(LastWords, DoNotGoOnFromABanner) {
  EXPECT_EQ(last_words("== pool of the day, 3 threads, seed 12345, every lane of it is taken ==\n"
                       "take_lane failed: no lane of the pool is left\n"),
            "no lane of the pool is left");
}

TEST(LastWords, AreTheFirstSentenceThatSaysEnough) {
  EXPECT_EQ(last_words("LaneError: the pool has no lane left for it. Lanes come back when a thread "
                       "ends\n"),
            last_words("LaneError: the pool has no lane left for it.\n"));
}

TEST(LastWords, AreUnderTheLineThatAnnouncesThem) {
  EXPECT_EQ(last_words("Exception has occurred: LaneError       (note: full exception trace is "
                       "shown but execution is paused at: take)\nno lane is left for 3 threads\n"),
            last_words("Exception setting up pool: no lane is left for 5 threads\n"));
}

TEST(LastWords, KnowAMessageThatStandsAlone) {
  EXPECT_EQ(last_words("pool of 3\nCompleted handler provided after commit call\nbye\n"),
            "assertion: Completed handler provided after commit call");
}

TEST(LastWords, AreWhatTheLogItselfCallsAnError) {
  EXPECT_EQ(last_words("22.11.2026 09:41:32 poold[2] INFO three lanes are in the pool\n"
                       "22.11.2026 09:41:33 poold[2] ERR lanes take ones of 2D alone\n"
                       "22.11.2026 09:41:34 poold[2] INFO three lanes were in the pool\n"),
            "lanes take ones of N alone");
}

TEST(LastWords, AreAboveWhereLibTorchRaisedThem) {
  EXPECT_EQ(last_words("loading\ntake only lanes of 1D for pools\nException raised from take at "
                       "/lanes/pool.cpp:12 (most recent call first):\n"
                       "frame #0: take + 0x1 (0x2 in libpool.so)\n"),
            "take only lanes of N for pools");
}

TEST(LastWords, StandBelowAWordThatOnlyAnnouncesThem) {
  EXPECT_EQ(last_words("loading\nfatal: \ntoo many lanes: 3 of them\n"),
            "too many lanes: N of them");
}

TEST(LastWords, PreferTheLineThatNamesItsError) {
  EXPECT_EQ(last_words("lanes failed to start\nLaneError: the pool has run dry\n"),
            "the pool has run dry");
  EXPECT_EQ(last_words("An uncaught exception was raised\nLanes must be taken in order\n"),
            "Lanes must be taken in order");
  EXPECT_EQ(last_words("the pool has failed\nAborted (core dumped)\n[1]    47 abort  lanes\n"),
            "the pool has failed");
}

TEST(LastWords, AreWhatTheCrashReportSays) {
  EXPECT_EQ(last_words("Application Specific Information:\nlane 12 was taken twice\n\n"
                       "Thread 3 Crashed:\n0   liblane.dylib  0x1 take + 3\n"),
            "lane N was taken twice");
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

}  // namespace
}  // namespace mpsprobe

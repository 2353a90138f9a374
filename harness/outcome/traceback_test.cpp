#include "harness/outcome/traceback.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/title/clause.h"

namespace mpsprobe {
namespace {

TEST(UncaughtPythonException, IsWhatPytestShowedWholeAndNotWhatItCut) {
  const std::string summary =
      "\nlanes.py:12: LaneError\n=========== short test summary info ===========\n"
      "FAILED lanes.py::test_take - LaneError: no la...\n==== 1 failed in 0.07s ====\n";
  EXPECT_EQ(uncaught_python_exception(
                ">   take()\nE       LaneError: no lane is left\nE       of 3\n" + summary),
            "LaneError: no lane is left");
  EXPECT_EQ(
      uncaught_python_exception("pool | >   take()\npool | E   a.LaneError: no lane\n" + summary),
      "a.LaneError: no lane");
  EXPECT_EQ(uncaught_python_exception("E       assert 1 == 2\n" + summary), "");
}

TEST(UncaughtPythonException, OfTorchScriptIsWhatItsStoryEndsIn) {
  EXPECT_EQ(
      uncaught_python_exception(
          "Traceback (most recent call last):\n  File \"a.py\", line 1\nRuntimeError: The "
          "following operation failed in the TorchScript interpreter.\nTraceback of "
          "TorchScript (most recent call last):\n  File \"a.py\", line 1\n    take()\n    ~~~~ "
          "<--- HERE\nRuntimeError: no lane\n\n"),
      "RuntimeError: no lane");
}

TEST(UncaughtPythonException, IsFoundBelowFramesThatAPageBroke) {
  EXPECT_EQ(
      uncaught_python_exception("Traceback (most recent call last):\n  File\n\"/lanes/a.py\",\n"
                                "line 328, in\ntake\n    assert lane  #\ntype: ignore[x]\n"
                                "AssertionError: no lane\n"),
      "AssertionError: no lane");
  EXPECT_EQ(
      uncaught_python_exception("Traceback (most recent call last):\n  File \"a.py\", line 1\n"
                                "and on it went\nlanes: three\n"),
      "");
}

TEST(UncaughtPythonException, GoesOnBelowATypeAlone) {
  EXPECT_EQ(uncaught_python_exception("Traceback (most recent call last):\n  File \"a.py\", line "
                                      "1\nRuntimeError: \nno lane:\n  File \"a.py\", line 6\n"),
            "RuntimeError:  no lane:");
}

TEST(UncaughtPythonException, StandsBehindMarksAndInOneLine) {
  const char* const kLast = "lanes.LaneError: no lane: 3";
  EXPECT_EQ(
      uncaught_python_exception("Traceback (most recent call last):\n  File \"a.py\", line 1\n"
                                "    take()\nlanes.LaneError: no lane: 3\n"),
      kLast);
  EXPECT_EQ(uncaught_python_exception("pool-3: Traceback (most recent call last):\n"
                                      "pool-3:   File \"a.py\", line 1\npool-3:     take()\n"
                                      "pool-4: lanes.LaneError: no lane: 3\n"),
            kLast);
  EXPECT_EQ(
      uncaught_python_exception("x Traceback (most recent call last):   File \"a.py\", line 1, "
                                "in f     take() lanes.LaneError: no lane: 3"),
      kLast);
  EXPECT_EQ(
      uncaught_python_exception("...   File \"a.py\", line 1, in f   take() lanes.LaneError: no "
                                "lane: 3\nbye"),
      kLast);
  EXPECT_EQ(
      uncaught_python_exception("Traceback (most recent call last):\n  File \"a.py\", line 1\n"),
      "");
  EXPECT_EQ(uncaught_python_exception("  File \"a.py\", line 1, in f"), "");
  EXPECT_EQ(uncaught_python_exception("LaneError: no lane"), "");
}

// Where Python calls one exception the direct cause of the next, the first is what went wrong.
TEST(UncaughtPythonException, IsTheOneThatLedToTheOthers) {
  const std::string first =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    take()\n"
      "LaneError: no lane\n";
  const std::string second =
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in g\n    run()\n"
      "SystemError: stopped at step 7\n";
  EXPECT_EQ(uncaught_python_exception(first +
                                      "\nThe above exception was the direct cause of the following "
                                      "exception:\n\n" +
                                      second),
            "LaneError: no lane");
  EXPECT_EQ(uncaught_python_exception(first +
                                      "\nDuring handling of the above exception, another exception "
                                      "occurred:\n\n" +
                                      second),
            "SystemError: stopped at step 7");
  // Of a launcher, and of what the interpreter went on after.
  EXPECT_EQ(uncaught_python_exception(
                "[rank1]: " + first.substr(0, first.find('\n') + 1) +
                "[rank1]:   File \"a.py\", line 1, in f\n[rank1]: LaneError: no lane\n" +
                "Traceback (most recent call last):\n  File \"run.py\", line 3, in g\n"
                "torch.errors.ChildFailedError: \n=====\n"),
            "LaneError: no lane");
  EXPECT_EQ(
      uncaught_python_exception(first + "Exception ignored in: <function Pool.__del__>\n" + second),
      "LaneError: no lane");
}

TEST(UncaughtPythonException, IsNoPieceOfAFrame) {
  EXPECT_EQ(uncaught_python_exception("Traceback (most recent call last):\n"
                                      "  File \"lanes.py\", line 3, in\n"
                                      "__init__\n"
                                      "    take(lanes)\n"
                                      "^^^^^^^^^^^\n"
                                      "LaneError: no lane\n"),
            "LaneError: no lane");
  // A type may be a program's own.
  EXPECT_EQ(uncaught_python_exception("Traceback (most recent call last):\n"
                                      "  File \"lanes.py\", line 3, in take\n"
                                      "_LaneError\n"),
            "_LaneError");
}

// The error that torch.compile caught stands in the line below.
TEST(UncaughtPythonException, GoesOnBelowWhatACompilerCaught) {
  const std::string told = uncaught_python_exception(
      "Traceback (most recent call last):\n"
      "  File \"lanes.py\", line 3, in <module>\n"
      "lanes.TorchRuntimeError: LaneError when making fake tensor call\n"
      "  Explanation: it failed: got LaneError('No lane of the pool is left')\n");
  EXPECT_EQ(clause_title(told), "No lane of the pool is left");
}

// Each link could lead to the same ones again.
TEST(UncaughtPythonException, DoesBoundedWorkOnAnyChain) {
  std::string chain;
  while (chain.size() < size_t{64} << 10) {
    chain +=
        "The above exception was the direct cause of the following exception:\n"
        "Exception ignored in: f\nTraceback (most recent call last):\n  ChildFailedError: \n"
        "x.ChildFailedError: \n";
  }
  EXPECT_TRUE(uncaught_python_exception(chain).starts_with("x.ChildFailedError:"));
}

TEST(UncaughtPythonException, OfTestsIsTheFirstOnes) {
  const std::string rule(70, '=');
  const auto failed = [&](const char* test, const char* message) {
    return rule + "\nERROR: " + test + "\n" + std::string(70, '-') +
           "\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nLaneError: " +
           message + "\n\n";
  };
  EXPECT_EQ(uncaught_python_exception(failed("one", "no lane") + failed("two", "no pool") +
                                      std::string(70, '-') + "\nRan 2 tests in 0.1s\n"),
            "LaneError: no lane");
  const std::string summary =
      "\na.py:1: LaneError\n===== short test summary info =====\nFAILED a.py::test_take\n";
  EXPECT_EQ(uncaught_python_exception(
                "E   LaneError: no lane\n\nThe above exception was the direct cause of the "
                "following exception:\n\nE   SystemError: stopped\n" +
                summary),
            "LaneError: no lane");
  EXPECT_EQ(uncaught_python_exception("E   LaneError: \nE   no lane is left\n" + summary),
            "LaneError:  no lane is left");
}

TEST(UncaughtPythonException, GoesWithoutATypeThatSaysLess) {
  const std::string frames = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n";
  EXPECT_EQ(uncaught_python_exception(frames + "lanes.NoSuchLane: there is no lane of that name\n"),
            "there is no lane of that name");
  EXPECT_EQ(uncaught_python_exception(frames + "NoSuchLane: seven\n"), "NoSuchLane: seven");
}

}  // namespace
}  // namespace mpsprobe

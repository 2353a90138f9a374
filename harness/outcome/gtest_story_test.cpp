#include "harness/outcome/gtest_story.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/outcome/judge.h"

namespace mpsprobe {
namespace {

// As GoogleTest 1.12 prints a test that failed with `told` in its body.
std::string story(const std::string& told) {
  return "[==========] Running 1 test from 1 test suite.\n"
         "[----------] 1 test from Pool\n[ RUN      ] Pool.Takes\n" +
         told +
         "[  FAILED  ] Pool.Takes (0 ms)\n[----------] 1 test from Pool (0 ms total)\n\n"
         "[==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 0 tests.\n"
         "[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Pool.Takes\n\n 1 FAILED TEST\n";
}

std::string signature(const std::string& printed) {
  ProcessRecord process;
  process.hello.emplace();
  process.termination = Exited{1};
  process.err.head = printed;
  process.err.bytes = printed.size();
  return judge(process).signature;
}

TEST(FailedGtest, IsTitledByTheExceptionThatLeftItsBody) {
  const std::string thrown = story(
      "unknown file: Failure\nC++ exception with description \"no lane of the pool is "
      "left\" thrown in the test body.\n");
  EXPECT_EQ(signature(thrown), "no lane of the pool is left");
  EXPECT_EQ(
      signature(story("unknown file: Failure\nC++ exception with description “stoi” thrown in "
                      "the test body.\n")),
      "stoi");
  // Newer releases put the place in front.
  EXPECT_EQ(signature(story("pool_test.cpp:12: Failure\nUnknown file: Failure\nC++ exception with "
                            "description \"no lane of the pool is left\" thrown in the test "
                            "body.\n")),
            "no lane of the pool is left");
}

TEST(FailedGtest, IsTitledByTheExpectationThatDidNotHold) {
  EXPECT_EQ(failed_gtest(story("pool_test.cpp:12: Failure\nExpected equality of these values:\n"
                               "  pool.lanes()\n    Which is: 3\n  4\n")),
            "Expected equality of these values: pool.lanes() Which is: 3 4");
}

TEST(FailedGtest, IsTitledByWhatTheTestItselfSays) {
  EXPECT_EQ(signature(story("pool_test.cpp:12: Failure\nFailed\nno lane of the pool is left\n\n")),
            "no lane of the pool is left");
}

TEST(FailedGtest, LeavesItsBookkeepingOutOfOtherLastWords) {
  EXPECT_EQ(signature(story("error: cannot map the heap\n")), "cannot map the heap");
  EXPECT_EQ(failed_gtest("[  PASSED  ] 3 tests.\n"), "");
  EXPECT_EQ(failed_gtest("pool.cpp:12: Failure\nno lane\n"), "");
}

}  // namespace
}  // namespace mpsprobe

// What the program on MLX promises by its exit status, on an old release with a known race and on a
// new one without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/executor/environment.h"
#include "harness/process/command.h"

namespace mpsprobe {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CommandResult run_program(const std::vector<std::string>& words, const std::string& preload = "") {
  std::vector<std::string> environment = inherited_environment();
  if (!preload.empty()) environment.push_back("LD_PRELOAD=" + preload);
  return run_command(words, 250, environment);
}

void expect_exit(const CommandResult& result, int code, const std::string& text) {
  EXPECT_EQ(result.termination, Termination(Exited{code})) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr(text)) << result.err;
}

TEST(MlxProgram, ReproducesOnTheOldReleaseAndItsControlsPass) {
  // Eight threads fail in 6 of 10 runs and more; 40 runs without a failure do not happen.
  const CommandResult result =
      run_program({MPSPROBE_OLD_PROGRAM, "--threads", "8", "--runs", "40"});
  expect_exit(result, 1, "\nREPRODUCED");
  EXPECT_THAT(result.out, AllOf(HasSubstr("control: one thread: 0 of 40 failed"),
                                HasSubstr("workaround: a lock: 0 of 40 failed")));
}

TEST(MlxProgram, PassesOnTheNewRelease) {
  expect_exit(run_program({MPSPROBE_NEW_PROGRAM, "--threads", "8", "--runs", "10"}), 0,
              "NOT REPRODUCED");
}

TEST(MlxProgram, SaysWhereItsControlIsBroken) {
  expect_exit(run_program({MPSPROBE_NEW_PROGRAM, "--runs", "2"}, MPSPROBE_BROKEN_CONTROL), 2,
              "CONTROL FAILED");
}

TEST(MlxProgram, RefusesWrongArguments) {
  expect_exit(run_program({MPSPROBE_NEW_PROGRAM, "--threads", "0"}), 2, "Usage");
  expect_exit(run_program({MPSPROBE_NEW_PROGRAM, "--help"}), 0, "Usage");
}

}  // namespace
}  // namespace mpsprobe

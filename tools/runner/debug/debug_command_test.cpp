#include <gmock/gmock.h>
#include <unistd.h>

#include "tools/runner/program_fixture.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

class Debug : public ProgramTest {
 protected:
  void SetUp() override {
    if (access("/usr/bin/gdb", X_OK) != 0) GTEST_SKIP() << "gdb is not installed";
  }
  /// What the debugger says to these commands, each a line.
  Run debug(const std::string& what, const std::string& commands,
            const std::string& interrupt = "200") const {
    return shell("printf '" + commands + "' | $mpsprobe debug --debugger gdb --interrupt " +
                 interrupt + " " + what + " 2>&1");
  }
};

TEST_F(Debug, StandsAtThePromptWithTheCrashedThread) {
  const Run run = shell(
      "$mpsprobe run --cell cpu/selftest.null_dereference/default/threads=1 --worker $worker "
      "--trials 1 --out " +
      path("run") + " > /dev/null 2>&1");
  ASSERT_EQ(run.exit_code, 0);
  const Run session = debug(path("run"), "print 40 + 2\\nquit\\n");
  EXPECT_EQ(session.exit_code, 0) << session.out;
  EXPECT_THAT(session.out, HasSubstr("SIGSEGV"));
  EXPECT_THAT(session.out, HasSubstr("null_dereference"));
  EXPECT_THAT(session.out, HasSubstr("= 42"));
}

TEST_F(Debug, StopsWhatHangs) {
  const Run session =
      debug("cpu/selftest.deadlock/default/threads=2 --worker $worker", "quit\\n", "2");
  EXPECT_EQ(session.exit_code, 0) << session.out;
  EXPECT_THAT(session.out, HasSubstr("SIGINT"));
}

TEST_F(Debug, GivesUpWhereNothingFails) {
  const Run session =
      debug("cpu/selftest.pass/default/threads=1 --attempts 2 --worker $worker", "quit\\n");
  EXPECT_EQ(session.exit_code, 4) << session.out;
  EXPECT_THAT(session.out, HasSubstr("none of 2 processes crashed or hung"));
}

}  // namespace
}  // namespace mpsprobe

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

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

/// A program named rr that records as rr does: it runs what it is given, ends as that did, and
/// writes its folder; its replay says how it was called. rr itself needs counters of the processor
/// that virtual machines lack.
class DebugWithRr : public ProgramTest {
 protected:
  static constexpr const char* kRecords =
      "if [ $1 = replay ]; then echo called: rr $*; exit 0; fi\n"
      "folder=$4; shift 4; mkdir $folder && touch $folder/version\n"
      "\"$@\" || kill -SEGV $$\n";
  Run debug(const std::string& script, const std::string& arguments) const {
    fs::create_directory(path("bin"));
    std::ofstream(path("bin/rr")) << "#!/bin/sh\n" << script;
    fs::permissions(path("bin/rr"), fs::perms::owner_all);
    return shell("PATH=" + path("bin") + ":$PATH $mpsprobe debug --worker $worker --rr " +
                 path("recording") + " " + arguments + " 2>&1");
  }
};

TEST_F(DebugWithRr, ReplaysTheProcessThatFailed) {
  const Run run = debug(kRecords, "cpu/selftest.null_dereference/default/threads=1");
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("Again: rr replay -e " + path("recording")));
  EXPECT_THAT(run.out, HasSubstr("called: rr replay -e " + path("recording") + " -- -q"));
  EXPECT_TRUE(fs::exists(path("recording/version")));
  // And what is recorded already stays.
  const Run second = debug(kRecords, "cpu/selftest.pass/default/threads=1");
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.out, HasSubstr("is there already"));
}

TEST_F(DebugWithRr, KeepsNoRecordingOfWhatPassed) {
  const Run run = debug(kRecords, "cpu/selftest.pass/default/threads=1 --attempts 2");
  EXPECT_EQ(run.exit_code, 4) << run.out;
  EXPECT_THAT(run.out, HasSubstr("none of 2 processes"));
  EXPECT_FALSE(fs::exists(path("recording")));
}

TEST_F(DebugWithRr, SaysThatNothingWasRecorded) {
  const Run run =
      debug("echo no counters here >&2; exit 1\n", "cpu/selftest.pass/default/threads=1");
  EXPECT_EQ(run.exit_code, 3) << run.out;
  EXPECT_THAT(run.out, HasSubstr("no counters here"));
  EXPECT_THAT(run.out, HasSubstr("rr has recorded nothing"));
}

}  // namespace
}  // namespace mpsprobe

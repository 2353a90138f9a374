// tools/mpsprobe and tools/build-worker as a newcomer meets them: in a tree of their own, whose
// program is a script and in which nothing can be set up.
#include <gmock/gmock.h>

#include <filesystem>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Launcher : public ProgramTest {
 protected:
  Launcher() {
    fs::create_directories(folder_ / "tree/tools");
    for (const char* script : {"mpsprobe", "build-worker"}) {
      fs::copy(fs::path(MPSPROBE_SOURCE_DIR) / "tools" / script, folder_ / "tree/tools" / script);
    }
    write("tree/tools/setup", "#!/bin/sh\necho set up >&2\nexit 3\n");
    fs::permissions(folder_ / "tree/tools/setup", fs::perms::owner_all);
  }
  void have_program() {
    fs::create_directories(folder_ / "tree/build/release/bin");
    write("tree/build/release/bin/mpsprobe",
          "#!/bin/sh\necho \"program: $* yes=${MPSPROBE_YES-} as $MPSPROBE_CALLED_AS\"\n");
    fs::permissions(folder_ / "tree/build/release/bin/mpsprobe", fs::perms::owner_all);
  }
};

TEST_F(Launcher, WorksThroughLinks) {
  have_program();
  const Run run =
      shell("ln -s tree/tools/mpsprobe one; mkdir bin; ln -s ../one bin/two; bin/two list");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "program: list yes= as bin/two\n");
}

TEST_F(Launcher, WhatOnlyTellsBuildsNothing) {
  have_program();
  for (const char* told :
       {"", "--version", "-V", "help run", "run --help", "list matrices", "man"}) {
    const Run run = shell(std::string("tree/tools/mpsprobe ") + told);
    EXPECT_EQ(run.exit_code, 0) << told << run.err;
    EXPECT_THAT(run.out, HasSubstr("program: " + std::string(told))) << told;
    EXPECT_EQ(run.err, "") << told;
  }
  EXPECT_THAT(shell("tree/tools/mpsprobe run --matrix").err, HasSubstr("set up"));
  EXPECT_THAT(shell("tree/tools/mpsprobe observe -- x --help").err, HasSubstr("set up"));
}

TEST_F(Launcher, SaysWhatTheFirstCallWillDo) {
  const Run run = shell("tree/tools/mpsprobe --version");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("sets this clone up"), HasSubstr("22 MB")));
}

TEST_F(Launcher, YesIsItsOwnWord) {
  have_program();
  EXPECT_EQ(shell("tree/tools/mpsprobe list --yes --json").out,
            "program: list --json yes=1 as tree/tools/mpsprobe\n");
  EXPECT_EQ(shell("tree/tools/mpsprobe list 'a  b' -- --yes").out,
            "program: list a  b -- --yes yes= as tree/tools/mpsprobe\n");
}

TEST_F(Launcher, FetchesNoLibTorchUnasked) {
  // Nobody has one here: what would find it is not in this tree.
  const Run run = shell("tree/tools/build-worker torch < /dev/null");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("550 MB"), HasSubstr("--yes")));
  EXPECT_THAT(run.err, testing::Not(HasSubstr("set up")));
  EXPECT_THAT(shell("tree/tools/build-worker torch --yes < /dev/null").err, HasSubstr("set up"));
}

}  // namespace
}  // namespace mpsprobe

// What the command says and how it ends, for everything that can be wrong with what it was asked.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class CommandLine : public ProgramTest {};

TEST_F(CommandLine, VersionAndHelp) {
  const std::string version = mpsprobe({"--version"}).out;
  EXPECT_EQ(mpsprobe({"-V"}).out, version);
  EXPECT_EQ(mpsprobe({"-v"}).out, version);
  EXPECT_THAT(version, MatchesRegex("mpsprobe " MPSPROBE_VERSION
                                    " \\(([0-9a-f]{12}( with changes)?|no commit known), .*\\)\n"));
  const Run help = mpsprobe({"run", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option : {"--matrix", "--trials", "--stall", "--threads", "--profile", "130"}) {
    EXPECT_THAT(help.out, HasSubstr(option));
  }
  EXPECT_EQ(mpsprobe({"help", "run"}).out, help.out);
}

struct Wrong {
  std::vector<std::string> arguments;
  std::string says;
};
class WrongUsage : public ProgramTest, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongUsage, EndsWithTwoNamesThePlaceAndRunsNothing) {
  std::vector<std::string> arguments = GetParam().arguments;
  if (!arguments.empty() && arguments[0] == "run") {
    arguments.insert(arguments.end(), {"--worker", selftest_, "--out", path("out")});
  }
  const Run run = mpsprobe(arguments);
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr(GetParam().says));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, WrongUsage,
    testing::Values(
        Wrong{{"run"}, "nothing says what to run"}, Wrong{{"rn"}, "did you mean \"run\"?"},
        Wrong{{"verfiy"}, "did you mean \"verify\"?"},
        Wrong{{"run", "--thread", "3"},
              "run --thread: there is no such option; did you mean \"--threads\"?"},
        Wrong{{"run", "--matrix", "selftest", "surplus"}, "surplus: is one word too many"},
        Wrong{{"run", "--matrix", "selftest", "--format", "htm"}, "did you mean \"html\"?"},
        Wrong{{"run", "--matrix", "selfest"}, "did you mean \"selftest\"?"},
        Wrong{{"run", "--matrix", "selftest", "--lock", "foward"}, "did you mean \"forward\"?"},
        Wrong{{"run", "--cell", "cpu/selftest.pass/default/thread=3"}, "did you mean \"threads\"?"},
        Wrong{{"run", "--cell", "cpu/selftest.pass/default/end=exec"}, "--cell: end: \"exec\""},
        Wrong{{"run", "--op", "selftest.pass", "--profile", "nope"}, "--profile nope"},
        Wrong{{"run", "--matrix", "selftest", "--stall", "nan"}, "from 0.1 to 86400"},
        Wrong{{"run", "--matrix", "selftest", "--timeout", "inf"}, "--timeout"},
        Wrong{{"run", "--op", "selftest.pass", "--backend", "cpu", "--stall", "301"},
              "--stall: is longer than the timeout of 300 s"},
        Wrong{{"run", "--trials", "3", "--trials", "4"}, "--trials: is given more than once"},
        Wrong{{"run", "--lock", "forwards"}, "--lock: \"forwards\" is not a value"},
        Wrong{{"list", "cell"},
              "what: \"cell\" is none of its values; did you mean \"cells\"? Write"},
        Wrong{{"feedback"}, "nothing says which report"},
        Wrong{{"run", "--matrix", "selftest", "--budget", "NaN"}, "--budget"},
        Wrong{{"run", "--matrix", "selftest", "--seed", "-1"}, "from 0 to 18446744073709551615"},
        Wrong{{"run", "--matrix", "selftest", "--seed", "18446744073709551616"}, "--seed"},
        Wrong{{"run", "--matrix", "/tmp"}, "is a folder and no file"},
        Wrong{{"jump"}, "subcommand"}, Wrong{{"run", "--colour", "red"}, "--colour"},
        Wrong{{"run", "--matrix", "nosuch"}, "Built in are"},
        Wrong{{"run", "--matrix", "selftest", "--threads", "1-x"}, "--threads"},
        Wrong{{"run", "--matrix", "selftest", "--threads", "0"}, "1 to 256"},
        Wrong{{"run", "--matrix", "selftest", "--backend", "gpu"}, "mps, mlx, metal"},
        Wrong{{"run", "--matrix", "selftest", "--trials", "0"}, "--trials"},
        Wrong{{"run", "--matrix", "selftest", "--trials", "many"}, "--trials"},
        Wrong{{"run", "--matrix", "selftest", "--env", "NOVALUE"}, "K=V"},
        Wrong{{"run", "--matrix", "selftest", "--worker", "nonsense"}, "NAME=PATH"},
        Wrong{{"run", "--matrix", "selftest", "--cell", "cpu/selftest.pass/default"}, "--cell"},
        Wrong{{"run", "--cell", "cpu/selftest.pass"}, "--cell"},
        Wrong{{"run", "--cell", "cpu/selftest.pass/default", "--threads", "2"}, "--threads"},
        Wrong{{"run", "--cell", "cpu/selftest.pas/default"}, "did you mean"},
        Wrong{{"run", "--matrix", "selftest", "--expect-torch", "git:12"}, "--expect-torch"},
        Wrong{{"run", "--op", "selftest.pass", "--threads", "1-256", "--iterations", "1-40000"},
              "10240000 cells"},
        Wrong{{"run", "--matrix", "selftest", "--json"}, "--json"},
        Wrong{{"run", "--resume", "/nonexistent"}, "--resume"},
        // Whatever else was asked for: none is ignored.
        Wrong{{"run", "--resume", "--iterations", "3"}, "and not with --"},
        Wrong{{"run", "--shard", "1/2", "--resume", "x"}, "and not with --"},
        Wrong{{"run", "--dry-run", "--resume", "x"}, "and not with --"},
        Wrong{{"repro", "CELL", "--resume", "x"}, "and not with what"},
        Wrong{{"repro", "--budget", "1", "--resume", "x"}, "and not with --budget"},
        Wrong{{"bisect", "--confirm", "0", "--resume", "x"}, "and not with --confirm"},
        Wrong{{"verify", "x", "--resume", "x", "--memory-limit", "99"}, "and not with --memory-"}));

TEST_F(CommandLine, AMatrixFileThatIsWrongIsNamedWithThePlace) {
  const std::string file =
      write("my.json",
            R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["selftest.pass"],"thraeds":[1]}})");
  const Run run = mpsprobe({"run", "--matrix", file, "--worker", selftest_});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("my.json: axes.thraeds"));
}

TEST_F(CommandLine, WhatSelectsNothingEndsWithFour) {
  const Run filtered = mpsprobe({"run", "--matrix", "selftest", "--filter", "nosuch*", "--worker",
                                 selftest_, "--out", path("out")});
  EXPECT_EQ(filtered.exit_code, 4);
  EXPECT_THAT(filtered.err, HasSubstr("no cell matches"));
  const Run unsupported = mpsprobe({"run", "--op", "selftest.pass", "--backend", "mps", "--worker",
                                    selftest_, "--out", path("out")});
  EXPECT_EQ(unsupported.exit_code, 4);
  EXPECT_THAT(unsupported.err, HasSubstr("left out"));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(CommandLine, AnAxisThatTheWorkerDoesNotNameIsRefusedAndNotRunAsIf) {
  const std::string whole = selftest_.substr(selftest_.find('=') + 1);
  const std::string plain =
      write("plain", "#!/bin/sh\nif [ \"$1\" = describe ]; then " + whole +
                         " describe | grep -v '\"lock\"'\nelse exec " + whole + " \"$@\"; fi\n");
  std::filesystem::permissions(plain, std::filesystem::perms::owner_all);
  const Run run = mpsprobe({"run", "--op", "selftest.pass", "--backend", "cpu", "--threads", "2",
                            "--lock", "none,forward", "--worker", "stock=" + plain, "--worker",
                            "whole=" + whole, "--dry-run"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("cpu/selftest.pass/default/threads=2\n"));
  EXPECT_THAT(run.out, testing::Not(HasSubstr("lock=forward")));
  EXPECT_THAT(run.err, HasSubstr("does not honour the axis lock"));
}

TEST_F(CommandLine, BareAndWithHelpItShowsWhatThereIs) {
  const Run bare = mpsprobe({});
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_THAT(bare.out, HasSubstr("doctor"));
  EXPECT_EQ(mpsprobe({"help"}).out, bare.out);
  EXPECT_THAT(mpsprobe({"help", "run"}).out, HasSubstr("--matrix"));
}

TEST_F(CommandLine, AReportThatSomebodyElseWroteIsLeftAsItIs) {
  std::filesystem::create_directory(path("mine"));
  const std::string file = write("mine/report.md", "my own notes\n");
  const Run run = mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--trials", "1",
                            "--worker", selftest_, "--out", path("mine")});
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_THAT(run.err, HasSubstr("was not written by mpsprobe"));
  EXPECT_EQ(read("mine/report.md"), "my own notes\n");
  EXPECT_FALSE(std::filesystem::exists(path("mine/journal.ndjson")));
}

TEST_F(CommandLine, AFirstRecordThatWasCutOffIsPutAsideAndTheRunBegins) {
  std::filesystem::create_directory(path("torn"));
  write("torn/journal.ndjson", "{\"campaign\":{\"budg");
  const Run resumed = mpsprobe({"run", "--resume", path("torn")});
  EXPECT_EQ(resumed.exit_code, 3);
  EXPECT_THAT(resumed.err, HasSubstr("--out"));
  const Run run = mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--trials", "1",
                            "--worker", selftest_, "--out", path("torn")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("journal.ndjson.torn"));
}

TEST_F(CommandLine, RunsThatBeginTogetherGetFoldersOfTheirOwn) {
  const Run run = shell(
      "for i in 1 2 3 4 5 6 7 8; do \"$mpsprobe\" run --cell cpu/selftest.pass/default --trials 1 "
      "--worker \"$worker\" > /dev/null 2>&1 & done; wait; ls mpsprobe-out/*/report.json | wc -l");
  EXPECT_THAT(run.out, HasSubstr("8"));
  const Run resumed = shell("\"$mpsprobe\" run --resume");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("going on after 1 trial"));
  const Run shown = shell("set -- mpsprobe-out/*/report.json; \"$mpsprobe\" show \"$1\"");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("1 of 1 trial"));
}

TEST_F(CommandLine, NothingButNonEvidenceIsNotGreen) {
  const Run run = mpsprobe({"run", "--cell", "cpu/selftest.killed/default/threads=1", "--trials",
                            "2", "--worker", selftest_, "--out", path("out")});
  EXPECT_EQ(run.exit_code, 4);
}

TEST_F(CommandLine, AMissingOrForeignWorkerEndsWithThree) {
  const auto run_with = [this](const std::string& worker) {
    return mpsprobe({"run", "--matrix", "selftest", "--worker", worker, "--out", path("out")});
  };
  const Run missing = run_with("fork=/nonexistent/worker");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("does not exist"));
  const Run foreign = run_with("fork=/usr/bin/true");
  EXPECT_EQ(foreign.exit_code, 3);
  EXPECT_THAT(foreign.err, HasSubstr("does not answer as a worker"));
  const std::string old = write("old", "#!/bin/sh\necho '{\"mpsprobe_worker\": 99}'\n");
  std::filesystem::permissions(old, std::filesystem::perms::owner_all);
  const Run version = run_with("fork=" + old);
  EXPECT_EQ(version.exit_code, 3);
  EXPECT_THAT(version.err, HasSubstr("speaks version 99"));
  // A program on the library of workers, which speaks in its own name.
  const std::string own =
      write("own", "#!/bin/sh\necho 'mpsprobe-worker: no file app.py' >&2\nexit 3\n");
  std::filesystem::permissions(own, std::filesystem::perms::owner_all);
  const Run without = run_with("fork=" + own);
  EXPECT_EQ(without.exit_code, 3);
  EXPECT_THAT(without.err, HasSubstr("worker fork: no file app.py\n"));
  const std::string deep = write("deep", "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' '['\n");
  std::filesystem::permissions(deep, std::filesystem::perms::owner_all);
  EXPECT_EQ(run_with("fork=" + deep).exit_code, 3);
}

TEST_F(CommandLine, TheWrongTorchIsRefusedNamingWhatIsThere) {
  const Run run = mpsprobe({"run", "--matrix", "selftest", "--expect-torch", "2.15.0", "--worker",
                            selftest_, "--out", path("out")});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("loads no LibTorch"));
}

TEST_F(CommandLine, AFolderThatCannotBeMadeEndsWithThree) {
  const Run run = mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--worker", selftest_,
                            "--out", "/dev/null/out"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("--out"));
}

TEST_F(CommandLine, WhatTheFilesystemRefusesIsSaidWithItsNameAndReason) {
  const std::string name(300, 'a');
  const Run run = mpsprobe({"verify", name});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.err, "mpsprobe: " + name + "/bundle.json: File name too long\n");
}

TEST_F(CommandLine, ADryRunShowsTheCellsAndRunsNothing) {
  const Run run = mpsprobe({"run", "--op", "selftest.pass", "--backend", "cpu", "--threads", "1-3",
                            "--dry-run", "--json", "--worker", selftest_});
  EXPECT_EQ(run.exit_code, 0);
  const auto answer = nlohmann::json::parse(run.out);
  EXPECT_EQ(answer.at("cells").size(), 3U);
  EXPECT_EQ(answer.at("cells")[0], "cpu/selftest.pass/default/threads=1");
}

TEST_F(CommandLine, ListsWhatThereIs) {
  for (const char* what : {"axes", "matrices", "profiles"}) {
    const Run run = mpsprobe({"list", what, "--json"});
    EXPECT_EQ(run.exit_code, 0) << what;
    EXPECT_FALSE(nlohmann::json::parse(run.out).empty()) << what;
  }
  const Run operations = mpsprobe({"list", "operations", "--worker", selftest_});
  EXPECT_THAT(operations.out, HasSubstr("selftest.null_dereference"));
  const Run cells = mpsprobe({"list", "cells", "--matrix", "selftest", "--worker", selftest_});
  EXPECT_THAT(cells.out, HasSubstr("cpu/selftest.trap/default/threads=2\n"));
}

}  // namespace
}  // namespace mpsprobe

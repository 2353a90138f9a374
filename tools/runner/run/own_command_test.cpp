// Somebody's own command, as it is: a plain program in C and a plain script, which know nothing of
// mpsprobe and misbehave as they are told.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kProgram = MPSPROBE_MISBEHAVE;
const std::string kScript =
    std::string(MPSPROBE_SOURCE_DIR) + "/scenarios/command/testdata/misbehave.py";

class OwnCommand : public ProgramTest {
 protected:
  /// The report of `mpsprobe run OPTIONS -- COMMAND`.
  json report_of(std::vector<std::string> options, const std::vector<std::string>& command) {
    std::filesystem::remove_all(path("out"));
    options.insert(options.begin(), {"run", "--out", path("out")});
    options.emplace_back("--");
    options.insert(options.end(), command.begin(), command.end());
    const Run run = mpsprobe(options);
    said_ = run.out + run.err;
    exit_code_ = run.exit_code;
    const json report = json::parse(read("out/report.json"), nullptr, false);
    if (report.is_discarded()) throw std::runtime_error("there is no report:\n" + said_);
    return report;
  }
  std::string said_;
  int exit_code_ = -1;
};

struct Misbehaviour {
  const char* how;
  const char* outcome;
  const char* title;
};

#ifdef __APPLE__
constexpr const char* kFreedTwice = "malloc: ";  // libmalloc's words are another release by release
constexpr const char* kDeadlock = "hang in deadlock";  // who holds a lock is not known there
constexpr const char* kChildHangs = "hang in main";    // nor where another process is
#else
constexpr const char* kFreedTwice = "malloc: double free or invalid pointer";
constexpr const char* kDeadlock = "hang: lock cycle of lock_first and lock_second";
constexpr const char* kChildHangs = "hang in wait_for_nobody, in a process that it started";
#endif

/// What hangs is not waited for long; on a busy machine what is slow to begin must not hang.
std::vector<std::string> trials_of(const Misbehaviour& tested) {
  const bool hangs = std::string_view(tested.outcome) == "hang";
  return {"--trials", "2", "--stall", hangs ? "2" : "60"};
}

class OfAProgram : public OwnCommand, public testing::WithParamInterface<Misbehaviour> {};

TEST_P(OfAProgram, IsJudgedAsItIsWithoutAdoption) {
  const json report = report_of(trials_of(GetParam()), {kProgram, GetParam().how, "2"});
  const json& cell = report.at("cells").at(0);
  EXPECT_EQ(cell.at("cell"), "command/misbehave/default/threads=1");
  EXPECT_EQ(cell.at("outcomes").at(0).at("outcome"), GetParam().outcome) << said_;
  if (*GetParam().title == '\0') return;
  EXPECT_THAT(said_, HasSubstr(std::string("FAIL ") + GetParam().title));
}

INSTANTIATE_TEST_SUITE_P(
    , OfAProgram,
    testing::Values(
        Misbehaviour{"fine", "pass", ""},
        Misbehaviour{"segv", "signal", "bad access in read_nowhere"},
        Misbehaviour{"abort", "signal", "abort in give_up"},
        Misbehaviour{"divide", "signal", "arithmetic error in divide"},
        Misbehaviour{"overflow", "signal", "stack overflow in recurse"},
        Misbehaviour{"free", "assertion", kFreedTwice}, Misbehaviour{"exit", "exit", "exit code 9"},
        Misbehaviour{"says", "exit", "the device is gone"},
        Misbehaviour{"thread", "signal", "bad access in read_nowhere"},
        Misbehaviour{"wait", "hang", "hang in wait_for_nobody"},
        Misbehaviour{"deadlock", "hang", kDeadlock}, Misbehaviour{"killed", "infrastructure", ""},
        // The parent leaves with a code of its own, or the child's end would be seen by nobody.
        Misbehaviour{"forked", "exit", "bad access in read_nowhere, in a process that it started"},
        Misbehaviour{"started", "exit", "abort in give_up, in a process that it started"},
        Misbehaviour{"child_hangs", "hang", kChildHangs},
        Misbehaviour{"catches", "exit", "bad access in read_nowhere"},
        Misbehaviour{"handled", "signal", "bad access in read_nowhere"}),
    [](const auto& tested) { return tested.param.how; });

class OfAScript : public OwnCommand, public testing::WithParamInterface<Misbehaviour> {};

TEST_P(OfAScript, IsJudgedAsItIsWithoutAdoption) {
  const json report = report_of(trials_of(GetParam()), {"python3", kScript, GetParam().how, "2"});
  const json& cell = report.at("cells").at(0);
  EXPECT_EQ(cell.at("cell"), "command/misbehave.py/default/threads=1");
  EXPECT_EQ(cell.at("outcomes").at(0).at("outcome"), GetParam().outcome) << said_;
  if (*GetParam().title == '\0') return;
  EXPECT_THAT(said_, HasSubstr(std::string("FAIL ") + GetParam().title));
}

INSTANTIATE_TEST_SUITE_P(
    , OfAScript,
    testing::Values(
        Misbehaviour{"fine", "pass", ""}, Misbehaviour{"segv", "signal", "bad access in string_at"},
        Misbehaviour{"thread", "signal", "bad access in string_at"},
        Misbehaviour{"raise", "exit", "queue N is full"},
        Misbehaviour{"raises_in_thread", "exception", "queue N is full"},
        Misbehaviour{"abort", "signal", "abort in "}, Misbehaviour{"exit", "exit", "exit code 4"},
        Misbehaviour{"hang", "hang", "hang in Python: take_twice"},
        Misbehaviour{"joins_a_hang", "hang", "hang in Python: take_twice"},
        Misbehaviour{"pool", "exit", "bad access in string_at, in a process that it started"}),
    [](const auto& tested) { return tested.param.how; });

TEST_F(OwnCommand, OfADeadScriptTheLinesOfPythonAreInTheReport) {
  report_of({"--trials", "1"}, {"python3", kScript, "segv", "1"});
  EXPECT_THAT(read("out/details.md"), HasSubstr("misbehave.py"));
  report_of({"--trials", "1", "--stall", "2"}, {"python3", kScript, "hang", "1"});
  EXPECT_THAT(read("out/details.md"), HasSubstr("take_twice"));
  EXPECT_THAT(said_, HasSubstr("FAIL hang in Python: take_twice"));
}

TEST_F(OwnCommand, WhatIsNotKeptOfAnOutputIsNotTakenForRight) {
  report_of({"--trials", "1", "--expect-output", "same"}, {"seq", "1", "100000"});
  EXPECT_EQ(exit_code_, 4);
  EXPECT_THAT(said_, HasSubstr("were not kept and cannot be compared"));
  report_of({"--trials", "1", "--fail-on-output", "OOPS"},
            {"sh", "-c", "seq 1 100000; echo OOPS; seq 1 100000"});
  EXPECT_THAT(said_, HasSubstr("it printed OOPS: 1 trial"));
}

TEST_F(OwnCommand, ItsWordsAreFoundOnStdoutWhereStderrIsEmpty) {
  report_of({"--trials", "1"}, {"sh", "-c", "echo 'Error: lane is not found'; exit 1"});
  EXPECT_THAT(said_, HasSubstr("FAIL lane is not found"));
  report_of({"--trials", "1"}, {"sh", "-c", "seq 1 100000; echo 'Error: lane is gone'; exit 1"});
  EXPECT_THAT(said_, HasSubstr("FAIL lane is gone"));
  report_of({"--trials", "1"}, {"sh", "-c", "python3 " + kScript + " raises_in_thread 1 2>&1"});
  EXPECT_THAT(said_, HasSubstr("queue N is full"));
}

TEST_F(OwnCommand, AScriptRunsUnderTheInterpreterThatIsNamed) {
  const Run run = shell("MPSPROBE_PYTHON=/bin/echo $mpsprobe run --python " + kScript +
                        " --trials 1 --fail-on-output misbehave.py --out out");
  EXPECT_THAT(run.out, HasSubstr("it printed misbehave.py: 1 trial")) << run.err;
}

// With a sanitizer a program writes none (disable_coredump).
#if defined(__linux__) && !defined(MPSPROBE_SANITIZED)
TEST_F(OwnCommand, KeepsACoreOfEachFailureWhereTheSystemWritesThem) {
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  const Run told =
      shell("$mpsprobe run --keep-cores --trials 2 --jobs 1 --out out -- " + kProgram + " segv 1");
  if (pattern.front() == '|' || limit.rlim_max == 0) {
    EXPECT_EQ(told.exit_code, 2);
    EXPECT_THAT(told.err,
                testing::ContainsRegex("hands cores to a program|limit for core files is 0"));
    return;
  }
  EXPECT_THAT(told.err, HasSubstr("core of bad access in read_nowhere: "));
  int kept = 0;
  for (const auto& core : std::filesystem::directory_iterator(path("out/cores"))) {
    EXPECT_GT(core.file_size(), 0U);
    ++kept;
  }
  EXPECT_EQ(kept, 1);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(), Not(testing::StartsWith("core")));
  }
}
#endif

TEST_F(OwnCommand, ParametersAreAxesAndVariables) {
  const json report = report_of({"--threads", "1,3", "--set", "batch=8,64", "--trials", "1"},
                                {kProgram, "from_two", "{threads}"});
  ASSERT_EQ(report.at("cells").size(), 4U) << said_;
  for (const json& cell : report.at("cells")) {
    const std::string id = cell.at("cell");
    const bool one = id.find("threads=1") != std::string::npos;
    EXPECT_EQ(cell.at("failures"), one ? 0 : 1) << id;
    EXPECT_THAT(id, HasSubstr("env.batch="));
  }
  // Behind all options, as it has to be pasted.
  const std::string behind = " -- " + kProgram + " from_two '{threads}'\n";
  EXPECT_THAT(said_, HasSubstr(behind));
  EXPECT_THAT(read("out/report.md"), HasSubstr("--trials 1" + behind));
}

TEST_F(OwnCommand, ProcessesOfATrialKnowWhoTheyAre) {
  write("rank.sh",
        "test \"$1\" = \"$MPSPROBE_RANK\" || exit 3\n"
        "test \"$3\" = \"127.0.0.1:$2,127.0.0.1:$(($2 + 1))\" || exit 4\n"
        "echo $2 >> " +
            path("ports") + "\n");
  report_of({"--processes", "2", "--trials", "3"},
            {"sh", path("rank.sh"), "{rank}", "{port}", "{peers}"});
  EXPECT_THAT(said_, HasSubstr("3 of 3 trials run, 3 count, 0 failed"));
  std::ifstream ports(path("ports"));
  std::map<std::string, int> by_port;
  for (std::string port; ports >> port;) ++by_port[port];
  EXPECT_EQ(by_port.size(), 3U) << "each trial has a port of its own";
}

TEST_F(OwnCommand, OutputIsComparedWithThatOfOneThread) {
  const json report = report_of({"--threads", "1,2", "--trials", "2", "--expect-output", "same"},
                                {kProgram, "wrong", "{threads}"});
  for (const json& cell : report.at("cells")) {
    const bool one = std::string(cell.at("cell")).find("threads=1") != std::string::npos;
    EXPECT_EQ(cell.at("failures"), one ? 0 : 2) << said_;
  }
  EXPECT_THAT(said_, HasSubstr("FAIL wrong result: another output than expected"));
}

TEST_F(OwnCommand, OutputIsComparedWithAFileAndSearchedForTexts) {
  write("right", "1000.01 of nothing\n");
  report_of({"--trials", "1", "--expect-output", path("right")}, {kProgram, "fine", "1"});
  EXPECT_THAT(said_, HasSubstr("1 count, 0 failed"));
  report_of({"--trials", "1", "--fail-on-output", "of nothing"}, {kProgram, "fine", "1"});
  EXPECT_THAT(said_, HasSubstr("FAIL wrong result: it printed of nothing"));
}

TEST_F(OwnCommand, WhatIsNotInstalledIsNoFailure) {
  write("app.py", "import mlx.core\nimport module_that_is_not_there\n");
  const json report = report_of({"--trials", "1"}, {"python3", path("app.py")});
  EXPECT_EQ(exit_code_, 4);
  EXPECT_EQ(report.at("cells").at(0).at("outcomes").at(0).at("outcome"), "setup_failed") << said_;
}

TEST_F(OwnCommand, ItsVersionIsPartOfTheRun) {
  write("own.sh", "exit 0\n");
  report_of({"--trials", "2"}, {"sh", path("own.sh")});
  write("own.sh", "exit 0 # changed\n");
  const Run again = mpsprobe({"run", "--resume", path("out")});
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.err, testing::ContainsRegex(
                             "own.sh was changed: it was 7 bytes of 2.* and is 17 bytes of 2"));
}

// Each build is an environment of its own, whose PATH comes first.
TEST_F(OwnCommand, IsBisectedOverEnvironments) {
  for (const char* build : {"1", "2", "3"}) {
    const std::string bin = path(std::string("env") + build + "/bin");
    std::filesystem::create_directories(bin);
    write(std::string("env") + build + "/pyvenv.cfg", "");
    write(std::string("env") + build + "/bin/tool",
          std::string("#!/bin/sh\nexit ") + (*build == '3' ? "5" : "0") + "\n");
    std::filesystem::permissions(bin + "/tool", std::filesystem::perms::owner_all);
  }
  const std::string worker =
      std::filesystem::path(program_).parent_path() / "mpsprobe-command-worker";
  const Run run =
      mpsprobe({"bisect", "--builds", "1,2,3", "--out", path("bisected"), "--make",
                "ln -sf " + worker + " " + path("env{}") + "/bin/mpsprobe-command-worker; echo " +
                    path("env{}") + "/bin/mpsprobe-command-worker",
                "--", "tool", "--all"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("began with 3"));
}

TEST_F(OwnCommand, DiesWithItsRunner) {
  write("long.sh", "echo $$ > " + path("pid") + "\nexec sleep 600\n");
  const Run run = shell("$mpsprobe run --out " + path("killed") + " --trials 1 -- sh " +
                        path("long.sh") + " & while ! test -s " + path("pid") +
                        "; do sleep 0.05; done; kill -9 $!; "
                        "wait $!; while kill -0 $(cat " +
                        path("pid") + ") 2> /dev/null; do sleep 0.05; done");
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(OwnCommand, ABundleHasNoWordOfIt) {
  std::filesystem::create_directories(path("kims_project"));
  write("kims_project/kims_script.sh", "exec " + kProgram + " segv 1 kims_words\n");
  report_of({"--trials", "2", "--set", "who=kim"},
            {"sh", path("kims_project/kims_script.sh"), "{who}", "kims_words"});
  const Run packed =
      mpsprobe({"feedback", path("out"), "--for", "pytorch", "--out", path("bundles")});
  EXPECT_EQ(packed.exit_code, 0) << packed.err;
  const Run whose = shell("$mpsprobe feedback out --out unnamed && cat unnamed/*/issue.md");
  EXPECT_THAT(whose.out,
              testing::AllOf(HasSubstr("### What happens\n"), Not(HasSubstr("PyTorch"))));
  const Run found =
      shell("grep -rlai kim " + path("bundles") + " ; find " + path("bundles") + " -name '*kim*'");
  EXPECT_EQ(found.out, "") << packed.out;
}

TEST_F(OwnCommand, OfAnotherCommandARunIsNotComparedWithoutBeingAsked) {
  for (const char* how : {"0", "1"}) {
    const Run run = mpsprobe(
        {"run", "--trials", "2", "--out", path(how), "--", "sh", "-c", std::string("exit ") + how});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  const Run refused = mpsprobe({"diff", path("0"), path("1")});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("\"sh -c exit 0\" and \"sh -c exit 1\""));
  EXPECT_THAT(refused.err, HasSubstr("--across code"));
  EXPECT_EQ(mpsprobe({"diff", path("0"), path("1"), "--across", "code"}).exit_code, 0);
  EXPECT_EQ(mpsprobe({"diff", path("0/report.json"), path("1/report.json")}).exit_code, 2);
  const Run beside = mpsprobe({"report", path("1"), "--format", "html", "--baseline", path("0")});
  EXPECT_EQ(beside.exit_code, 2);
  EXPECT_THAT(beside.err, HasSubstr("ask `mpsprobe diff` with --across code"));
  mpsprobe({"history", "add", path("0"), path("1"), "--db", path("h")});
  EXPECT_THAT(mpsprobe({"history", "trend", "--db", path("h")}).out, HasSubstr("2 series"));
}

// Of a bundle with nothing taken out: the worker is found as `run` finds it.
TEST_F(OwnCommand, IsVerifiedByTheVariableOfTheBundle) {
  report_of({"--trials", "2"}, {kProgram, "segv"});
  const Run packed = mpsprobe({"feedback", path("out"), "--no-redact", "--out", path("bundles")});
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  const std::string variable =
      R"(MPSPROBE_COMMAND={"folder":"/","words":[")" + kProgram + R"(","segv"]})";
  const Run run =
      shell("$mpsprobe verify bundles/*/ --trials 2 --out again --env '" + variable + "'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("2/2"));
}

TEST_F(OwnCommand, MistakesNameTheRemedy) {
  const auto says = [this](const std::vector<std::string>& words, int code, const char* what) {
    const Run run = mpsprobe(words);
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_THAT(run.err, HasSubstr(what));
  };
  says({"run", "ls"}, 2, "is one word too many");
  says({"run", "--set", "batch=1"}, 2, "is for a command");
  says({"run", "--set", "batch", "--", "ls"}, 2, "is not NAME=VALUES");
  says({"run", "--set", "a=1,2", "--set", "a=3", "--", "ls"}, 2, "--set a=3: comes after a=1,2");
  says({"run", "--expect-output", "nowhere", "--", "ls"}, 2, "is no file");
  says({"run", "--expect-torch", "foo:bar", "--", "true"}, 2, "\"foo:bar\" names no LibTorch");
  says({"run", "--", "no-such-program-here"}, 3, "is in no folder of PATH");
  says({"run", "--", "echo", "{thread}"}, 3, "did you mean \"threads\"");
  says({"run", "--threads", "1-4", "--trials", "1", "--out", path("left"), "--", "true"}, 0,
       "left out 3 cells");
  EXPECT_THAT(read("left/report.json"), HasSubstr("write {threads} in it"));
  EXPECT_THAT(read("left/report.md"), testing::StartsWith("# mpsprobe report: true\n"));
  EXPECT_THAT(mpsprobe({"list", "backends"}).out,
              testing::ContainsRegex("command +yes +whatever a command of your own uses"));
}

}  // namespace
}  // namespace mpsprobe

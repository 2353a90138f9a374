// A bisection as a person sees it: builds are scripts around the self-test worker.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/journal/journal.h"
#include "harness/process/descendants.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kCell = "cpu/selftest.exit_eleven/default";

class Bisect : public ProgramTest {
 protected:
  /// A worker that makes its cell fail from build `first` on: before that it runs another.
  std::string build(int number, int first) const {
    const std::string worker = selftest_.substr(selftest_.find('=') + 1);
    const std::string name = "b" + std::to_string(number);
    const std::string text = number >= first
                                 ? "exec '" + worker + "' \"$@\"\n"
                                 : "[ \"$1\" = describe ] && exec '" + worker + "' describe\n" +
                                       "for a; do shift; set -- \"$@\" \"$(printf %s \"$a\" | sed "
                                       "s/selftest.exit_eleven/selftest.pass/g)\"; done\n" +
                                       "exec '" + worker + "' \"$@\"\n";
    const std::string file = write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
  /// The worker at `inner`, which describes itself as the sed script edits it.
  std::string described(const std::string& name, const std::string& inner,
                        const std::string& script) const {
    const std::string file =
        write(name, "#!/bin/sh\n[ \"$1\" = describe ] || exec '" + inner + "' \"$@\"\n'" + inner +
                        "' describe | sed '" + script + "'\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
  std::string builds(int count, int first) const {
    std::string list;
    for (int i = 0; i < count; ++i) list += build(i, first) + "\n";
    return write("builds.txt", list);
  }
  nlohmann::json result(const std::string& out) const {
    return nlohmann::json::parse(read(out + "/bisect.json"));
  }
};

TEST_F(Bisect, NamesTheBuildAndBearsItOut) {
  const Run run =
      mpsprobe({"bisect", kCell, "--builds", builds(8, 5), "--confirm", "4", "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("The failure began with b5 ("));
  EXPECT_THAT(run.out, HasSubstr("b4 failed in 0 of 4, b5 in 4 of 4"));
  EXPECT_EQ(result("out").at("build"), "b5");
  EXPECT_LE(result("out").at("trials"), 18);
  EXPECT_THAT(read("out/bisect.md"), HasSubstr("| b5 |"));
  // Each build's trials are a run like any other.
  EXPECT_EQ(mpsprobe({"show", path("out/builds/b5")}).exit_code, 0);
}

TEST_F(Bisect, GoesOnAfterItWasKilledAsIfItHadNotBeen) {
  const std::string list = builds(8, 3);
  EXPECT_EQ(mpsprobe({"bisect", kCell, "--builds", list, "--out", path("whole")}).exit_code, 0);
  shell("$mpsprobe bisect " + std::string(kCell) + " --builds " + list + " --out " + path("cut") +
        " & pid=$!; until [ -s " + path("cut/builds/b7/journal.ndjson") +
        " ]; do :; done; kill -9 $pid; wait");
  EXPECT_FALSE(std::filesystem::exists(path("cut/bisect.json")));
  const Run resumed = mpsprobe({"bisect", "--resume", path("cut")});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(result("cut"), result("whole"));
  // A settled one runs nothing, and says the same.
  EXPECT_EQ(mpsprobe({"bisect", "--resume", path("cut")}).out, resumed.out);
}

// A build that does not read a variable of the cell would run another cell.
// What a build's journal names would be started: the request of the whole says nothing about it.
TEST_F(Bisect, TrialsOfABuildThatWereMadeElsewhereStartNothing) {
  const std::string list = builds(2, 1);
  for (const char* out : {"here", "there"}) {
    const Run whole = mpsprobe({"bisect", kCell, "--builds", list, "--out", path(out)});
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
  }
  for (const char* name : {"b0", "b1"}) {
    const std::string file = std::string("/builds/") + name + "/journal.ndjson";
    const std::string of_here = read("here" + file);
    write("there" + file, of_here.substr(0, of_here.find('\n') + 1));  // the header alone
  }
  const Run refused = mpsprobe({"bisect", "--resume", path("there")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--trust-run"));
  const Run trusted = mpsprobe({"bisect", "--resume", path("there"), "--trust-run"});
  EXPECT_EQ(trusted.exit_code, 0) << trusted.err;
}

TEST_F(Bisect, LeavesOutBuildsThatDoNotReadAVariableOfTheCell) {
  const std::string cell = std::string(kCell) + "/threads=1/env.ONLY_NEW=1";
  const std::string list = builds(6, 4);
  const Run none =
      mpsprobe({"bisect", cell, "--builds", list, "--trust-run", "--out", path("none")});
  EXPECT_EQ(none.exit_code, 4) << none.err;
  EXPECT_THAT(none.out, HasSubstr("Fewer than two builds can run the cell"));
  EXPECT_THAT(none.out, HasSubstr("could not be tried: env.ONLY_NEW: no library that it loads"));
  for (int i = 2; i < 6; ++i) {
    const std::string name = "b" + std::to_string(i);
    std::filesystem::rename(path(name), path("inner-" + name));
    described(name, path("inner-" + name), R"(s/"ONLY_NEW": ""/"ONLY_NEW": "libnew"/)");
  }
  const Run run = mpsprobe({"bisect", cell, "--builds", list, "--trust-run", "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("The failure began with b4 ("));
  EXPECT_THAT(read("out/bisect.md"),
              HasSubstr("| b1 | could not be tried: env.ONLY\\_NEW: no library that it loads"));
}

TEST_F(Bisect, LeavesOutBuildsWithoutTheOperation) {
  const std::string file = described("old", build(0, 0), "s/selftest.exit_eleven/other/");
  const Run run =
      mpsprobe({"bisect", kCell, "--builds", file + ",other=" + file, "--out", path("out")});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_THAT(run.out, HasSubstr("could not be tried: no worker has the operation \"selftest."));
}

// Whatever the backend is called: mps on the stand-in is one of these.
TEST_F(Bisect, ABackendThatTheWorkerCallsSimulatedIsMarkedFromTheStart) {
  std::string list;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "simulated" + std::to_string(i);
    list += described(name, build(i, 2), R"(s/"simulated": false/"simulated": true/)") + "\n";
  }
  const Run run =
      mpsprobe({"bisect", kCell, "--builds", write("list.txt", list), "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(run.err.find("SIMULATED Metal device"), run.err.find("   1  ")) << run.err;
  EXPECT_THAT(run.out, HasSubstr("SIMULATED"));
  EXPECT_THAT(read("out/bisect.md"), HasSubstr("> SIMULATED"));
  EXPECT_TRUE(result("out").at("simulated"));
  EXPECT_THAT(mpsprobe({"bisect", "--resume", path("out")}).out, HasSubstr("SIMULATED"));

  const Run alone = mpsprobe({"run", "--cell", kCell, "--trials", "1", "--worker",
                              "stock=" + path("simulated0"), "--out", path("run")});
  EXPECT_THAT(alone.err, HasSubstr("SIMULATED Metal device")) << alone.err;
}

TEST_F(Bisect, MakesBuildsWhenTheyAreTriedAndLeavesOutWhatCannotBeMade) {
  builds(5, 3);
  const std::string make = write("make",
                                 "#!/bin/sh\n[ $1 != b2 ] || { echo broken >&2; exit 1; }\n"
                                 "echo $1 >> " +
                                     path("made") + "\necho some words\necho " + path("") + "$1\n");
  const Run run = mpsprobe({"bisect", kCell, "--builds", "b0,b1,b2,b3,b4", "--make",
                            "sh " + make + " {}", "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("The failure began with b3 ("));
  EXPECT_THAT(run.err, HasSubstr("b2 is left out"));
  EXPECT_THAT(run.out, HasSubstr("or with what could not be tried before it: b2"));
  const std::string made = read("made");
  EXPECT_EQ(made.find("b3"), made.rfind("b3"));  // once
}

TEST_F(Bisect, SaysWhatToDoWhereMakeFailsSilentlyOrPrintsNoWorker) {
  const auto bisected = [this](const std::string& make, const std::string& out) {
    return mpsprobe({"bisect", kCell, "--builds", "a,b", "--make", make, "--out", path(out)}).err;
  };
  EXPECT_THAT(bisected("exit 7 #", "silent"),
              HasSubstr("exited with 7, and printed no reason. Run it by hand, with -x where it is "
                        "a script"));
  EXPECT_THAT(bisected("echo done #", "words"),
              HasSubstr("its last line, \"done\", is no path of a file. It has to print the worker "
                        "that it made"));
}

TEST_F(Bisect, TakesEarlierTrialsForItsPrior) {
  const std::string list = builds(4, 2);
  for (const char* name : {"b1", "b2"}) {
    EXPECT_EQ(mpsprobe({"run", "--cell", kCell, "--trials", "9", "--worker",
                        std::string(name) + "=" + path(name), "--out", path("runs/") + name})
                  .exit_code,
              0);
  }
  const Run run =
      mpsprobe({"bisect", kCell, "--builds", list, "--from", path("runs"), "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(result("out").at("trials"), 0) << run.out;
  EXPECT_EQ(result("out").at("build"), "b2");
}

TEST_F(Bisect, SaysWhenNothingChanged) {
  const Run run = mpsprobe({"bisect", kCell, "--builds", builds(4, 0), "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("No change of the rate by 10 points or more among the builds tried (9"));
  const Run few = mpsprobe({"bisect", kCell, "--builds", path("builds.txt"), "--most-trials", "1",
                            "--out", path("few")});
  EXPECT_EQ(few.exit_code, 6) << few.err;
  EXPECT_THAT(few.out, HasSubstr("Not settled: the most trials, 1, were run. It is undecided: one "
                                 "of no culprit, b1 to b3 (95% confidence)"));
  EXPECT_THAT(few.err, Not(HasSubstr("--resume")));  // which would run nothing
  EXPECT_THAT(few.out, Not(HasSubstr("sure")));      // of what it does not say
  EXPECT_LE(std::count(run.err.begin(), run.err.end(), '\n'), 5) << run.err;  // one a build
}

TEST_F(Bisect, StartsItsProcessesAsItIsToldAlsoWhenItGoesOn) {
  if (!takes_orphans()) GTEST_SKIP() << "nothing is forked here";
  const std::string list = builds(4, 0);
  const Run cut = mpsprobe({"bisect", kCell, "--builds", list, "--start-process", "fork",
                            "--most-trials", "1", "--out", path("out")});
  ASSERT_EQ(cut.exit_code, 6) << cut.err;
  // What it was asked for, but for more trials.
  nlohmann::json request = nlohmann::json::parse(read("out/request.json"));
  request["most_trials"] = 300;
  write("out/request.json", request.dump());
  ASSERT_EQ(mpsprobe({"bisect", "--resume", path("out")}).exit_code, 0);
  int builds_tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("out/builds"))) {
    const Journal journal = read_journal(entry.path() / "journal.ndjson");
    EXPECT_EQ(journal.header.start_process, StartProcess::fork);
    for (const TrialRecord& trial : journal.trials) {
      EXPECT_EQ(trial.processes.at(0).start, StartProcess::fork) << entry.path();
    }
    ++builds_tried;
  }
  EXPECT_GT(builds_tried, 1);
  EXPECT_EQ(mpsprobe({"bisect", "--resume", path("out"), "--start-process", "exec"}).exit_code, 2);
}

TEST_F(Bisect, LeavesOutABuildThatCannotBeStartedAsItIsTold) {
  builds(3, 0);
  const std::string worker = selftest_.substr(selftest_.find('=') + 1);
  write("b2", "#!/bin/sh\nexec '" + worker + "' \"$@\" | sed 's/\"standby\"/\"none\"/'\n");
  const Run run = mpsprobe({"bisect", kCell, "--builds", path("builds.txt"), "--start-process",
                            "standby", "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("b2 is left out: --start-process standby: "));
}

TEST_F(Bisect, RefusesWhatIsNoQuestion) {
  EXPECT_THAT(mpsprobe({"bisect", kCell, "--builds", "a"}).err, HasSubstr("fewer than two builds"));
  EXPECT_THAT(mpsprobe({"bisect", kCell, "--builds", "x/a,y/a"}).err, HasSubstr("is named twice"));
  EXPECT_THAT(mpsprobe({"bisect", "nonsense", "--builds", "a,b"}).err, HasSubstr("mpsprobe: "));
  EXPECT_EQ(mpsprobe({"bisect", "nonsense", "--builds", "a,b"}).exit_code, 2);
  EXPECT_THAT(mpsprobe({"bisect", "--resume", path("")}).err, HasSubstr("holds no bisection"));
  EXPECT_THAT(mpsprobe({"bisect", "--resume", path(""), "--confidence", "99"}).err,
              HasSubstr("goes on with what the bisection was asked for"));
}

}  // namespace
}  // namespace mpsprobe

// Runs from beginning to end, with a worker that misbehaves on purpose: what is kept when the
// runner is killed, interrupted or out of space, and what hostile children can do to a report.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "harness/executor/environment.h"
#include "harness/executor/worker_starts.h"
#include "harness/journal/journal.h"
#include "harness/journal/trial_json.h"
#include "harness/test_series.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class RunCommand : public ProgramTest {
 protected:
  /// Starts it without waiting, its output thrown away.
  pid_t start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{program_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const int null = open("/dev/null", O_RDWR);
      dup2(null, STDOUT_FILENO);
      dup2(null, STDERR_FILENO);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    return child;
  }

  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
};

// A worker of known truth: from two threads without a lock all fails on a stream of its own, and
// with sync=never on any.
TEST_F(RunCommand, MoreOfARunTellsWhichFailuresNeedTheSameConditions) {
  const std::string worker = selftest_.substr(selftest_.find('=') + 1);
  const std::string race = write("race", R"(#!/bin/sh
[ "$1" = describe ] && {
  ')" + worker + R"(' describe | sed 's/"axes": \[/"axes": ["stream",/; s/"cpu"/"mlx"/'
  exit
}
does=pass
case "$3" in
  */threads=1* | *lock=forward*) ;;
  *stream=per-thread* | *sync=never*) does=exit_eleven ;;
esac
shift 3
exec ')" + worker + R"(' run --cell cpu/selftest.$does/default/threads=1 "$@"
)");
  fs::permissions(race, fs::perms::owner_all);
  std::vector<std::string> arguments{
      "run",      "--worker", "stock=" + race, "--start-process", "exec",
      "--trials", "5",        "--out",         path("out")};
  for (const char* end : {"", "/sync=end", "/sync=never"}) {
    arguments.insert(
        arguments.end(),
        {"--cell", std::string("mlx/selftest.pass/default/threads=2/stream=per-thread") + end});
  }
  const Run first = mpsprobe(arguments);
  EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_THAT(read("out/report.md"), HasSubstr("`mpsprobe run --more RUN` runs "));

  const Run more = mpsprobe({"run", "--more", path("out"), "--out", path("more")});
  EXPECT_EQ(more.exit_code, 0) << more.out << more.err;
  EXPECT_THAT(read("more/report.md"),
              ContainsRegex(
                  "selftest.pass .[0-9]+ of [0-9]+ trials failed.; selftest.pass, sync=end .[0-9]+ "
                  "of [0-9]+.: of each none seen with 1 thread, with stream=default, with a lock"));
  const auto report = nlohmann::json::parse(read("more/report.json"));
  ASSERT_EQ(report.at("groups").size(), 1U);
  EXPECT_EQ(report["groups"][0].at("operations"), nlohmann::json({0, 1}));
  const nlohmann::json& apart = report.at("failing_operations").at(2);
  EXPECT_EQ(apart.at("conditions").at(1).at("condition"), "stream=per-thread");
  EXPECT_EQ(apart["conditions"][1].at("says"), "goes_on");
  EXPECT_THAT(apart.at("would_tell"), testing::IsEmpty());

  const Run nothing = mpsprobe({"run", "--more", path("more"), "--out", path("again")});
  EXPECT_NE(nothing.exit_code, 0);
}

TEST_F(RunCommand, TheSelftestMatrixComesOutAsExpected) {
  std::vector<std::string> arguments{"run",      "--matrix", "selftest", "--trials", "1",
                                     "--worker", selftest_,  "--out",    path("out")};
#ifdef MPSPROBE_SANITIZED
  // All but wild_free and heap_crash, which a sanitizer notices before the C library does.
  for (const char* pattern : {"*selftest.[!hw]*", "*selftest.wild_call*", "*selftest.wrong*",
                              "*selftest.hostile_text*"}) {
    arguments.insert(arguments.end(), {"--filter", pattern});
  }
  arguments.insert(arguments.end(), {"--stall", "6"});  // what floods is slowed down as well
#endif
  const Run run = mpsprobe(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("UNEXPECTED")));
#if defined(__linux__) && !defined(MPSPROBE_SANITIZED)
  // The matrix leaves open which signal, and how a damaged heap ends, which differ on macOS.
  int crashes = 0;
  for (const TrialRecord& trial : read_journal(path("out/journal.ndjson")).trials) {
    const std::string& operation = trial.cell.op;
    if (operation != "selftest.heap_call" && operation != "selftest.heap_crash" &&
        operation != "selftest.stack_overflow") {
      continue;
    }
    EXPECT_EQ(trial.judgement.detail, "SIGSEGV") << operation;
    ++crashes;
  }
  EXPECT_EQ(crashes, 3);
#endif
}

#ifdef __linux__
// A worker that writes the report of its own death first, as the system would after it, and that of
// an earlier process of the same name.
TEST_F(RunCommand, TheSystemsReportOfADeathIsKeptWithItsTrial) {
  fs::create_directory(path("reports"));
  const std::string script = write("worker.sh", R"(#!/bin/sh
if [ "$1" = run ]; then
  now=$(date '+%Y-%m-%d %H:%M:%S.%4N %z')
  report() {
    sed -e "s/\"pid\" : 4242/\"pid\" : $1/" \
      -e "s/\"timestamp\":\"[^\"]*\"/\"timestamp\":\"$now\"/" \
      -e "s/\"procLaunch\" : \"[^\"]*\"/\"procLaunch\" : \"$2\"/" \
      -e "s/\"captureTime\" : \"[^\"]*\"/\"captureTime\" : \"$2\"/" \
      -e "s/0A0B0C0D-0000-4000-8000-000000000001/$3/" "$template" > "$reports/$3.ips"
  }
  report $$ "$now" 00000000-0000-4000-8000-000000000001
  report $$ "2025-03-01 12:00:01.2500 +0100" 00000000-0000-4000-8000-000000000002
  report $(($$ + 1)) "$now" 00000000-0000-4000-8000-000000000003
fi
exec "$real" "$@"
)");
  fs::permissions(script, fs::perms::owner_all);
  const Run run = shell("export real=\"${worker#*=}\" reports=\"$PWD/reports\"; export template=" +
                        std::string(MPSPROBE_SOURCE_DIR) +
                        "/harness/crash_report/testdata/null-dereference-in-agx.ips; "
                        "\"$mpsprobe\" run --cell cpu/selftest.null_dereference/default --trials 1 "
                        "--worker stock=./worker.sh --crash-reports reports --out out");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Journal journal = read_journal(path("out/journal.ndjson"));
  ASSERT_EQ(journal.trials.size(), 1U);
  const auto& report = journal.trials[0].processes.at(0).crash_report;
  ASSERT_TRUE(report.has_value()) << run.err;
  EXPECT_EQ(report->incident, "00000000-0000-4000-8000-000000000001");
  EXPECT_TRUE(fs::exists(path("out/" + report->file))) << report->file;
  EXPECT_THAT(read("out/report.md"), HasSubstr("00000000-0000-4000-8000-000000000001"));
}
#endif

TEST_F(RunCommand, AnUnmetExpectationEndsWithOneAndSaysWhich) {
  const std::string file = write(
      "my.json",
      R"({"mpsprobe_matrix":1,"name":"m","axes":{"backend":["cpu"],"op":["selftest.exit_eleven"]},
          "expect":[{"where":{},"outcome":"signal","detail":"SIGSEGV"}]})");
  const Run run = mpsprobe(
      {"run", "--matrix", file, "--trials", "1", "--worker", selftest_, "--out", path("out")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("UNEXPECTED"));
}

TEST_F(RunCommand, FailOnAnyMakesABoundaryAnError) {
  const std::vector<std::string> arguments{"run",      "--cell", "cpu/selftest.trap/default",
                                           "--trials", "1",      "--worker",
                                           selftest_,  "--out",  path("out")};
  EXPECT_EQ(mpsprobe(arguments).exit_code, 0);
  std::vector<std::string> strict = arguments;
  strict.back() = path("strict");
  strict.insert(strict.end(), {"--fail-on", "any"});
  EXPECT_EQ(mpsprobe(strict).exit_code, 1);
}

constexpr int kKills = series(20, 10);       // tools/torture has as many as anybody likes
constexpr size_t kTrials = series(150, 30);  // of each cell

/// However processes are started.
class EachStart : public RunCommand, public testing::WithParamInterface<StartProcess> {
 protected:
  void SetUp() override {
    const std::string worker = selftest_.substr(selftest_.find('=') + 1);
    const auto described =
        nlohmann::json::parse(run_command({worker, "describe"}, 60, inherited_environment()).out);
    const std::string why = why_not_started_by(GetParam(), {"stock", worker, described});
    if (!why.empty()) GTEST_SKIP() << why;
  }
  std::string way() const { return std::string(name_of(GetParam())); }
};

INSTANTIATE_TEST_SUITE_P(Starts, EachStart,
                         testing::Values(StartProcess::exec, StartProcess::standby,
                                         StartProcess::fork),
                         [](const auto& start) { return std::string(name_of(start.param)); });

TEST_P(EachStart, KilledAgainAndAgainNothingIsLostAndNothingRunsTwice) {
  const std::vector<std::string> begin{
      "run",
      "--op",
      "selftest.pass,selftest.exit_eleven,selftest.null_dereference",
      "--backend",
      "cpu",
      "--threads",
      "1,2",
      "--trials",
      std::to_string(kTrials),
      "--jobs",
      "2",
      "--worker",
      selftest_,
      "--out",
      path("out"),
      "--start-process",
      way()};
  const std::vector<std::string> resume{"run", "--resume", path("out")};
  std::mt19937 random(11);
  std::set<std::pair<std::string, int>> before;
  int kills = 0;
  unsigned span_ms = 120;
  const int most = GetParam() == StartProcess::fork ? kKills : kKills / 5;
  while (kills < most) {
    const bool begun = fs::exists(path("out/journal.ndjson"));
    const pid_t runner = start(begun ? resume : begin);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % span_ms));
    kill(runner, SIGKILL);
    const int status = wait_for(runner);
    if (!fs::exists(path("out/journal.ndjson"))) {
      // It never got so far as to begin. Where programs start slowly, kill later.
      span_ms = std::min(span_ms * 2, 8000U);
      continue;
    }
    if (WIFEXITED(status)) break;  // it got to its end in spite of the kills
    ++kills;
    // Whole or not there: a journal that exists can always be read.
    const Journal journal = read_journal(path("out/journal.ndjson"));
    std::set<std::pair<std::string, int>> now;
    for (const TrialRecord& trial : journal.trials) {
      EXPECT_TRUE(now.insert({to_string(trial.cell), trial.trial}).second) << "run twice";
    }
    EXPECT_TRUE(std::includes(now.begin(), now.end(), before.begin(), before.end())) << "lost";
    before = now;
  }
  const Run last = mpsprobe(resume);
  EXPECT_EQ(last.exit_code, 0) << last.err;
  const Journal journal = read_journal(path("out/journal.ndjson"));
  EXPECT_EQ(journal.trials.size(), 6 * kTrials);
  std::set<std::pair<std::string, int>> all;
  for (const TrialRecord& trial : journal.trials) {
    all.insert({to_string(trial.cell), trial.trial});
    const Outcome expected = trial.cell.op == "selftest.pass"          ? Outcome::pass
                             : trial.cell.op == "selftest.exit_eleven" ? Outcome::exit
                                                                       : Outcome::signal;
    EXPECT_EQ(trial.judgement.outcome, expected) << trial_to_json(trial).dump(1);
  }
  EXPECT_EQ(all.size(), 6 * kTrials);
}

TEST_P(EachStart, CtrlCEndsTheChildrenWritesTheReportAndSaysSo) {
  const pid_t runner = start({"run", "--cell", "cpu/selftest.pass/default", "--cell",
                              "cpu/selftest.deadlock/default", "--trials", "5", "--stall", "60",
                              "--jobs", "1", "--worker", selftest_, "--out", path("out"), "--seed",
                              "918273645", "--start-process", way()});
  // The first deadlock comes within the first two trials, and lasts.
  for (int i = 0; i < 12000 && !fs::exists(path("out/journal.ndjson")); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(runner, SIGINT);
  const int status = wait_for(runner);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_TRUE(fs::exists(path("out/report.md")));
  EXPECT_EQ(nlohmann::json::parse(read("out/report.json")).at("mpsprobe_report"), 2);
  EXPECT_EQ(read_journal(path("out/journal.ndjson")).ends.back().reason, "interrupted");
}

#ifdef __linux__
/// How many processes have this variable from their start: workers, and what starts them.
int processes_with(const std::string& variable) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream stream(entry.path() / "environ", std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(stream)),
                          std::istreambuf_iterator<char>());
    if (all.find(variable + '\0') != std::string::npos) ++count;
  }
  return count;
}

TEST_P(EachStart, WorkersDoNotOutliveAKilledRunner) {
  const std::string variable = "PLANTED=564738291" + way();
  // Beside the two of the trial: those that stand by for the next one, or the server.
  const int all = GetParam() == StartProcess::standby ? 4
                  : GetParam() == StartProcess::fork  ? 3
                                                      : 2;
  const pid_t runner = start({"run", "--cell", "cpu/selftest.busy_loop/default/processes=2",
                              "--stall", "60", "--jobs", "1", "--worker", selftest_, "--out",
                              path("out"), "--env", variable, "--start-process", way()});
  // A process that is just being started or ended may be missed by one look and found by the next.
  const auto comes_to = [&variable](int wanted) {
    int count = -1;
    for (int i = 0; i < 12000 && count != wanted; ++i) {
      if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      count = processes_with(variable);
    }
    return count;
  };
  EXPECT_EQ(comes_to(all), all);
  kill(runner, SIGKILL);
  wait_for(runner);
  EXPECT_EQ(comes_to(0), 0);
}
#endif

TEST_F(RunCommand, AFullDiskEndsWithThreeAndLeavesAWholeJournal) {
  // 52 blocks of 512 bytes: room for the header and a few trials.
  const Run run = shell(
      "ulimit -f 52; \"$mpsprobe\" run --cell cpu/selftest.pass/default --trials 50 --jobs 1 "
      "--worker \"$worker\" --out out");
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("journal.ndjson"));
  EXPECT_THAT(run.err, HasSubstr("--resume"));
  const Journal journal = read_journal(path("out/journal.ndjson"));
  EXPECT_FALSE(journal.torn);
  EXPECT_LT(journal.trials.size(), 50U);
  const Run resumed = mpsprobe({"run", "--resume", path("out")});
  // A trial that the full disk kept from starting is no result: it runs again, and is counted once.
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(nlohmann::json::parse(read("out/report.json")).at("cells").at(0).at("counted"), 50);
}

TEST_F(RunCommand, TooFewOpenFilesAreNamedWithTheLimitThatHelps) {
  int refused = 0;
  for (const char* files : {"12", "20", "22", "24", "26"}) {
    const Run run = shell(std::string("ulimit -n ") + files +
                          "; \"$mpsprobe\" run --cell cpu/selftest.pass/default --trials 1 "
                          "--worker \"$worker\" --out out" +
                          files);
    if (run.exit_code == 0) continue;  // it was enough
    ++refused;
    EXPECT_THAT(run.exit_code, testing::AnyOf(3, 4)) << files << run.err;
    EXPECT_THAT(run.err, HasSubstr("ulimit -n")) << files;
    EXPECT_THAT(run.err, HasSubstr("256")) << files;
  }
  EXPECT_GE(refused, 2);
}

TEST_F(RunCommand, SmallStacksAreEnough) {
  const Run run = shell(
      "ulimit -s 512; \"$mpsprobe\" run --cell cpu/selftest.pass/default --trials 4 --jobs 2 "
      "--worker \"$worker\" --out out");
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(RunCommand, ARunWhoseBudgetIsOverIsIncomplete) {
  const Run run = mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--trials", "5000",
                            "--budget", "0.02", "--worker", selftest_, "--out", path("out")});
  EXPECT_EQ(run.exit_code, 6) << run.err;
  EXPECT_THAT(run.err, HasSubstr("of 5000 planned trials came to a result"));
  EXPECT_THAT(run.err, HasSubstr(" run --resume " + path("out") + "\n"));
}

TEST_F(RunCommand, SettlesWhereCellsBeginToFail) {
  const std::vector<std::string> arguments{
      "run",       "--op",    "selftest.pass,selftest.exit_eleven",
      "--backend", "cpu",     "--threads",
      "1,2",       "--jobs",  "2",
      "--worker",  selftest_, "--out",
      path("out")};
  std::vector<std::string> wrong = arguments;
  wrong.insert(wrong.end(), {"--settle", "5"});
  EXPECT_THAT(mpsprobe(wrong).err, HasSubstr("\"5\" is not a rate that it can be. Write one from "
                                             "0.1% to 50%"));
  wrong.back() = "5%";
  wrong.insert(wrong.end(), {"--trials", "20"});
  EXPECT_EQ(mpsprobe(wrong).exit_code, 2);
  std::vector<std::string> settled = arguments;
  settled.insert(settled.end(), {"--settle", "20%", "--fail-on", "never"});
  const Run run = mpsprobe(settled);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("10 trials each or more, to tell 20%"));
  EXPECT_THAT(
      run.out,
      HasSubstr("Where 20% of trials or more begin to fail is settled for 2 of 2 boundaries"));
  std::map<std::string, int> trials;
  for (const TrialRecord& trial : read_journal(path("out/journal.ndjson")).trials) {
    ++trials[to_string(trial.cell)];
  }
  EXPECT_EQ(trials.at("cpu/selftest.exit_eleven/default/threads=2"), 10);
  EXPECT_GT(trials.at("cpu/selftest.pass/default/threads=2"), 10);
}

TEST_F(RunCommand, EveryFormatIsWrittenAfterTheRunnerWasKilled) {
  const pid_t runner =
      start({"run", "--cell", "cpu/selftest.pass/default", "--trials", "5000", "--jobs", "1",
             "--worker", selftest_, "--out", path("out"), "--seed", "1"});
  const auto lines = [this] {
    const std::string text =
        fs::exists(path("out/journal.ndjson")) ? read("out/journal.ndjson") : "";
    return std::count(text.begin(), text.end(), '\n');
  };
  for (int i = 0; i < 12000 && lines() < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(runner, SIGKILL);
  wait_for(runner);
  const Run report = mpsprobe({"report", path("out"), "--format", "junit,html,csv,svg,github"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(read("out/junit.xml"), HasSubstr("</testsuites>"));
  EXPECT_THAT(read("out/report.html"), HasSubstr("Incomplete"));
  EXPECT_THAT(read("out/github-annotations.txt"), HasSubstr("::error title=incomplete run"));
  for (const char* file : {"out/cells.csv", "out/boundaries.svg", "out/github-summary.md"}) {
    EXPECT_FALSE(read(file).empty()) << file;
  }
  EXPECT_FALSE(fs::exists(path("out/report.json"))) << "nobody asked for it";
}

TEST_F(RunCommand, AReportThatCannotBeWrittenEndsWithFiveAndTheJournalIsWhole) {
  fs::create_directories(path("out/report.md/in-the-way"));
  const Run run = mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--trials", "2",
                            "--worker", selftest_, "--out", path("out")});
  EXPECT_EQ(run.exit_code, 5) << run.err;
  EXPECT_EQ(read_journal(path("out/journal.ndjson")).trials.size(), 2U);
}

TEST_F(RunCommand, ATerminalThatHasGoneEndsNothing) {
  int number = 0;
  for (const char* redirection : {"2>/dev/full", "2>&-", ">&- 2>&-"}) {
    const std::string out = "out" + std::to_string(number++);
    const Run run = shell(
        "\"$mpsprobe\" run --cell cpu/selftest.trap/default --trials 3 --worker \"$worker\" "
        "--out " +
        out + " " + redirection);
    EXPECT_EQ(run.exit_code, 0) << redirection;
    EXPECT_TRUE(fs::exists(path(out + "/report.md"))) << redirection;
    EXPECT_EQ(read_journal(path(out + "/journal.ndjson")).trials.size(), 3U) << redirection;
  }
}

#ifdef __linux__
TEST_F(RunCommand, APlanThatCouldNotBePrintedIsNoSuccess) {
  const std::string plan =
      "\"$mpsprobe\" run --cell cpu/selftest.trap/default --dry-run --worker \"$worker\"";
  const Run lost = shell(plan + " >/dev/full");
  EXPECT_EQ(lost.exit_code, 3);
  EXPECT_THAT(lost.err, HasSubstr("standard output could not be written: "));
  // Who has seen enough is gone before anything is written.
  const Run left = shell("mkfifo p; (exec <p) & exec 3>p; wait; " + plan + " >&3");
  EXPECT_EQ(left.exit_code, 0);
  EXPECT_THAT(left.err, Not(HasSubstr("standard output")));
}
#endif

TEST_F(RunCommand, AParentThatIgnoresItsChildrenDoesNotMatter) {
  const Run run = shell(
      "trap '' CHLD; \"$mpsprobe\" run --cell cpu/selftest.pass/default --trials 2 --worker "
      "\"$worker\" --out out");
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(RunCommand, TheSameJournalGivesTheSameBytes) {
  mpsprobe({"run", "--matrix", "selftest", "--filter", "*abort*", "--trials", "1", "--worker",
            selftest_, "--out", path("out")});
  const std::string markdown = read("out/report.md");
  const std::string json = read("out/report.json");
  ASSERT_FALSE(markdown.empty());
  fs::remove(path("out/report.md"));
  fs::remove(path("out/report.json"));
  EXPECT_EQ(mpsprobe({"report", path("out")}).exit_code, 0);
  EXPECT_EQ(read("out/report.md"), markdown);
  EXPECT_EQ(read("out/report.json"), json);
}

TEST_F(RunCommand, HostileTextIsHarmlessEverywhere) {
  const Run run = mpsprobe({"run", "--cell", "cpu/selftest.hostile_text/default", "--cell",
                            "cpu/selftest.garbage/default", "--trials", "2", "--worker", selftest_,
                            "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const std::string& shown : {run.out, run.err, read("out/report.md")}) {
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
    EXPECT_THAT(shown, Not(HasSubstr("\xe2\x80\xae")));
  }
  // What the child printed is shown inside a fence that it cannot close, and nowhere else.
  std::istringstream lines(read("out/report.md"));
  std::string fence;
  int shown_in_fence = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (fence.empty() && ticks >= 3) {
      fence = line.substr(0, ticks);
    } else if (!fence.empty() && line == fence) {
      fence.clear();
    } else if (line.find("<script>") != std::string::npos) {
      EXPECT_FALSE(fence.empty()) << line;
      ++shown_in_fence;
    }
  }
  EXPECT_EQ(shown_in_fence, 1);
  EXPECT_TRUE(fence.empty());
  EXPECT_FALSE(nlohmann::json::parse(read("out/report.json")).is_discarded());
}

TEST_F(RunCommand, AJournalInTheWayIsNotOverwritten) {
  const std::vector<std::string> arguments{"run",      "--cell", "cpu/selftest.pass/default",
                                           "--trials", "1",      "--worker",
                                           selftest_,  "--out",  path("out")};
  EXPECT_EQ(mpsprobe(arguments).exit_code, 0);
  const Run again = mpsprobe(arguments);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("--resume"));
}

TEST_F(RunCommand, TwoWorkersRunTheSameCellsSideBySide) {
  const std::string other = selftest_.substr(selftest_.find('=') + 1);
  EXPECT_EQ(mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--trials", "2", "--worker",
                      selftest_, "--worker", "fork=" + other, "--out", path("out")})
                .exit_code,
            0);
  const Journal journal = read_journal(path("out/journal.ndjson"));
  EXPECT_EQ(journal.trials.size(), 4U);
  EXPECT_THAT(read("out/report.md"), HasSubstr("fork"));
}

TEST_F(RunCommand, OnlyWhatFailedRunsAgainAsItRanThere) {
  mpsprobe({"run", "--op", "selftest.pass,selftest.trap,selftest.abort", "--backend", "cpu",
            "--trials", "2", "--seed", "9", "--stall", "7", "--env", "PLANTED=1", "--worker",
            selftest_, "--out", path("first")});
  const Run again = mpsprobe({"run", "--failed", path("first"), "--out", path("again")});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const Journal journal = read_journal(path("again/journal.ndjson"));
  std::set<std::string> cells;
  for (const PlannedCell& planned : journal.header.cells) cells.insert(planned.cell.op);
  EXPECT_EQ(cells, (std::set<std::string>{"selftest.abort", "selftest.trap"}));
  EXPECT_EQ(journal.header.trials, 2);
  EXPECT_EQ(journal.header.seed, 9U);
  EXPECT_EQ(journal.header.stall_seconds, 7);
  EXPECT_EQ(journal.header.environment, std::vector<std::string>{"PLANTED=1"});
  EXPECT_EQ("stock=" + journal.header.workers.at(0).path, selftest_);
}

TEST_F(RunCommand, WhyNothingCouldRunIsSaid) {
  // It answers once and is gone.
  const std::string worker =
      write("gone", "#!/bin/sh\nrm \"$0\"\nexec '" + selftest_.substr(selftest_.find('=') + 1) +
                        "' \"$@\"\n");
  fs::permissions(worker, fs::perms::owner_all);
  const Run run = mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--trials", "2",
                            "--worker", "stock=" + worker, "--out", path("out")});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_THAT(run.err, HasSubstr("no trial came to a result that counts: infrastructure: "));
  EXPECT_THAT(run.err, HasSubstr("(2 trials)"));
}

TEST_F(RunCommand, WhereNothingFailedThereIsNothingToRunAgain) {
  mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--trials", "1", "--worker", selftest_,
            "--out", path("first")});
  const Run again = mpsprobe({"run", "--failed", path("first"), "--out", path("again")});
  EXPECT_EQ(again.exit_code, 4);
  EXPECT_THAT(again.err, HasSubstr("nothing failed in"));
  EXPECT_FALSE(fs::exists(path("again")));
}

// As docs/commands.md says to whoever follows a run by it.
TEST_F(RunCommand, ItsJournalIsOneJsonObjectALine) {
  mpsprobe({"run", "--op", "selftest.pass,selftest.trap", "--backend", "cpu", "--trials", "2",
            "--worker", selftest_, "--out", path("out")});
  std::istringstream lines(read("out/journal.ndjson"));
  std::map<std::string, int> records;
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    const nlohmann::json record = nlohmann::json::parse(line);
    const std::string name = record.at("record");
    EXPECT_EQ(record.at("n"), number);
    EXPECT_TRUE(name != "end" || record.at("reason") == "complete");
    EXPECT_TRUE(name != "trial" || record.at("trial").contains("judgement"));
    ++records[name];
  }
  EXPECT_THAT(records, testing::AllOf(testing::Contains(testing::Pair("campaign", 1)),
                                      testing::Contains(testing::Pair("trial", 4)),
                                      testing::Contains(testing::Pair("end", 1))));
}

TEST_F(RunCommand, EndsAfterSoManyFailures) {
  mpsprobe({"run", "--op", "selftest.trap", "--backend", "cpu", "--trials", "9", "--jobs", "1",
            "--max-failures", "3", "--worker", selftest_, "--out", path("out")});
  const Journal journal = read_journal(path("out/journal.ndjson"));
  EXPECT_EQ(journal.trials.size(), 3U);
  EXPECT_EQ(journal.ends.at(0).reason, "failures");
  EXPECT_THAT(read("out/report.md"), HasSubstr("Incomplete: 3 of 9 planned trials were run"));
}

}  // namespace
}  // namespace mpsprobe

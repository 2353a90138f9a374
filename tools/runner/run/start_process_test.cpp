// However its processes are started, a run comes to the same. What the runner starts by fork of its
// own accord (BackendInfo::quickest_start) rests on this. MPSPROBE_START_TRIALS=20 makes it the
// long one: that many trials of every self-test, of the default matrix and of every profile whose
// defect is certain.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "harness/journal/journal.h"
#include "harness/process/descendants.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

/// Cell, outcome, detail and signature, and how often.
using Results = std::map<std::tuple<std::string, std::string, std::string, std::string>, int>;

class StartProcessRun : public ProgramTest {
 protected:
  bool is_long() const { return trials_ != nullptr; }
  std::string trials(const std::string& usual) const { return is_long() ? trials_ : usual; }

  /// What the cells come to, and that every process but the first few, which nothing stood by for,
  /// was started in the way that was asked for.
  Results run(std::vector<std::string> arguments, StartProcess start) {
    const std::string out = "out-" + std::string(name_of(start)) + std::to_string(runs_++);
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--start-process", std::string(name_of(start)), "--fail-on",
                                       "never", "--format", "json", "--out", path(out)});
    const Run result = mpsprobe(arguments, is_long() ? 3600 : kLongest);
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    Results results;
    for (const TrialRecord& trial : read_journal(path(out + "/journal.ndjson")).trials) {
      const Judgement& judgement = trial.judgement;
      // Which thread's numbers are wrong first is chance.
      const bool numbers = judgement.outcome == Outcome::wrong_result;
      ++results[{to_string(trial.cell), std::string(name_of(judgement.outcome)),
                 numbers ? "" : judgement.detail, judgement.signature}];
      for (const ProcessRecord& process : trial.processes) {
        const bool ahead = process.start_remark == "none stood by yet";
        EXPECT_TRUE(process.start == start || ahead)
            << to_string(trial.cell) << ": " << process.start_remark;
      }
    }
    return results;
  }

  void expect_same_in_every_way(const std::vector<std::string>& arguments) {
    const Results executed = run(arguments, StartProcess::exec);
    EXPECT_FALSE(executed.empty());
    EXPECT_EQ(run(arguments, StartProcess::standby), executed);
    if (takes_orphans()) {
      EXPECT_EQ(run(arguments, StartProcess::fork), executed);
    }
  }

 private:
  const char* const trials_ = std::getenv("MPSPROBE_START_TRIALS");
  int runs_ = 0;
};

TEST_F(StartProcessRun, SelfTestsComeOutTheSame) {
  std::vector<std::string> arguments{"--matrix", "selftest", "--trials", trials("1")};
  if (!is_long()) {
    // Each way to die, a hang, and a process that stays behind; those that take seconds are in the
    // matrix of RunCommand.
    for (const char* pattern :
         {"*selftest.null_call*", "*selftest.stack_overflow*", "*selftest.abort_encoder*",
          "*selftest.exception*", "*selftest.exit_*", "*selftest.killed*", "*selftest.lock_cycle*",
          "*selftest.grandchild*", "*selftest.garbage*", "*selftest.scribble*",
          "*selftest.wrong_numbers*", "*selftest.crash_*"}) {
      arguments.insert(arguments.end(), {"--filter", pattern});
    }
  }
  expect_same_in_every_way(arguments);
}

class StartProcessOn : public StartProcessRun, public testing::WithParamInterface<const char*> {};

// mps: on the stand-in.
INSTANTIATE_TEST_SUITE_P(Backends, StartProcessOn, testing::Values("sim", "mps"));

TEST_P(StartProcessOn, PlantedDefectsComeOutTheSame) {
  const std::string cells = GetParam();
  if (cells != "sim" && !is_long()) GTEST_SKIP() << "the same starts as with sim";
  const std::string matrix = write("profiles.json", R"({
    "mpsprobe_matrix": 1, "name": "profiles", "run": {"stall": 3},
    "include": [
      "BACKEND/linear/nograph/threads=2", "BACKEND/linear/nograph/threads=3",
      "BACKEND/linear/graph/threads=3", "BACKEND/linear/graph/threads=4",
      "BACKEND/linear/nograph/threads=1/processes=2",
      "BACKEND/raw/default/threads=2/profile=report-002-stock",
      "BACKEND/raw/default/threads=2/lock=forward/profile=report-002-stock",
      "BACKEND/ones/default/threads=2/profile=report-004-fork",
      "BACKEND/linear/default/threads=2/profile=lazy-init",
      "BACKEND/linear/default/threads=2/warmup=main/profile=lazy-init",
      "BACKEND/linear/default/threads=4/profile=hang",
      "BACKEND/mm/default/threads=4/profile=wrong-numbers",
      "BACKEND/linear/default/threads=2/profile=exception",
      "BACKEND/linear/default/threads=2/profile=gpu-error",
      "BACKEND/linear/default/threads=8/profile=clean"]})");
  std::string text = read("profiles.json");
  for (size_t at = 0; (at = text.find("BACKEND", at)) != std::string::npos;) {
    text.replace(at, 7, cells);
  }
  write("profiles.json", text);
  std::vector<std::string> arguments{"--matrix", matrix, "--trials", trials("1")};
  if (!is_long()) {
    for (const char* pattern :
         {"*/linear/nograph/threads=[23]", "*profile=report-00*", "*profile=wrong-numbers"}) {
      arguments.insert(arguments.end(), {"--filter", pattern});
    }
  }
  expect_same_in_every_way(arguments);
}

TEST_P(StartProcessOn, IsForkedWhereNobodySaysOtherwise) {
  if (!takes_orphans()) GTEST_SKIP() << "nothing is forked here";
  const Run run = mpsprobe({"run", "--cell", std::string(GetParam()) + "/linear/nograph/threads=2",
                            "--trials", "2", "--out", path("usual")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Journal journal = read_journal(path("usual/journal.ndjson"));
  EXPECT_EQ(journal.header.start_process, std::nullopt);
  EXPECT_EQ(journal.trials.size(), 2U);
  for (const TrialRecord& trial : journal.trials) {
    EXPECT_EQ(trial.processes.at(0).start, StartProcess::fork);
  }
}

TEST_F(StartProcessRun, VariablesOfACellAreThoseOfItsProcess) {
  // The planted defect is there with the variable only, which is read as the library is loaded.
  expect_same_in_every_way({"--matrix", "fast-math", "--filter", "*/mm/*threads=2/*", "--backend",
                            "sim", "--profile", "fast-math", "--trials", trials("2")});
}

TEST_F(StartProcessRun, AWayThatCannotBeHadIsRefusedByName) {
  const std::string old =
      write("worker", "#!/bin/sh\nexec " + selftest_.substr(6) +
                          " \"$@\" | sed 's/\"fork\"/\"none\"/; s/\"standby\"/\"none\"/'\n");
  std::filesystem::permissions(old, std::filesystem::perms::owner_all);
  for (const char* start : {"standby", "fork"}) {
    const Run refused = mpsprobe({"run", "--cell", "cpu/selftest.pass/default", "--start-process",
                                  start, "--worker", "old=" + old, "--out", path("never")});
    EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(std::string("--start-process ") + start));
    EXPECT_THAT(refused.err, HasSubstr("worker old"));
  }
}

}  // namespace
}  // namespace mpsprobe

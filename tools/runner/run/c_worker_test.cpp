// A worker in C, of the library that other languages stand on.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CWorker : public ProgramTest {
 protected:
  json cells(std::vector<std::string> words, int expected_exit = 0) {
    std::filesystem::remove_all(path("out"));
    words.insert(words.begin(), {"run", "--worker", std::string("c=") + MPSPROBE_SUM_WORKER,
                                 "--trials", "2", "--out", path("out")});
    const Run run = mpsprobe(words);
    EXPECT_EQ(run.exit_code, expected_exit) << run.out << run.err;
    said_ = run.out + run.err;
    return json::parse(read("out/report.json"), nullptr, false);
  }
  std::string said_;
};

TEST_F(CWorker, RunsItsThreadsAsTheAxesSay) {
  const json report =
      cells({"--op", "sum", "--threads", "1,4", "--start", "barrier,sequential", "--init",
             "main,threads", "--churn", "1,3", "--processes", "2", "--lock", "none,forward"});
  EXPECT_EQ(report.at("failures"), 0) << said_;
  EXPECT_GT(report.at("counted"), 40);
}

// As somebody has it who has read the page and nothing else.
TEST_F(CWorker, TheSampleOfTheProtocolsPageRunsItsTrials) {
  std::ifstream page(std::string(MPSPROBE_SOURCE_DIR) + "/docs/protocol.md");
  const std::string all(std::istreambuf_iterator<char>(page), {});
  const size_t begin = all.find("```python\n") + 10;
  write("pyworker", all.substr(begin, all.find("```", begin) - begin));
  std::filesystem::permissions(path("pyworker"), std::filesystem::perms::owner_all);
  const Run run = mpsprobe({"run", "--worker", "mine=" + path("pyworker"), "--op", "sum",
                            "--iterations", "1,300", "--trials", "2", "--out", path("py")});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("4 of 4 trials run, 4 count, 0 failed"));
}

TEST_F(CWorker, WhatACallbackReturnsIsToldWithItsText) {
  cells({"--op", "late,wrong,sum", "--threads", "2"});
  const std::string failures = read("out/report.md");
  EXPECT_THAT(failures, HasSubstr("gpu_error: the device said no"));
  EXPECT_THAT(read("out/details.md"), HasSubstr("expected 1, got 2"));
  cells({"--op", "sum", "--shape", "8"}, 4);
  EXPECT_THAT(said_, HasSubstr("shape: sums have none"));
}

TEST_F(CWorker, WhatTheLibraryDoesNotAskForHarmsNothing) {
  const json report = cells({"--op", "careless", "--threads", "2"});
  EXPECT_EQ(report.at("cells").at(0).at("outcomes").at(0).at("outcome"), "exception") << said_;
}

struct Told {
  const char* op;
  const char* outcome;
};

class CWorkerStatus : public CWorker, public testing::WithParamInterface<Told> {};

TEST_P(CWorkerStatus, IsTheKindOfItsFailure) {
  const auto [op, outcome] = GetParam();
  const bool counts =
      std::string(outcome) != "unsupported" && std::string(outcome) != "setup_failed";
  const json report = cells({"--op", op, "--threads", "1"}, counts ? 0 : 4);
  ASSERT_EQ(report.at("trials").size(), 2) << said_;
  for (const json& trial : report.at("trials")) {
    EXPECT_EQ(trial.at("judgement").at("outcome"), outcome);
    EXPECT_EQ(trial.at("processes").at(0).at("failures").at(0).at("text"), "the device said no");
    EXPECT_EQ(trial.at("processes").at(0).at("failures").at(0).at("iteration"), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CWorkerStatus,
                         testing::Values(Told{"late", "gpu_error"}, Told{"raising", "exception"},
                                         Told{"seeing", "wrong_result"},
                                         Told{"full", "out_of_memory"},
                                         Told{"unable", "unsupported"},
                                         Told{"broken", "setup_failed"}),
                         [](const auto& info) { return std::string(info.param.op); });

struct Mistake {
  const char* name;
  const char* said;
};

class CWorkerMistake : public CWorker, public testing::WithParamInterface<Mistake> {};

// What worker.h says that the library refuses: each ends with exit code 3 and its reason.
TEST_P(CWorkerMistake, IsSaidBeforeAnythingRuns) {
  const auto [name, said] = GetParam();
  const Run run =
      shell(std::string("SUM_WORKER=") + name + " " + MPSPROBE_SUM_WORKER + " describe 2>&1");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, HasSubstr(said));
}

INSTANTIATE_TEST_SUITE_P(
    All, CWorkerMistake,
    testing::Values(Mistake{"nothing", "no worker is given"},
                    Mistake{"abi", "was built for version 99 of the interface"},
                    Mistake{"callbacks", "make_lane and launch are needed"},
                    Mistake{"describe", "describe: the worker's text is no JSON object"},
                    Mistake{"reason", "the library is not there"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(CWorker, WhatItsProgramCannotDoCountsAsNothing) {
  for (const auto& [mistake, said] :
       {Mistake{"provenance", "provenance: the worker's text is no JSON object"},
        Mistake{"threads", "thread 0 cannot be started: the language has no more threads"}}) {
    const Run run = shell(std::string("SUM_WORKER=") + mistake +
                          " $mpsprobe run --op sum --trials 1 --worker c=" + MPSPROBE_SUM_WORKER +
                          " --out " + mistake + " 2>&1");
    EXPECT_EQ(run.exit_code, 4) << run.out;
    EXPECT_THAT(read(std::string(mistake) + "/report.json"), HasSubstr(said));
  }
}

TEST_F(CWorker, WrongArgumentsAndMissingChannelsHaveExitCodesOfTheirOwn) {
  const std::string worker = MPSPROBE_SUM_WORKER;
  EXPECT_EQ(shell(worker).exit_code, 2);
  EXPECT_EQ(shell(worker + " run").exit_code, 2);
  EXPECT_EQ(shell(worker + " run --cell nonsense").exit_code, 2);
  const Run alone = shell(worker + " run --cell cpu/sum/default/threads=1 3>&- 4>&- 5>&- 2>&1");
  EXPECT_EQ(alone.exit_code, 3);
  EXPECT_THAT(alone.out, HasSubstr("A worker is started by the runner"));
}

TEST_F(CWorker, AnAxisThatNoCallbackServesIsRefused) {
  const Run run = mpsprobe({"run", "--worker", std::string("c=") + MPSPROBE_SUM_WORKER, "--op",
                            "sum", "--beside", "wait", "--out", path("out")});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("beside"));
}

}  // namespace
}  // namespace mpsprobe

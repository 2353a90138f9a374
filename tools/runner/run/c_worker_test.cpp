// A worker in C, of the library that other languages stand on.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture.h"

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
  const json report = cells({"--op", "sum", "--threads", "1,4", "--start", "barrier,sequential",
                             "--init", "main,threads", "--serve", "own,pool,queue", "--churn",
                             "1,3", "--processes", "2", "--lock", "none,forward"});
  EXPECT_EQ(report.at("failures"), 0) << said_;
  EXPECT_GT(report.at("counted"), 40);
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

TEST_F(CWorker, AnAxisThatNoCallbackServesIsRefused) {
  const Run run = mpsprobe({"run", "--worker", std::string("c=") + MPSPROBE_SUM_WORKER, "--op",
                            "sum", "--beside", "wait", "--out", path("out")});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("beside"));
}

}  // namespace
}  // namespace mpsprobe

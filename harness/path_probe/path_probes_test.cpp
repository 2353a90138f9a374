#include "harness/path_probe/path_probes.h"

#include <gmock/gmock.h>

#include <set>

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kProbedCell = "mps/linear/nograph/threads=4";
constexpr const char* kCellOfProbe =
    "mps/linear/nograph/threads=1/iterations=2/env.PYTORCH_MPS_LOG_PROFILE_INFO=1";

/// What ran, and what its process printed or came to.
class PathProbesTest : public testing::Test {
 protected:
  TrialRecord run(const std::string& cell, const WorkerInfo& worker) {
    TrialRequest request;
    request.worker = &worker;
    request.cell = parse_cell(cell);
    return probes_.run(request);
  }
  TrialRecord run(const std::string& cell) { return run(cell, stock_); }

  TrialRecord one(const TrialRequest& request) {
    ran_.push_back(to_string(request.cell));
    TrialRecord trial;
    trial.worker = request.worker->name;
    trial.cell = request.cell;
    trial.judgement.outcome = Outcome::pass;
    if (request.cell.env == "inherited") return trial;
    trial.judgement.outcome = probe_outcome_;
    trial.judgement.detail = probe_outcome_ == Outcome::signal ? "SIGSEGV" : "";
    trial.processes.emplace_back().err.head = log_;
    return trial;
  }

  const WorkerInfo stock_{"stock", "worker", {}};
  std::vector<TrialRecord> existing_;
  std::vector<std::string> ran_;
  std::string log_ = "aten::mps_linear:f32[1] (id=G1, run=1)\n";
  Outcome probe_outcome_ = Outcome::pass;
  PathProbes probes_{[this](const TrialRequest& request) { return one(request); }, existing_};
};

TEST_F(PathProbesTest, OneProcessAnswersForAllTrialsOfAPath) {
  const TrialRecord first = run(kProbedCell);
  const TrialRecord other = run("mps/linear/nograph/threads=8/sync=end/lock=forward");
  EXPECT_THAT(ran_, ElementsAre(kCellOfProbe, kProbedCell, testing::_));
  for (const TrialRecord& trial : {first, other}) {
    ASSERT_TRUE(trial.path_probe);
    EXPECT_EQ(trial.path_probe->cell, kCellOfProbe);
    EXPECT_EQ(trial.path_probe->path, "graph");
    EXPECT_EQ(trial.path_probe->why, "");
  }
}

TEST_F(PathProbesTest, WhatDecidesThePathIsAskedAnew) {
  for (const char* more :
       {"", "/shape=8x8x8", "/dtype=float16", "/stream=per-thread", "/env.A=1", "/profile=clean"}) {
    run(std::string(kProbedCell) + more);
  }
  run("mps/linear/graph/threads=4");
  run("mps/mlp/graph/threads=4");
  run(kProbedCell, WorkerInfo{"fork", "worker", {}});
  EXPECT_EQ(ran_.size(), 18U);
  // The fork's is the same cell as the stock's.
  EXPECT_EQ(std::set<std::string>(ran_.begin(), ran_.end()).size(), 16U);
}

TEST_F(PathProbesTest, NothingIsAskedWhereNoPathIsOrTheTrialTellsItself) {
  for (const char* cell :
       {"mps/linear/default/threads=4", "sim/linear/graph/threads=4", "cuda/mm/graph/threads=2"}) {
    EXPECT_FALSE(run(cell).path_probe);
  }
  EXPECT_EQ(ran_.size(), 3U);
}

TEST_F(PathProbesTest, AProbeThatFailsCostsItsAnswerAlone) {
  probe_outcome_ = Outcome::signal;
  for (int i = 0; i < 2; ++i) {
    const TrialRecord trial = run(kProbedCell);
    EXPECT_EQ(trial.judgement.outcome, Outcome::pass);
    ASSERT_TRUE(trial.path_probe);
    EXPECT_EQ(trial.path_probe->path, "not observed");
    EXPECT_THAT(trial.path_probe->why, HasSubstr("signal SIGSEGV"));
  }
  EXPECT_EQ(ran_.size(), 3U);
}

TEST_F(PathProbesTest, OneThatTheUserCutShortIsAskedAgain) {
  probe_outcome_ = Outcome::not_run;
  EXPECT_FALSE(run(kProbedCell).path_probe);
  probe_outcome_ = Outcome::pass;
  EXPECT_TRUE(run(kProbedCell).path_probe);
}

TEST_F(PathProbesTest, AResumedRunDoesNotAskAgain) {
  existing_.push_back(run(kProbedCell));
  ran_.clear();
  PathProbes resumed([this](const TrialRequest& request) { return one(request); }, existing_);
  TrialRequest request;
  request.worker = &stock_;
  request.cell = parse_cell(kProbedCell);
  EXPECT_EQ(resumed.run(request).path_probe->path, "graph");
  EXPECT_THAT(ran_, ElementsAre(kProbedCell));
}

}  // namespace
}  // namespace mpsprobe

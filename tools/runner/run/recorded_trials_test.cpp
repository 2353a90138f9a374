#include "tools/runner/run/recorded_trials.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/campaign/campaign.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RecordedTrialsTest : public testing::Test {
 protected:
  RecordedTrialsTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    header_.started = "2026-01-31T12:34:56.789Z";
    header_.workers.push_back(
        {"stock", "/nowhere/worker", {{"operations", {{{"name", "mm"}}, {{"name", "linear"}}}}}});
    header_.cells.push_back({parse_cell("sim/linear/default/threads=2"), "", std::nullopt});
    header_.trials = 1;
    header_.timeout_seconds = 300;
    header_.stall_seconds = 20;
    header_.machine = nlohmann::json::object();
  }
  ~RecordedTrialsTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file() const { return folder_ / "journal.ndjson"; }

  /// A trial that comes to `outcomes` in turn, and to the last one for ever.
  DeviceCare::RunTrial coming_to(const std::vector<Judgement>& judgements) {
    return [this, judgements](const TrialRequest& request) {
      TrialRecord trial;
      trial.worker = request.worker->name;
      trial.cell = request.cell;
      trial.trial = request.trial;
      trial.sequence = request.sequence;
      trial.before = request.before;
      trial.judgement = judgements[std::min(ran_.size(), judgements.size() - 1)];
      ran_.push_back(to_string(request.cell));
      return trial;
    };
  }
  DeviceCare caring(DeviceCare::RunTrial run) {
    return {std::move(run), KnownGoodPolicy::real_devices, interrupted_,
            std::chrono::milliseconds(1)};
  }
  Journal known(std::vector<TrialRecord> trials) {
    Journal journal;
    journal.header = header_;
    journal.trials = std::move(trials);
    return journal;
  }
  static Judgement judged(Outcome outcome, const std::string& signature = "",
                          bool bystander = false) {
    Judgement judgement;
    judgement.outcome = outcome;
    judgement.signature = signature;
    judgement.bystander = bystander;
    return judgement;
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("recorded_trials_test-" + std::to_string(getpid()));  // tests run beside one another
  CampaignHeader header_;
  std::atomic<bool> interrupted_ = false;
  std::vector<std::string> ran_;
  const Cell cell_ = parse_cell("sim/linear/default/threads=2");
  const Cell real_ = parse_cell("mps/linear/default/threads=2");
};

TEST_F(RecordedTrialsTest, WhatTheJournalHoldsIsNotRunAgain) {
  {
    JournalWriter journal(file(), header_);
    RecordedTrials trials(journal.existing(), journal,
                          caring(coming_to({judged(Outcome::signal, "crash")})), interrupted_);
    EXPECT_EQ(trials(cell_, 0)->signature, "crash");
    EXPECT_EQ(trials(cell_, 1)->signature, "crash");
  }
  ASSERT_EQ(ran_.size(), 2u);
  JournalWriter journal(file());
  RecordedTrials trials(journal.existing(), journal, caring(coming_to({judged(Outcome::pass)})),
                        interrupted_);
  EXPECT_EQ(trials(cell_, 0)->outcome, Outcome::signal);
  EXPECT_EQ(trials(cell_, 1)->signature, "crash");
  EXPECT_EQ(trials.replayed(), 2);
  EXPECT_EQ(ran_.size(), 2u);
  EXPECT_EQ(trials(cell_, 2)->outcome, Outcome::pass);
  EXPECT_EQ(ran_.size(), 3u);
  EXPECT_EQ(read_journal(file()).trials.back().sequence, 2u);
}

TEST_F(RecordedTrialsTest, ABystanderIsRunAgainAndItsLastAttemptCounts) {
  JournalWriter journal(file(), header_);
  RecordedTrials trials(
      journal.existing(), journal,
      caring(coming_to({judged(Outcome::gpu_error, "victim", true), judged(Outcome::pass)})),
      interrupted_);
  EXPECT_EQ(trials(cell_, 0)->outcome, Outcome::pass);
  const Journal written = read_journal(file());
  ASSERT_EQ(written.trials.size(), 2u);
  EXPECT_EQ(written.trials[1].attempt, 1);
}

TEST_F(RecordedTrialsTest, AResumedBystanderGoesOnWithItsNextAttempt) {
  TrialRecord first;
  first.cell = cell_;
  first.judgement = judged(Outcome::gpu_error, "victim", true);
  JournalWriter journal(file(), header_);
  const Journal already = known({first});
  RecordedTrials trials(already, journal,
                        caring(coming_to({judged(Outcome::gpu_error, "victim", true)})),
                        interrupted_);
  EXPECT_EQ(trials(cell_, 0)->outcome, Outcome::gpu_error);
  EXPECT_EQ(ran_.size(), static_cast<size_t>(kMostAttempts) - 1);
  EXPECT_FALSE(read_journal(file()).trials.back().judgement.bystander);
}

TEST_F(RecordedTrialsTest, AfterAFailureOnARealDeviceTheDeviceIsLookedAt) {
  JournalWriter journal(file(), header_);
  RecordedTrials trials(journal.existing(), journal,
                        caring(coming_to({judged(Outcome::signal, "crash"),
                                          judged(Outcome::signal, "x"), judged(Outcome::pass)})),
                        interrupted_);
  EXPECT_EQ(trials(real_, 0)->signature, "crash");
  EXPECT_THAT(
      ran_, ElementsAre("mps/linear/default/threads=2", HasSubstr("mps/mm"), HasSubstr("mps/mm")));
  EXPECT_EQ(trials.stop_reason(), "");
  EXPECT_EQ(read_journal(file()).trials.at(0).known_good->attempts, 2);
}

TEST_F(RecordedTrialsTest, ALostDeviceEndsItAfterTheTrialThatLostIt) {
  JournalWriter journal(file(), header_);
  RecordedTrials trials(journal.existing(), journal,
                        caring(coming_to({judged(Outcome::signal, "crash")})), interrupted_);
  EXPECT_TRUE(trials(real_, 0).has_value());
  EXPECT_FALSE(trials(real_, 1).has_value());
  EXPECT_EQ(trials.stop_reason(), "device_lost");
  EXPECT_THAT(trials.stop_note(), HasSubstr("3 times after mps/linear"));
}

TEST_F(RecordedTrialsTest, ATrialThatTheUserCutShortDidNotHappen) {
  JournalWriter journal(file(), header_);
  const auto run = coming_to({judged(Outcome::not_run)});
  RecordedTrials trials(journal.existing(), journal, caring([&](const TrialRequest& request) {
                          interrupted_ = true;
                          return run(request);
                        }),
                        interrupted_);
  EXPECT_FALSE(trials(cell_, 0).has_value());
  EXPECT_EQ(trials.stop_reason(), "interrupted");
  EXPECT_TRUE(read_journal(file()).trials.empty());
}

TEST_F(RecordedTrialsTest, TheBudgetEndsItButNotWhatIsRecorded) {
  header_.budget_seconds = 1e-9;
  TrialRecord first;
  first.cell = cell_;
  first.judgement = judged(Outcome::pass);
  JournalWriter journal(file(), header_);
  const Journal already = known({first});
  RecordedTrials trials(already, journal, caring(coming_to({judged(Outcome::pass)})), interrupted_);
  EXPECT_TRUE(trials(cell_, 0).has_value());
  EXPECT_FALSE(trials(cell_, 1).has_value());
  EXPECT_EQ(trials.stop_reason(), "budget");
}

}  // namespace
}  // namespace mpsprobe

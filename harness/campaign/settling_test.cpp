#include "harness/campaign/settling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <random>

#include "harness/campaign/campaign.h"
#include "harness/test_series.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;

constexpr double kRate = 0.05;
constexpr int kAttempts = series(10, 3);

std::vector<SeenCell> cells_named(const std::vector<std::string>& texts) {
  std::vector<SeenCell> cells;
  for (const std::string& text : texts) cells.push_back({"stock", parse_cell(text), {}, 0});
  return cells;
}

const auto kNobody = [](size_t) { return false; };

TEST(Settling, LooksAlongThreadsAndAlongProcesses) {
  const Settling settling(kRate,
                          cells_named({"cpu/mm/default/threads=4", "cpu/mm/default/threads=1",
                                       "cpu/mm/default/processes=2", "cpu/add/default"}));
  ASSERT_EQ(settling.lines().size(), 3U);
  EXPECT_THAT(settling.lines()[0].cells, ElementsAre(1, 0));
  EXPECT_EQ(settling.lines()[1].axis, "processes");
  EXPECT_THAT(settling.lines()[1].cells, ElementsAre(1, 2));
  EXPECT_THAT(settling.lines()[2].cells, ElementsAre(3));
}

TEST(Settling, WhatIsTriedNextDependsOnWhatWasSeenAndNotOnItsOrder) {
  std::vector<std::pair<size_t, bool>> seen;
  for (int i = 0; i < 10; ++i) {
    for (size_t cell = 0; cell < 3; ++cell) seen.emplace_back(cell, cell == 2 && i % 3 == 0);
  }
  std::mt19937 random(3);
  std::optional<size_t> first;
  for (int i = 0; i < 20; ++i) {
    std::shuffle(seen.begin(), seen.end(), random);
    Settling settling(kRate, cells_named({"cpu/mm/default/threads=1", "cpu/mm/default/threads=2",
                                          "cpu/mm/default/threads=3"}));
    for (const auto& [cell, fails] : seen) settling.add(cell, true, fails);
    const std::optional<size_t> next = settling.next(kNobody);
    ASSERT_TRUE(next.has_value());
    if (i == 0) first = next;
    EXPECT_EQ(next, first);
  }
  EXPECT_EQ(first, 1U);  // is it 3, which failed in 4 of 10, or 2 already?
}

TEST(Settling, TheLineThatWasAskedLeastComesNextAndABusyCellWaits) {
  Settling settling(kRate, cells_named({"cpu/mm/default", "cpu/add/default"}));
  for (int i = 0; i < kFloorTrials; ++i) {
    for (size_t cell : {0, 1}) settling.add(cell, true, false);
  }
  settling.add(0, true, false);
  EXPECT_EQ(settling.next(kNobody), 1U);
  EXPECT_EQ(settling.next([](size_t cell) { return cell == 1; }), 0U);
  EXPECT_EQ(settling.next([](size_t) { return true; }), 1U);
}

TEST(Settling, ACellThatSaysNothingIsNotAskedForEver) {
  Settling settling(kRate, cells_named({"cpu/mm/default"}));
  for (int i = 0; i < kFloorTrials; ++i) settling.add(0, false, false);
  EXPECT_EQ(settling.next(kNobody), std::nullopt);
  EXPECT_EQ(settling.next_to_sharpen(kNobody), std::nullopt);
  EXPECT_EQ(settling.lines()[0].state, LineState::given_up);
}

TEST(Settling, SaysHowManyTrialsAreMissingAtTheLeast) {
  Settling settling(kRate, cells_named({"cpu/mm/default"}));
  for (int i = 0; i < kFloorTrials; ++i) settling.add(0, true, false);
  ASSERT_EQ(settling.lines()[0].state, LineState::open);
  const int further = settling.lines()[0].further;
  int needed = 0;
  for (; settling.next(kNobody); ++needed) settling.add(0, true, false);
  EXPECT_GT(needed, 0);
  EXPECT_GE(further, needed);
}

// Campaigns over planted rates: each trial's result is drawn from its cell and number, so that a
// trial that is run again gives the same.
class SettlingCampaign : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/mpsprobe-settling-XXXXXX";
    folder_ = mkdtemp(pattern);
    header_.trials = kFloorTrials;
    header_.settle_rate = kRate;
    header_.workers = {{"stock", "/bin/worker", {}}};
    for (int threads = 1; threads <= 5; ++threads) {
      for (const char* op : {"certain", "seldom", "never"}) {
        PlannedCell planned;
        planned.cell.backend = Backend::cpu;
        planned.cell.op = op;
        planned.cell.threads = threads;
        header_.cells.push_back(planned);
      }
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static double planted(const Cell& cell) {
    if (cell.op == "certain") return cell.threads >= 3 ? 1 : 0;
    if (cell.op == "seldom") return cell.threads >= 4 ? 0.2 : 0;
    return 0;
  }

  static TrialRecord result(const TrialRequest& request) {
    TrialRecord trial;
    trial.worker = request.worker->name;
    trial.cell = request.cell;
    trial.trial = request.trial;
    trial.sequence = request.sequence;
    std::seed_seq seed{static_cast<int>(request.cell.op.size()), request.cell.threads,
                       request.trial};
    std::mt19937 random(seed);
    const bool fails = static_cast<double>(random()) < planted(request.cell) * 0x1p32;
    trial.judgement.outcome = fails ? Outcome::signal : Outcome::pass;
    return trial;
  }

  /// Runs on in the journal, at most `most` trials.
  CampaignEnd run(size_t most) {
    std::atomic<bool> interrupted{false};
    size_t done = 0;
    JournalWriter journal =
        std::filesystem::exists(file()) ? JournalWriter(file()) : JournalWriter(file(), header_);
    Journal known = journal.existing();
    known.header.budget_seconds = header_.budget_seconds;
    return run_campaign(
        known, journal, DeviceCare(result, KnownGoodPolicy::never, interrupted),
        [&](const TrialRecord&, const Progress&) { interrupted = ++done >= most; }, interrupted);
  }

  std::filesystem::path file() const { return folder_ / "journal.ndjson"; }

  std::vector<std::string> recorded() const {
    std::vector<std::string> trials;
    for (const TrialRecord& trial : read_journal(file()).trials) {
      trials.push_back(to_string(trial.cell) + " " + std::to_string(trial.trial));
    }
    return trials;
  }

  std::filesystem::path folder_;
  CampaignHeader header_;
};

TEST_F(SettlingCampaign, SpendsTrialsBesideBoundariesAndFindsThem) {
  EXPECT_EQ(run(100'000).reason, "complete");
  std::map<std::string, Proportion> seen;
  for (const TrialRecord& trial : read_journal(file()).trials) {
    Proportion& cell = seen[to_string(trial.cell)];
    ++cell.trials;
    cell.failures += trial.judgement.outcome == Outcome::pass ? 0 : 1;
  }
  for (const char* op : {"certain", "seldom", "never"}) {
    std::vector<Proportion> points;
    for (int threads = 1; threads <= 5; ++threads) {
      points.push_back(
          seen.at("cpu/" + std::string(op) + "/default/threads=" + std::to_string(threads)));
      EXPECT_GE(points.back().trials, kFloorTrials);
    }
    const PlaceOfBoundary place = place_of_boundary(settling_question(kRate), points);
    EXPECT_TRUE(place.settled(settling_question(kRate)));
    EXPECT_EQ(place.first_failing, op[0] == 'c' ? 2U : op[0] == 's' ? 3U : 5U) << op;
  }
  EXPECT_EQ(seen.at("cpu/certain/default/threads=1").trials, kFloorTrials);
  EXPECT_GT(seen.at("cpu/certain/default/threads=2").trials, kFloorTrials);
}

TEST_F(SettlingCampaign, EndedAndResumedAnywhereItGoesOnAsItWouldHave) {
  run(100'000);
  const std::vector<std::string> whole = recorded();
  std::mt19937 random(7);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::filesystem::remove(file());
    run(1 + random() % whole.size());
    run(1 + random() % whole.size());
    run(100'000);
    ASSERT_EQ(recorded(), whole);
  }
}

TEST_F(SettlingCampaign, SeveralJobsComeToTheSamePlaces) {
  header_.jobs = 4;
  EXPECT_EQ(run(100'000).reason, "complete");
  std::vector<std::string> trials = recorded();
  std::sort(trials.begin(), trials.end());
  EXPECT_EQ(std::adjacent_find(trials.begin(), trials.end()), trials.end()) << "run twice";
  std::vector<SeenCell> cells;
  std::map<std::string, size_t> index;
  for (const PlannedCell planned : header_.cells) {
    index[to_string(planned.cell)] = cells.size();
    cells.push_back({"stock", planned.cell, {}, 0});
  }
  Settling settling(kRate, cells);
  for (const TrialRecord& trial : read_journal(file()).trials) {
    settling.add(index.at(to_string(trial.cell)), true, trial.judgement.outcome != Outcome::pass);
  }
  for (const SettlingLine& line : settling.lines()) EXPECT_EQ(line.state, LineState::settled);
}

TEST_F(SettlingCampaign, ABudgetThatIsLeftIsSpentBesideBoundariesAndTheRunIsComplete) {
  run(100'000);
  const size_t settled = recorded().size();
  header_.budget_seconds = 3600;
  EXPECT_EQ(run(100).reason, "interrupted");
  EXPECT_EQ(recorded().size(), settled + 100);
  std::map<std::string, int> spent;
  for (const std::string& trial : recorded()) ++spent[trial.substr(0, trial.find(' '))];
  EXPECT_EQ(spent.at("cpu/certain/default/threads=1"), kFloorTrials);
  header_.budget_seconds = 1e-9;
  const CampaignEnd end = run(1);
  EXPECT_EQ(end.reason, "complete");
  EXPECT_EQ(end.note, "every boundary was settled");
}

}  // namespace
}  // namespace mpsprobe

#include "harness/campaign/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "harness/campaign/following.h"
#include "harness/campaign/schedule.h"
#include "harness/campaign/trial_seed.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

std::vector<Slot> whole_schedule(size_t units, size_t trials, uint64_t seed) {
  Schedule schedule(units, trials, seed);
  std::vector<Slot> slots;
  while (const std::optional<Slot> slot = schedule.next()) slots.push_back(*slot);
  EXPECT_EQ(slots.size(), schedule.size());
  return slots;
}

TEST(Schedule, EachRoundHoldsEveryUnitOnce) {
  const std::vector<Slot> schedule = whole_schedule(7, 3, 42);
  ASSERT_EQ(schedule.size(), 21U);
  for (size_t round = 0; round < 3; ++round) {
    std::set<uint32_t> units;
    for (size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(schedule[round * 7 + i].trial, round);
      units.insert(schedule[round * 7 + i].unit);
    }
    EXPECT_EQ(units.size(), 7U);
  }
}

TEST(Schedule, TheSeedDecidesTheOrderOnEverySystem) {
  std::vector<uint32_t> order;
  for (const Slot& slot : whole_schedule(6, 1, 1)) order.push_back(slot.unit);
  std::vector<uint32_t> again;
  for (const Slot& slot : whole_schedule(6, 1, 1)) again.push_back(slot.unit);
  EXPECT_EQ(order, again);
  std::vector<uint32_t> other;
  for (const Slot& slot : whole_schedule(6, 1, 2)) other.push_back(slot.unit);
  EXPECT_NE(order, other);
}

class CampaignTest : public testing::Test {
 protected:
  void keep_cells(size_t count) {
    PlannedCells kept;
    for (size_t i = 0; i < count; ++i) kept.push_back(header_.cells[i]);
    header_.cells = std::move(kept);
  }

  void SetUp() override {
    char pattern[] = "/tmp/mpsprobe-campaign-XXXXXX";
    folder_ = mkdtemp(pattern);
    header_.trials = 3;
    header_.seed = 5;
    header_.workers = {{"stock", "/bin/worker", {{"operations", {{{"name", "mm"}}}}}}};
    for (int threads = 1; threads <= 4; ++threads) {
      PlannedCell planned;
      planned.cell.backend = Backend::mps;
      planned.cell.op = "linear";
      planned.cell.threads = threads;
      header_.cells.push_back(planned);
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  TrialRecord make(const TrialRequest& request, Outcome outcome) {
    TrialRecord trial;
    trial.worker = request.worker->name;
    trial.cell = request.cell;
    trial.trial = request.trial;
    trial.sequence = request.sequence;
    trial.before = request.before;
    trial.judgement.outcome = outcome;
    return trial;
  }

  CampaignEnd run(const DeviceCare::RunTrial& run_trial,
                  const std::vector<TrialRecord>& existing = {},
                  KnownGoodPolicy policy = KnownGoodPolicy::real_devices) {
    const fs::path file = folder_ / "journal.ndjson";
    fs::remove(file);
    JournalWriter journal(file, header_);
    Journal known;
    known.header = header_;
    known.trials = existing;
    return run_campaign(
        known, journal, DeviceCare(run_trial, policy, interrupted_, std::chrono::milliseconds(1)),
        [this](const TrialRecord&, const Progress& progress) { progress_ = progress; },
        interrupted_);
  }
  std::vector<TrialRecord> stored() { return read_journal(folder_ / "journal.ndjson").trials; }

  fs::path folder_;
  CampaignHeader header_;
  Progress progress_;
  std::atomic<bool> interrupted_{false};
};

TEST_F(CampaignTest, RunsEveryTrialOnceAndSaysSo) {
  const CampaignEnd end =
      run([this](const TrialRequest& request) { return make(request, Outcome::pass); });
  EXPECT_EQ(end.reason, "complete");
  std::set<std::pair<std::string, int>> seen;
  for (const TrialRecord& trial : stored()) {
    EXPECT_TRUE(seen.insert({to_string(trial.cell), trial.trial}).second);
  }
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_EQ(progress_.done, 12U);
}

TEST_F(CampaignTest, EachTrialKnowsWhichCellRanBeforeIt) {
  run([this](const TrialRequest& request) { return make(request, Outcome::pass); });
  const std::vector<TrialRecord> trials = stored();
  EXPECT_EQ(trials[0].before, "");
  for (size_t i = 1; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].before, to_string(trials[i - 1].cell));
  }
}

TEST_F(CampaignTest, EachTrialKnowsWhichComesNext) {
  std::vector<TrialRequest> requests;
  run([&](const TrialRequest& request) {
    requests.push_back(request);
    return make(request, Outcome::pass);
  });
  ASSERT_EQ(requests.size(), 12U);
  for (size_t i = 0; i + 1 < requests.size(); ++i) {
    ASSERT_TRUE(requests[i].following.has_value());
    EXPECT_EQ(requests[i].following->cell, requests[i + 1].cell);
    EXPECT_EQ(requests[i].following->worker, requests[i + 1].worker);
  }
  EXPECT_FALSE(requests.back().following.has_value());
}

TEST_F(CampaignTest, WhatIsDoneIsNotRunAgain) {
  std::vector<TrialRecord> all;
  run([&](const TrialRequest& request) {
    all.push_back(make(request, Outcome::pass));
    return all.back();
  });
  const std::vector<TrialRecord> first(all.begin(), all.begin() + 5);
  std::vector<TrialRecord> rest;
  run(
      [&](const TrialRequest& request) {
        rest.push_back(make(request, Outcome::pass));
        return rest.back();
      },
      first);
  ASSERT_EQ(rest.size(), 7U);
  for (size_t i = 0; i < rest.size(); ++i) {
    EXPECT_EQ(rest[i].cell, all[5 + i].cell);
    EXPECT_EQ(rest[i].trial, all[5 + i].trial);
  }
}

TEST_F(CampaignTest, AKnownGoodCellRunsAfterAFailureOnARealDevice) {
  std::vector<std::string> ran;
  run([&](const TrialRequest& request) {
    ran.push_back(to_string(request.cell));
    return make(request, request.cell.threads == 3 ? Outcome::signal : Outcome::pass);
  });
  EXPECT_EQ(std::count(ran.begin(), ran.end(), "mps/mm/default/threads=1/iterations=1"), 3);
  for (const TrialRecord& trial : stored()) {
    EXPECT_EQ(trial.known_good.has_value(), trial.cell.threads == 3);
    if (trial.known_good) {
      EXPECT_EQ(trial.known_good->outcome, Outcome::pass);
    }
  }
}

TEST_F(CampaignTest, ALibraryThatChoosesItsDeviceIsCaredForWhereItChoseAGpu) {
  header_.cells = {};
  for (const DeviceUse device : {DeviceUse::automatic, DeviceUse::cpu}) {
    PlannedCell planned;
    planned.cell.backend = Backend::mlx;
    planned.cell.op = "linear";
    planned.cell.device = device;
    header_.cells.push_back(planned);
  }
  const auto cared_for = [&](const char* device) {
    header_.workers[0].describe["backends"] = {{{"name", "mlx"}, {"device", device}}};
    std::set<std::string> cells;
    run([&](const TrialRequest& request) {
      return make(request, request.cell.op == "mm" ? Outcome::pass : Outcome::signal);
    });
    for (const TrialRecord& trial : stored()) {
      if (trial.known_good) cells.insert(to_string(trial.cell));
    }
    return cells;
  };
  EXPECT_EQ(cared_for("NVIDIA H100 80GB HBM3 (CUDA)"),
            std::set<std::string>{"mlx/linear/default/threads=1"});
#ifndef __APPLE__
  EXPECT_EQ(cared_for("CPU"), std::set<std::string>{});
#endif
}

TEST_F(CampaignTest, ALostDeviceEndsTheRunInsteadOfBlamingTheNextCells) {
  int failures = 0;
  const CampaignEnd end = run([&](const TrialRequest& request) {
    const bool sick = failures > 0;
    if (!sick) ++failures;
    return make(request, Outcome::gpu_error);
  });
  EXPECT_EQ(end.reason, "device_lost");
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(stored()[0].known_good->attempts, 3);
}

TEST_F(CampaignTest, TheFailureIsInTheJournalBeforeTheDeviceIsLookedAt) {
  size_t stored_before_check = 0;
  run([&](const TrialRequest& request) {
    if (request.cell.op == "mm") stored_before_check = stored().size();
    return make(request, request.cell.op == "mm" ? Outcome::pass : Outcome::signal);
  });
  EXPECT_EQ(stored_before_check, 12U);
}

TEST_F(CampaignTest, AKnownGoodCellThatCannotRunSaysNothingOfTheDevice) {
  const CampaignEnd end = run([this](const TrialRequest& request) {
    return make(request, request.cell.op == "mm" ? Outcome::unsupported : Outcome::signal);
  });
  EXPECT_EQ(end.reason, "complete");
  header_.workers[0].describe = {{"known_good", 17}};
  EXPECT_EQ(
      run([this](const TrialRequest& request) { return make(request, Outcome::signal); }).reason,
      "complete");
}

TEST_F(CampaignTest, AnInterruptKeepsWhatIsDoneAndDropsWhatWasCutShort) {
  int ran = 0;
  const CampaignEnd end = run([&](const TrialRequest& request) {
    if (++ran == 4) {
      interrupted_.store(true);
      return make(request, Outcome::not_run);
    }
    return make(request, Outcome::pass);
  });
  EXPECT_EQ(end.reason, "interrupted");
  EXPECT_EQ(stored().size(), 3U);
}

TEST_F(CampaignTest, TheBudgetEndsTheRun) {
  header_.budget_seconds = 1e-9;
  const CampaignEnd end =
      run([this](const TrialRequest& request) { return make(request, Outcome::pass); });
  EXPECT_EQ(end.reason, "budget");
  EXPECT_TRUE(stored().empty());
}

TEST_F(CampaignTest, ABystanderRunsAgainAndEveryAttemptIsKept) {
  std::map<std::pair<std::string, int>, int> calls;
  run([&](const TrialRequest& request) {
    const int call = ++calls[{to_string(request.cell), request.trial}];
    TrialRecord trial = make(request, Outcome::pass);
    if (request.cell.threads == 2 && call == 1) {
      trial.judgement.outcome = Outcome::infrastructure;
      trial.judgement.bystander = true;
    }
    return trial;
  });
  const std::vector<TrialRecord> trials = stored();
  EXPECT_EQ(trials.size(), 12U + 3U);
  for (size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].attempt > 0, i > 0 && trials[i - 1].judgement.bystander);
    EXPECT_EQ(trials[i].judgement.bystander, trials[i].cell.threads == 2 && trials[i].attempt == 0);
    if (trials[i].attempt > 0) {
      EXPECT_EQ(trials[i].trial, trials[i - 1].trial);
      EXPECT_EQ(trials[i].before, to_string(trials[i].cell));
    }
  }
  EXPECT_EQ(progress_.done, 12U);
  EXPECT_EQ(progress_.done_now, 12U);
}

TEST_F(CampaignTest, AVictimThatIsOneAloneAsWellIsAFailureWithoutAKnownCulprit) {
  keep_cells(1);
  header_.trials = 1;
  int looked_after = 0;
  const CampaignEnd end = run([&](const TrialRequest& request) {
    if (request.cell.op == "mm") {
      ++looked_after;
      return make(request, Outcome::pass);
    }
    TrialRecord trial = make(request, Outcome::infrastructure);
    trial.judgement.bystander = true;
    return trial;
  });
  EXPECT_EQ(end.reason, "complete");
  const std::vector<TrialRecord> trials = stored();
  ASSERT_EQ(trials.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trials[static_cast<size_t>(i)].attempt, i);
  EXPECT_TRUE(trials[0].judgement.bystander);
  EXPECT_TRUE(trials[1].judgement.bystander);
  const Judgement& last = trials[2].judgement;
  EXPECT_FALSE(last.bystander);
  EXPECT_EQ(last.outcome, Outcome::gpu_error);
  EXPECT_EQ(last.basis, Basis::place);
  EXPECT_THAT(last.signature, testing::HasSubstr("also when it ran alone (culprit not known)"));
  ASSERT_EQ(last.also.size(), 1U);
  EXPECT_EQ(last.also[0].title, "command buffer: Innocent Victim of a GPU error");
  EXPECT_EQ(looked_after, 1);
  EXPECT_TRUE(trials[2].known_good.has_value());
  EXPECT_EQ(progress_.done, 1U);
  EXPECT_EQ(progress_.failures, 1U);
}

TEST_F(CampaignTest, ABystanderThatRunsAgainHasTheDeviceForItself) {
  header_.jobs = 4;
  header_.trials = 50;
  std::mutex mutex;
  std::map<std::pair<std::string, int>, int> calls;
  std::atomic<int> running{0};
  std::atomic<int> company{0};
  std::atomic<int> alone{0};
  run([&](const TrialRequest& request) {
    ++running;
    TrialRecord trial = make(request, Outcome::pass);
    int call = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      call = ++calls[{to_string(request.cell), request.trial}];
    }
    if (call > 1) ++alone;
    for (int look = 0; look < 50; ++look) {
      if (call > 1 && running.load() != 1) ++company;
      std::this_thread::yield();
    }
    trial.judgement.bystander = call == 1 && request.trial % 5 == 0;
    --running;
    return trial;
  });
  EXPECT_EQ(alone.load(), 40);
  EXPECT_EQ(company.load(), 0);
  EXPECT_EQ(stored().size(), 240U);
}

TEST_F(CampaignTest, AResumedRunGoesOnWithABystandersAttempts) {
  keep_cells(2);
  header_.trials = 1;
  TrialRequest request{&header_.workers[0], header_.cells[0].cell};
  TrialRecord once = make(request, Outcome::infrastructure);
  once.judgement.bystander = true;
  request.cell = header_.cells[1].cell;
  TrialRecord given_up = make(request, Outcome::infrastructure);
  given_up.judgement.bystander = true;
  given_up.attempt = kMostAttempts - 1;
  const auto pass = [this](const TrialRequest& wanted) { return make(wanted, Outcome::pass); };
  run(pass, {once, given_up});
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(stored()[0].cell, header_.cells[0].cell);
  EXPECT_EQ(stored()[0].attempt, 1);
  EXPECT_EQ(progress_.done, 2U);
}

TEST_F(CampaignTest, AResumedRunTriesAgainWhatTheMachineCouldNotDo) {
  keep_cells(2);
  header_.trials = 1;
  TrialRequest request{&header_.workers[0], header_.cells[0].cell};
  const TrialRecord no_descriptors = make(request, Outcome::infrastructure);
  request.cell = header_.cells[1].cell;
  const TrialRecord no_library = make(request, Outcome::setup_failed);
  const auto pass = [this](const TrialRequest& wanted) { return make(wanted, Outcome::pass); };
  run(pass, {no_descriptors, no_library});
  ASSERT_EQ(stored().size(), 2U);
  for (const TrialRecord& trial : stored()) {
    EXPECT_EQ(trial.attempt, 1);
    EXPECT_EQ(trial.judgement.outcome, Outcome::pass);
  }
  EXPECT_EQ(progress_.done, 2U);
}

TEST_F(CampaignTest, AnArmThatFailsInSetUpForOneReasonIsGivenUpAndNamed) {
  header_.trials = 50;
  header_.workers.push_back({"fork", "/bin/fork", header_.workers[0].describe});
  const auto run_trial = [this](const TrialRequest& request) {
    const bool broken = request.worker->name == "fork";
    TrialRecord trial = make(request, broken ? Outcome::setup_failed : Outcome::pass);
    if (broken) trial.judgement.signature = "library not found: libtorch_cpu.so";
    return trial;
  };
  const CampaignEnd end = run(run_trial);
  EXPECT_EQ(end.reason, "setup_failed");
  EXPECT_THAT(end.note, testing::HasSubstr("worker fork on mps was given up: 3 trials in a row "
                                           "failed in set-up: library not found: libtorch_cpu.so"));
  const std::vector<TrialRecord> trials = stored();
  EXPECT_EQ(trials.size(), 200U + 3U);
  // Who goes on with it may have mended it.
  run(run_trial, trials);
  EXPECT_EQ(stored().size(), 3U);
}

TEST_F(CampaignTest, WhatOneTestCannotSetUpGivesUpNoOther) {
  header_.environment = {"MPSPROBE_PYTEST=tests"};
  PlannedCell fine = header_.cells[0];
  fine.cell.op = "fine";
  header_.cells.push_back(fine);
  for (header_.seed = 1; header_.seed <= 10; ++header_.seed) {  // another order each
    const CampaignEnd end = run([this](const TrialRequest& request) {
      const bool broken = request.cell.op != "fine";
      TrialRecord trial = make(request, broken ? Outcome::setup_failed : Outcome::pass);
      if (broken) trial.judgement.signature = "no such fixture";
      return trial;
    });
    EXPECT_THAT(end.note, testing::HasSubstr("test linear of worker stock on mps was given up: 3"));
    EXPECT_EQ(stored().size(), 3U + 3U);
  }
}

// What a settling still asks for of an arm that was given up is not run either, and nothing waits
// for it.
TEST_F(CampaignTest, ASettlingEndsWhereAnArmWasGivenUp) {
  header_.trials = 10;
  header_.settle_rate = 0.05;
  const CampaignEnd end = run([&](const TrialRequest& request) {
    TrialRecord trial = make(request, Outcome::setup_failed);
    trial.judgement.detail = "no device";
    return trial;
  });
  EXPECT_EQ(end.reason, "setup_failed");
}

TEST_F(CampaignTest, WhatIsToFollowAFailureRunsOnlyWhereThereIsOne) {
  for (size_t i = 0; i < 4; ++i) {
    PlannedCell planned = header_.cells[i];
    planned.cell.lock = Lock::forward;
    planned.block = "if that fails";
    header_.cells.push_back(planned);
  }
  header_.follow = {"if that fails"};
  const auto with_a_lock = [this] {
    const std::vector<TrialRecord> trials = stored();
    return std::count_if(trials.begin(), trials.end(),
                         [](const TrialRecord& trial) { return trial.cell.lock == Lock::forward; });
  };
  CampaignEnd end = run([&](const TrialRequest& request) { return make(request, Outcome::pass); });
  EXPECT_EQ(end.reason, "complete");
  EXPECT_EQ(with_a_lock(), 0);
  end = run([&](const TrialRequest& request) {
    const bool fails = request.cell.threads == 4 && request.cell.lock == Lock::none;
    return make(request, fails ? Outcome::exception : Outcome::pass);
  });
  EXPECT_EQ(end.reason, "complete");
  EXPECT_EQ(with_a_lock(), 4 * kMostFollowed);
}

TEST_F(CampaignTest, AnArmThatIsSetUpNowAndThenIsNotGivenUp) {
  int number = 0;
  const CampaignEnd end = run([&](const TrialRequest& request) {
    TrialRecord trial = make(request, ++number % 4 == 1 ? Outcome::pass : Outcome::setup_failed);
    trial.judgement.signature = "its port is taken";
    return trial;
  });
  EXPECT_EQ(end.reason, "complete");
  EXPECT_EQ(stored().size(), 12U);
}

TEST_F(CampaignTest, AnArmThatIsChangedWhileItRunsIsGivenUp) {
  header_.trials = 50;
  int number = 0;
  const CampaignEnd end = run([&](const TrialRequest& request) {
    TrialRecord trial = make(request, ++number <= 20 ? Outcome::pass : Outcome::setup_failed);
    trial.judgement.signature = "app.py was changed";
    return trial;
  });
  EXPECT_EQ(end.reason, "setup_failed");
  EXPECT_EQ(stored().size(), 20U + 10U);
}

TEST_F(CampaignTest, EachTrialHasItsOwnSeedTheSameInAllCells) {
  std::map<int, std::set<uint64_t>> seeds;  // by the trial's number
  run([&](const TrialRequest& request) {
    seeds[request.trial].insert(request.seed);
    return make(request, Outcome::pass);
  });
  ASSERT_EQ(seeds.size(), 3U);
  std::set<uint64_t> all;
  for (const auto& [trial, of_cells] : seeds) {
    EXPECT_EQ(of_cells.size(), 1U);
    all.insert(*of_cells.begin());
  }
  EXPECT_EQ(all.size(), 3U);
  // What runs one trial again with its seed runs it as its trial 0.
  EXPECT_EQ(*seeds[0].begin(), header_.seed);
  EXPECT_EQ(trial_seed(trial_seed(header_.seed, 2), 0), *seeds[2].begin());
}

// Cells that are set up in another way may run.
TEST_F(CampaignTest, WhatIsSetUpOtherwiseIsNotGivenUpWithIt) {
  for (int threads = 1; threads <= 4; ++threads) {
    PlannedCell planned = header_.cells[static_cast<size_t>(threads) - 1];
    planned.cell.validation = Validation::api;
    header_.cells.push_back(planned);
  }
  const CampaignEnd end = run([&](const TrialRequest& request) {
    const bool validated = request.cell.validation == Validation::api;
    TrialRecord trial = make(request, validated ? Outcome::setup_failed : Outcome::pass);
    trial.judgement.signature = "no validation layer";
    return trial;
  });
  EXPECT_THAT(end.note, testing::HasSubstr("on mps with validation=api was given up"));
  EXPECT_EQ(stored().size(), 12U + 3U);
}

TEST_F(CampaignTest, SeveralJobsRunEveryTrialOnce) {
  header_.jobs = 4;
  header_.trials = 50;
  run([this](const TrialRequest& request) { return make(request, Outcome::pass); });
  std::set<std::pair<std::string, int>> seen;
  for (const TrialRecord& trial : stored()) seen.insert({to_string(trial.cell), trial.trial});
  EXPECT_EQ(seen.size(), 200U);
  EXPECT_EQ(stored().size(), 200U);
}

}  // namespace
}  // namespace mpsprobe

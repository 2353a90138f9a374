// What may be concluded from which counts: the rule that turns "it passes now" into "none seen", or
// does not.
#include "reproducers/reverify/verdict.h"

#include <gmock/gmock.h>

#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kCell = "sim/linear/nograph/threads=3";
constexpr const char* kControl = "sim/linear/nograph/threads=2";
constexpr const char* kTooFew = "on each side of a new run would tell";

class VerdictTest : public testing::Test {
 public:
  VerdictTest() {
    record_.signature = SampleJournal::segfault().signature;
    record_.simulated = true;
  }

  BuildIdentity build(const std::string& name) const {
    const auto& torch = sample_.journal.provenances.at(name).at("torch");
    return {torch.at("version"), torch.at("git_hash"), torch.at("build_id")};
  }

  /// What the bundle says of a cell: of the build that `ran` calls old, where it names none.
  BundleCell& had(const std::string& cell, int failures, int trials,
                  const BuildIdentity& of = {"2.9.1a0", "ffee00112233", "bb22"}) {
    BundleCell entry;
    entry.cell = parse_cell(cell);
    entry.worker = "stock";
    entry.build = of;
    entry.failures = failures;
    entry.trials = trials;
    entry.devices = {"simulated Metal device"};
    record_.cells.push_back(entry);
    return record_.cells.back();
  }
  BundleCell& control() {
    BundleCell& entry = had(kControl, 0, 20);
    entry.control = true;
    return entry;
  }
  VerdictTest& plan(const std::string& cell) {
    sample_.plan(cell);
    return *this;
  }
  VerdictTest& old_arm(int trials, int failures, const Judgement& how = SampleJournal::segfault()) {
    sample_.provenance = "build-b";
    sample_.ran(trials, failures, how, "old");
    return *this;
  }
  VerdictTest& new_arm(int trials, int failures, const Judgement& how = SampleJournal::segfault()) {
    sample_.provenance = "build-a";
    sample_.ran(trials, failures, how, "stock");
    return *this;
  }

  BundleVerdict verdict() const {
    return verdict_of(record_, analyse(sample_.journal), [](auto&, auto&) { return false; });
  }
  std::string words() const { return in_words(verdict(), record_, analyse(sample_.journal)); }

  SampleJournal sample_;
  BundleRecord record_;
};

TEST_F(VerdictTest, TheSameBuildThatFailsAgainStillFails) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 20);
  EXPECT_EQ(words(), "SIMULATED: still fails");
  EXPECT_FALSE(verdict().cells.at(0).new_arm.has_value());
}

TEST_F(VerdictTest, NoneSeenNeedsAnOldArmThatFailedInTheSameRun) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 20).new_arm(20, 0);
  EXPECT_EQ(words(), "SIMULATED: none seen (below 17%), and the old build failed again");
  EXPECT_EQ(verdict().cells.at(0).old_arm->same.failures, 20);
}

TEST_F(VerdictTest, WithoutTheOldArmNothingIsToldHoweverClearTheNumbers) {
  had(kCell, 50, 50);
  plan(kCell).new_arm(1000, 0);
  EXPECT_EQ(words(), "SIMULATED: inconclusive: the old arm was not run again");
}

TEST_F(VerdictTest, TheBundlesOwnBuildCannotBeItsOwnFix) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 0);
  EXPECT_EQ(words(),
            "SIMULATED: inconclusive: it is the bundle's own build that does not fail now");
}

TEST_F(VerdictTest, OneInFiftyBeforeAndNoneInTwentyAfterTakesMoreTrials) {
  had(kCell, 1, 50);
  plan(kCell).new_arm(20, 0);
  EXPECT_EQ(verdict().finding, RecheckFinding::inconclusive);
  EXPECT_THAT(verdict().reasons.at(0), HasSubstr(kTooFew));
  // 462 by the definition; the approximation asks for more where nothing fails on a side.
  EXPECT_THAT(verdict().trials_needed.value(), testing::AllOf(testing::Ge(462), testing::Le(700)));
}

TEST_F(VerdictTest, TheRateOfTheOldArmInThisRunCountsForWhatIsNeeded) {
  // Before 1 in 50, but this machine shows it in every second trial.
  had(kCell, 1, 50);
  plan(kCell).old_arm(6, 3).new_arm(6, 0);
  EXPECT_THAT(verdict().reasons, ElementsAre(HasSubstr(kTooFew)));
  EXPECT_LT(verdict().trials_needed.value(), 30);
}

TEST_F(VerdictTest, TheNewBuildThatFailsAsWellIsNotFixedEvenIfItFailsLessOften) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 20).new_arm(20, 1);
  EXPECT_EQ(verdict().finding, RecheckFinding::still_fails);
}

TEST_F(VerdictTest, AnotherSignatureIsSaid) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 20).new_arm(20, 2, SampleJournal::hang());
  EXPECT_EQ(words(), "SIMULATED: fails otherwise: " + SampleJournal::hang().signature);
  sample_.last().judgement = SampleJournal::segfault();  // where both come, the old one counts
  EXPECT_EQ(verdict().finding, RecheckFinding::still_fails);
}

TEST_F(VerdictTest, AnOldArmThatDoesNotFailAsBeforeShowsNothing) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 0).new_arm(20, 0);
  EXPECT_THAT(verdict().reasons, ElementsAre("the old arm did not fail in this run"));
  sample_ = SampleJournal();
  plan(kCell).old_arm(20, 20, SampleJournal::hang()).new_arm(20, 0);
  EXPECT_THAT(verdict().reasons, ElementsAre("the old arm failed in another way (" +
                                             SampleJournal::hang().signature + ")"));
}

// The run's comparison is of all failures, and those of another kind would carry this one.
TEST_F(VerdictTest, FailuresOfAnotherKindInTheOldArmDoNotMakeAFix) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 20, SampleJournal::hang());
  sample_.last().judgement = SampleJournal::segfault();
  new_arm(20, 0);
  EXPECT_EQ(verdict().finding, RecheckFinding::inconclusive);
  EXPECT_THAT(verdict().reasons, ElementsAre(HasSubstr(kTooFew)));
}

TEST_F(VerdictTest, TrialsThatDoNotCountAreNone) {
  had(kCell, 10, 10);
  plan(kCell);
  EXPECT_THAT(verdict().reasons, ElementsAre("no trial came to a result that counts"));
}

TEST_F(VerdictTest, APassWithoutOverlapIsNoFix) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 20);
  sample_.overlap = false;
  new_arm(20, 0);
  EXPECT_THAT(verdict().reasons, ElementsAre(HasSubstr("no two threads were ever inside")));
}

TEST_F(VerdictTest, ABuildThatNoProcessProvedIsNoFix) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 20).new_arm(20, 0);
  for (TrialRecord& trial : sample_.journal.trials) {
    if (trial.worker == "stock") trial.processes.at(0).hello.reset();
  }
  EXPECT_THAT(verdict().reasons, Contains("it is not proved which library ran"));
}

TEST_F(VerdictTest, AnotherDeviceThanTheBundlesIsNamed) {
  had(kCell, 10, 10).devices = {"Apple M4 Max"};
  plan(kCell).old_arm(20, 20).new_arm(20, 0);
  EXPECT_THAT(verdict().reasons,
              ElementsAre("it ran on another device than the bundle's (Apple M4 Max, and now "
                          "simulated Metal device)"));
}

TEST_F(VerdictTest, AControlThatFailsOfSomethingElseIsAReasonAndOfTheFailureIsTheFailure) {
  had(kCell, 10, 10);
  control();
  plan(kCell).old_arm(20, 20).new_arm(20, 0);
  plan(kControl).new_arm(20, 1, SampleJournal::hang());
  EXPECT_EQ(words(), "SIMULATED: inconclusive: a control failed");
  sample_.last().judgement = SampleJournal::segfault();
  EXPECT_EQ(verdict().finding, RecheckFinding::still_fails);
}

TEST_F(VerdictTest, ACellThatPassedBeforeTellsOnlyWhereItFailsNow) {
  had(kCell, 10, 10);
  had(kControl, 0, 10);
  plan(kCell).old_arm(20, 20).new_arm(20, 0);
  plan(kControl).new_arm(20, 0);
  EXPECT_EQ(verdict().cells.at(1).finding, RecheckFinding::as_before);
  EXPECT_EQ(verdict().finding, RecheckFinding::none_seen);
  sample_.last().judgement = SampleJournal::hang();
  EXPECT_EQ(verdict().finding, RecheckFinding::fails_otherwise);
  record_.cells[1].otherwise = 3;  // no news
  EXPECT_EQ(verdict().finding, RecheckFinding::none_seen);
}

TEST_F(VerdictTest, EveryCellThatFailedHasToBeFixed) {
  had(kCell, 10, 10);
  had(kControl, 1, 50);
  plan(kCell).old_arm(20, 20).new_arm(20, 0);
  plan(kControl).old_arm(20, 1).new_arm(20, 0);
  EXPECT_EQ(verdict().cells.at(0).finding, RecheckFinding::none_seen);
  EXPECT_EQ(verdict().finding, RecheckFinding::inconclusive);
}

TEST_F(VerdictTest, OfNothingNothingIsConcluded) {
  EXPECT_EQ(verdict().finding, RecheckFinding::inconclusive);
  control();
  plan(kControl).new_arm(20, 0);
  EXPECT_EQ(verdict().finding, RecheckFinding::inconclusive);
}

// Over all small counts: "none seen" never comes without what it needs.
TEST_F(VerdictTest, NoneSeenIsNeverSaidWithoutItsGrounds) {
  had(kCell, 5, 5);
  for (int n = 1; n <= 6; ++n) {
    for (int old_failures = 0; old_failures <= n; ++old_failures) {
      for (int new_failures = 0; new_failures <= n; ++new_failures) {
        sample_ = SampleJournal();
        sample_.journal.header.trials = n;
        plan(kCell).old_arm(n, old_failures).new_arm(n, new_failures);
        const bool grounds = new_failures == 0 && fisher_exact({old_failures, n}, {0, n}) < 0.05;
        EXPECT_EQ(verdict().finding == RecheckFinding::none_seen, grounds) << n << old_failures;
        EXPECT_EQ(verdict().finding == RecheckFinding::still_fails, new_failures > 0);
      }
    }
  }
}

// A run that was ended by looking at it is held to values that hold at any stopping time.
TEST_F(VerdictTest, WhatWasCutShortTakesMore) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(4, 4).new_arm(4, 0);
  sample_.journal.header.trials = 4;
  EXPECT_EQ(verdict().finding, RecheckFinding::none_seen);
  sample_.journal.header.trials = 9;
  EXPECT_THAT(verdict().reasons, ElementsAre(HasSubstr(kTooFew)));
}

TEST_F(VerdictTest, ATitleIsComparedAsTheBundleWouldHaveIt) {
  had(kCell, 10, 10);
  Judgement personal = SampleJournal::segfault();
  personal.signature = "bad access in /Users/me/x.so";
  record_.signature = "bad access in ~/x.so";
  plan(kCell).old_arm(6, 6, personal);
  EXPECT_EQ(verdict().finding, RecheckFinding::fails_otherwise);
  const auto same = [](const std::string& today, const std::string& in_bundle) {
    return today == "bad access in /Users/me/x.so" && in_bundle == "bad access in ~/x.so";
  };
  EXPECT_EQ(verdict_of(record_, analyse(sample_.journal), same).finding,
            RecheckFinding::still_fails);
}

TEST_F(VerdictTest, OfACellThatFailedOnTwoBuildsTheOneThatRanCounts) {
  had(kCell, 10, 10, {"2.8.0", "0123456", "cccc"});
  had(kCell, 3, 10);
  plan(kCell).old_arm(20, 5);
  ASSERT_EQ(verdict().cells.size(), 1U);
  EXPECT_EQ(verdict().cells[0].before.failures, 3);
  EXPECT_TRUE(verdict().cells[0].old_arm.has_value());
}

TEST_F(VerdictTest, ABuildThatPassedInTheBundleIsNotTheOldArm) {
  had(kCell, 10, 10, {"2.8.0", "0123456", "cccc"});
  had(kCell, 0, 10);
  plan(kCell).old_arm(20, 0);
  EXPECT_FALSE(verdict().cells.at(0).old_arm.has_value());
  EXPECT_TRUE(verdict().cells.at(0).new_arm.has_value());
}

TEST(LoadsTheBundlesBuild, GoesByTheIdAndForMetalByTheSystem) {
  const BundleMachine mac{"macOS 15.7.9", "24G830", "Mac16,5", "Apple M4 Max"};
  BundleRecord record;
  record.machine = mac;
  BundleCell entry;
  entry.cell = parse_cell("mps/linear/nograph/threads=3");
  entry.build = {"2.11.0", "aaaaaaa", "1111"};
  entry.failures = 1;
  entry.trials = 2;
  record.cells = {entry};
  const auto loads = [&record, &mac](const std::string& describe) {
    return loads_the_bundles_build(record, nlohmann::json::parse(describe), system_of(mac));
  };
  EXPECT_TRUE(loads(R"({"provenance": {"torch": {"version": "2.11.0", "build_id": "1111"}}})"));
  EXPECT_TRUE(loads(R"({"provenance": {"torch": {"version": "2.11.0", "uuid": "1111"}}})"));
  EXPECT_FALSE(loads(R"({"provenance": {"torch": {"version": "2.11.0", "build_id": "2222"}}})"));
  EXPECT_FALSE(loads(R"({"provenance": {"torch": {"version": "2.11.0"}}})"));
  EXPECT_FALSE(loads(R"({"provenance": {"torch": 3}})"));
  EXPECT_FALSE(loads(R"({})"));
  record.cells[0].failures = 0;
  EXPECT_FALSE(loads(R"({"provenance": {"torch": {"version": "2.11.0", "build_id": "1111"}}})"));
  record.cells[0] = entry;
  record.cells[0].cell = parse_cell("metal/blit/default/threads=3");
  record.cells[0].build = {};
  EXPECT_TRUE(loads(R"({})"));
  record.machine.os_build = "25A354";
  EXPECT_FALSE(loads(R"({})"));
}

TEST(DefaultTrials, AreEnoughForTheRarestFailureWithinBounds) {
  const auto cell = [](int failures, int trials, bool is_control) {
    BundleCell entry;
    entry.failures = failures;
    entry.trials = trials;
    entry.control = is_control;
    return entry;
  };
  EXPECT_EQ(default_trials({cell(10, 10, false)}), kFewestTrials);
  EXPECT_EQ(default_trials({cell(10, 10, false), cell(0, 10, true)}), kFewestTrials);
  EXPECT_THAT(default_trials({cell(1, 10, false)}),
              testing::AllOf(testing::Ge(90), testing::Le(130)));
  EXPECT_GT(default_trials({cell(1, 10, false), cell(9, 10, false)}),
            default_trials({cell(1, 10, false)}));
  EXPECT_EQ(default_trials({cell(1, 50, false)}), kMostDefaultTrials);
}

TEST_F(VerdictTest, EachFormHasTheVerdictAndTheCounts) {
  had(kCell, 10, 10);
  plan(kCell).old_arm(20, 20).new_arm(20, 0);
  const Analysis analysis = analyse(sample_.journal);
  const std::string text = verdict_text(verdict(), record_, analysis, {"OMP_NUM_THREADS"});
  EXPECT_THAT(text, StartsWith("SIMULATED: "));
  EXPECT_THAT(
      text,
      HasSubstr(
          ": before 10/10, old arm (old) 20/20, new arm (stock) 0/20: none seen (below 17%)\n"));
  EXPECT_THAT(text, HasSubstr("did not: OMP_NUM_THREADS."));
  EXPECT_THAT(text,
              EndsWith("\nSIMULATED: none seen (below 17%), and the old build failed again\n"));
  const auto json = verdict_json(verdict(), record_, analysis, {});
  EXPECT_EQ(json.at("finding"), "none_seen");
  EXPECT_EQ(json.at("simulated"), true);
  EXPECT_EQ(json.at("cells").at(0).at("old_arm").at("failures"), 20);
  EXPECT_EQ(json.at("cells").at(0).at("new_arm").at("trials"), 20);
  EXPECT_EQ(json.at("cells").at(0).at("before").at("failures"), 10);
}

TEST_F(VerdictTest, WhatABundleOrAWorkerSaysIsNoControl) {
  had(kCell, 10, 10);
  Judgement hostile = SampleJournal::segfault();
  hostile.signature = "\x1b[2J\xff";
  record_.machine.os = hostile.signature;
  plan(kCell).new_arm(2, 2, hostile);
  const std::string text =
      verdict_text(verdict(), record_, analyse(sample_.journal), {hostile.signature});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace mpsprobe

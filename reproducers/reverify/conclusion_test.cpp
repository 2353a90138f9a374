// What may be concluded from which counts: the rule that turns "it passes now" into "fixed", or
// does not.
#include "reproducers/reverify/conclusion.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "reproducers/reverify/power.h"

namespace mpsprobe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const BundleBuild kOld{"2.11.0", "aaaaaaa", "1111"};
const BundleBuild kNew{"2.15.0", "bbbbbbb", "2222"};

ArmNow arm(const std::string& label, const BundleBuild& build, Proportion same) {
  ArmNow now;
  now.label = label;
  now.build = build;
  now.same = same;
  now.devices = {"Apple M4 Max"};
  return now;
}

CellBeforeAndNow failing(Proportion before) {
  CellBeforeAndNow cell;
  cell.cell = "mps/linear/nograph/threads=3";
  cell.build_before = kOld;
  cell.devices_before = {"Apple M4 Max"};
  cell.before = before;
  return cell;
}

CellBeforeAndNow with_both(Proportion before, Proportion old_now, Proportion new_now) {
  CellBeforeAndNow cell = failing(before);
  cell.old_arm = arm("old", kOld, old_now);
  cell.new_arm = arm("stock", kNew, new_now);
  return cell;
}

CellBeforeAndNow only_new(Proportion before, Proportion new_now) {
  CellBeforeAndNow cell = failing(before);
  cell.new_arm = arm("stock", kNew, new_now);
  return cell;
}

CellBeforeAndNow only_old(Proportion before, Proportion old_now) {
  CellBeforeAndNow cell = failing(before);
  cell.old_arm = arm("stock", kOld, old_now);
  return cell;
}

CellBeforeAndNow control(Proportion now) {
  CellBeforeAndNow cell = with_both({0, 20}, now, now);
  cell.control = true;
  return cell;
}

// The four cases that a fix is claimed, or not, by.
TEST(Conclude, TheSameBuildThatFailsAgainStillFails) {
  const auto conclusion = conclude({only_old({10, 10}, {20, 20})});
  EXPECT_EQ(conclusion.finding, RecheckFinding::still_fails);
  EXPECT_EQ(in_words(conclusion), "still fails");
}

TEST(Conclude, FixedNeedsAnOldArmThatFailedInTheSameRun) {
  const auto conclusion = conclude({with_both({10, 10}, {20, 20}, {0, 20})});
  EXPECT_EQ(conclusion.finding, RecheckFinding::fixed);
  EXPECT_EQ(in_words(conclusion), "fixed");
  EXPECT_LT(conclusion.cells[0].corrected_p_arms.value(), 1e-9);
  EXPECT_LT(conclusion.cells[0].p_before_and_now.value(), 1e-6);
}

TEST(Conclude, WithoutTheOldArmNothingIsFixedHoweverClearTheNumbers) {
  const auto conclusion = conclude({only_new({50, 50}, {0, 1000})});
  EXPECT_EQ(conclusion.finding, RecheckFinding::inconclusive);
  EXPECT_THAT(conclusion.reasons, ElementsAre(Reason::old_arm_not_run));
  EXPECT_EQ(in_words(conclusion), "inconclusive: the old arm was not run again");
}

TEST(Conclude, OneInFiftyBeforeAndNoneInTwentyAfterTakesMoreTrials) {
  for (const CellBeforeAndNow& cell :
       {only_new({1, 50}, {0, 20}), only_old({1, 50}, {0, 20}),
        with_both({1, 50}, {0, 20}, {0, 20}), with_both({1, 50}, {1, 20}, {0, 20})}) {
    const auto conclusion = conclude({cell});
    EXPECT_EQ(conclusion.finding, RecheckFinding::inconclusive);
    EXPECT_EQ(conclusion.reasons.at(0), Reason::too_few_trials);
    EXPECT_THAT(in_words(conclusion),
                testing::MatchesRegex("inconclusive: [0-9]+ more trials on each side.*"));
  }
  const auto conclusion = conclude({only_new({1, 50}, {0, 20})});
  EXPECT_EQ(conclusion.trials_needed, trials_for_power(0.02, 0.05));
  EXPECT_EQ(conclusion.trials_needed, 462);
}

TEST(Conclude, TheRateOfTheOldArmInThisRunCountsForWhatIsNeeded) {
  // Before 1 in 50, but this machine shows it in every second trial.
  const auto conclusion = conclude({with_both({1, 50}, {3, 6}, {0, 6})});
  EXPECT_THAT(conclusion.reasons, ElementsAre(Reason::too_few_trials));
  EXPECT_EQ(conclusion.trials_needed, trials_for_power(0.5, 0.05));
}

TEST(Conclude, TheNewBuildThatFailsAsWellIsNotFixedEvenIfItFailsLessOften) {
  EXPECT_EQ(conclude({with_both({10, 10}, {20, 20}, {1, 20})}).finding,
            RecheckFinding::still_fails);
  EXPECT_EQ(conclude({only_new({10, 10}, {1, 20})}).finding, RecheckFinding::still_fails);
}

TEST(Conclude, AnotherSignatureIsSaid) {
  CellBeforeAndNow cell = with_both({10, 10}, {20, 20}, {0, 20});
  cell.new_arm->otherwise = 2;
  cell.new_arm->other_signature = "hang in commit";
  const auto conclusion = conclude({cell});
  EXPECT_EQ(conclusion.finding, RecheckFinding::fails_otherwise);
  EXPECT_EQ(in_words(conclusion), "fails otherwise: hang in commit");
  EXPECT_THAT(in_words(cell, conclusion.cells[0]), HasSubstr("hang in commit"));

  cell.new_arm->same.failures = 1;  // and where both come, the old failure counts
  EXPECT_EQ(conclude({cell}).finding, RecheckFinding::still_fails);
}

TEST(Conclude, AnOldArmThatDoesNotFailShowsNothing) {
  auto conclusion = conclude({with_both({10, 10}, {0, 20}, {0, 20})});
  EXPECT_EQ(conclusion.finding, RecheckFinding::inconclusive);
  EXPECT_THAT(conclusion.reasons, ElementsAre(Reason::old_arm_passed));

  CellBeforeAndNow cell = with_both({10, 10}, {0, 20}, {0, 20});
  cell.old_arm->otherwise = 20;
  cell.old_arm->other_signature = "image not found";
  conclusion = conclude({cell});
  EXPECT_THAT(conclusion.reasons, ElementsAre(Reason::old_arm_failed_otherwise));
  EXPECT_THAT(in_words(cell, conclusion.cells[0]), HasSubstr("image not found"));
}

TEST(Conclude, TheBundlesOwnBuildCannotBeItsOwnFix) {
  const CellBeforeAndNow cell = only_old({10, 10}, {0, 20});
  const auto conclusion = conclude({cell});
  EXPECT_EQ(conclusion.finding, RecheckFinding::inconclusive);
  EXPECT_THAT(conclusion.reasons, ElementsAre(Reason::same_build));
  EXPECT_THAT(in_words(cell, conclusion.cells[0]), HasSubstr("the bundle's own build"));
}

TEST(Conclude, TrialsThatDoNotCountAreNone) {
  for (const CellBeforeAndNow& cell :
       {failing({10, 10}), only_new({10, 10}, {0, 0}), with_both({10, 10}, {20, 20}, {0, 0})}) {
    const auto conclusion = conclude({cell});
    EXPECT_EQ(conclusion.finding, RecheckFinding::inconclusive);
    EXPECT_THAT(conclusion.reasons, ElementsAre(Reason::nothing_counted));
    EXPECT_EQ(conclusion.cells[0].p_before_and_now, std::nullopt);
  }
  // An old arm of which nothing counts was not run.
  EXPECT_THAT(conclude({with_both({10, 10}, {0, 0}, {0, 20})}).reasons,
              ElementsAre(Reason::old_arm_not_run));
}

// Each of these would be "fixed" but for one thing.
TEST(Conclude, WhatMakesAPassWorthlessStandsAgainstAFix) {
  const CellBeforeAndNow good = with_both({10, 10}, {20, 20}, {0, 20});
  const auto reasons = [](const CellBeforeAndNow& cell) { return conclude({cell}).reasons; };
  EXPECT_THAT(reasons(good), IsEmpty());

  CellBeforeAndNow cell = good;
  cell.new_arm->met = false;
  EXPECT_THAT(reasons(cell), ElementsAre(Reason::no_overlap));
  cell = good;
  cell.new_arm->other_path = true;
  EXPECT_THAT(reasons(cell), ElementsAre(Reason::other_path));
  cell = good;
  cell.new_arm->unchecked = true;
  EXPECT_THAT(reasons(cell), ElementsAre(Reason::unchecked));
  cell = good;
  cell.new_arm->proved = false;
  EXPECT_THAT(reasons(cell), ElementsAre(Reason::unproved));
  cell = good;
  cell.old_arm->proved = false;
  EXPECT_THAT(reasons(cell), ElementsAre(Reason::unproved));
}

TEST(Conclude, ResultsOfDifferentDevicesAreNotCompared) {
  CellBeforeAndNow cell = with_both({10, 10}, {20, 20}, {0, 20});
  cell.new_arm->devices = {"Apple M1"};
  auto conclusion = conclude({cell});
  EXPECT_THAT(conclusion.reasons, ElementsAre(Reason::other_device));
  EXPECT_EQ(conclusion.cells[0].p_before_and_now, std::nullopt);
  EXPECT_THAT(in_words(cell, conclusion.cells[0]), HasSubstr("(Apple M4 Max, and now Apple M1)"));

  cell = with_both({10, 10}, {20, 20}, {0, 20});
  cell.old_arm->devices = {"Apple M1"};
  EXPECT_THAT(conclude({cell}).reasons, ElementsAre(Reason::other_device));

  cell = with_both({10, 10}, {20, 20}, {0, 20});
  cell.new_arm->same_class = false;  // paravirtual, or simulated
  EXPECT_THAT(conclude({cell}).reasons, ElementsAre(Reason::other_device));

  cell = only_new({10, 10}, {5, 20});  // a failure is one anywhere
  cell.new_arm->devices = {"Apple M1"};
  EXPECT_EQ(conclude({cell}).finding, RecheckFinding::still_fails);
}

TEST(Conclude, AControlThatFailsOtherwiseStandsAgainstAFix) {
  const CellBeforeAndNow good = with_both({10, 10}, {20, 20}, {0, 20});
  CellBeforeAndNow sick = control({0, 20});
  EXPECT_EQ(conclude({good, sick}).finding, RecheckFinding::fixed);
  sick.old_arm->otherwise = 1;
  EXPECT_THAT(conclude({good, sick}).reasons, ElementsAre(Reason::control_failed));
  sick = control({0, 20});
  sick.new_arm->otherwise = 1;
  const auto conclusion = conclude({good, sick});
  EXPECT_EQ(conclusion.finding, RecheckFinding::inconclusive);
  EXPECT_THAT(conclusion.reasons, ElementsAre(Reason::control_failed));
  sick.otherwise_before = 1;  // it did so before
  EXPECT_EQ(conclude({good, sick}).finding, RecheckFinding::fixed);
}

TEST(Conclude, AControlThatFailsOfTheBundlesFailureIsTheFailure) {
  const CellBeforeAndNow good = with_both({10, 10}, {20, 20}, {0, 20});
  EXPECT_EQ(conclude({good, control({1, 20})}).finding, RecheckFinding::still_fails);
  CellBeforeAndNow rare = control({0, 20});
  rare.old_arm->same.failures = 2;  // in the old arm it is only rarer than was seen before
  EXPECT_EQ(conclude({good, rare}).finding, RecheckFinding::fixed);
}

TEST(Conclude, EveryCellThatFailedHasToBeFixed) {
  const CellBeforeAndNow clear = with_both({10, 10}, {20, 20}, {0, 20});
  const CellBeforeAndNow rare = with_both({1, 50}, {1, 20}, {0, 20});
  EXPECT_EQ(conclude({clear, clear}).finding, RecheckFinding::fixed);
  EXPECT_EQ(conclude({clear, rare}).finding, RecheckFinding::inconclusive);
  EXPECT_EQ(conclude({clear, only_new({10, 10}, {1, 1})}).finding, RecheckFinding::still_fails);
}

TEST(Conclude, ManyCellsMakeTheTestStricter) {
  // 5 of 12 against 0 of 12: p = 0.037 alone, and no longer below the level with another such cell.
  const CellBeforeAndNow weak = with_both({5, 12}, {5, 12}, {0, 12});
  EXPECT_EQ(conclude({weak}).finding, RecheckFinding::fixed);
  const auto conclusion = conclude({weak, weak});
  EXPECT_EQ(conclusion.finding, RecheckFinding::inconclusive);
  EXPECT_GE(conclusion.cells[0].corrected_p_arms.value(), kVerifyLevel);
  EXPECT_EQ(conclusion.trials_needed, trials_for_power(5.0 / 12, kVerifyLevel / 2));
}

TEST(Conclude, ACellThatPassedBeforeTellsOnlyWhereItFailsNow) {
  const CellBeforeAndNow good = with_both({10, 10}, {20, 20}, {0, 20});
  EXPECT_EQ(conclude({good, only_new({0, 10}, {0, 20})}).cells[1].finding,
            RecheckFinding::as_before);
  EXPECT_EQ(conclude({good, only_new({0, 10}, {0, 20})}).finding, RecheckFinding::fixed);
  EXPECT_EQ(conclude({good, only_new({0, 10}, {1, 20})}).finding, RecheckFinding::still_fails);
  CellBeforeAndNow otherwise = only_new({0, 10}, {0, 20});
  otherwise.new_arm->otherwise = 1;
  otherwise.new_arm->other_signature = "hang";
  EXPECT_EQ(conclude({good, otherwise}).finding, RecheckFinding::fails_otherwise);
  otherwise.otherwise_before = 3;
  EXPECT_EQ(conclude({good, otherwise}).finding, RecheckFinding::fixed);
}

TEST(Conclude, OfNothingNothingIsConcluded) {
  EXPECT_EQ(conclude({}).finding, RecheckFinding::inconclusive);
  EXPECT_EQ(conclude({control({0, 20})}).finding, RecheckFinding::inconclusive);
  EXPECT_THROW(conclude({only_new({3, 2}, {0, 1})}), std::invalid_argument);
}

// Over all small counts: "fixed" never comes without what it needs, and more trials of the same
// kind never take it back.
TEST(Conclude, FixedIsNeverSaidWithoutItsGrounds) {
  for (int n = 1; n <= 8; ++n) {
    for (int old_failures = 0; old_failures <= n; ++old_failures) {
      for (int new_failures = 0; new_failures <= n; ++new_failures) {
        const Proportion old_now{old_failures, n};
        const Proportion new_now{new_failures, n};
        const auto conclusion = conclude({with_both({n, n}, old_now, new_now)});
        const bool grounds = new_failures == 0 && fisher_exact(old_now, new_now) < kVerifyLevel;
        EXPECT_EQ(conclusion.finding == RecheckFinding::fixed, grounds) << n << old_failures;
        EXPECT_EQ(conclusion.finding == RecheckFinding::still_fails, new_failures > 0);
        EXPECT_NE(conclude({only_new({n, n}, new_now)}).finding, RecheckFinding::fixed);
        EXPECT_NE(conclude({only_old({n, n}, old_now)}).finding, RecheckFinding::fixed);
      }
    }
  }
}

// A run that was ended by looking at it is held to values that hold at any stopping time.
TEST(Conclude, WhatWasCutShortTakesMoreToBeFixed) {
  const std::vector<CellBeforeAndNow> cells{with_both({5, 5}, {5, 5}, {0, 5})};
  EXPECT_EQ(conclude(cells).finding, RecheckFinding::fixed);
  const auto few = conclude({with_both({4, 4}, {4, 4}, {0, 4})}, Sampling::looking);
  EXPECT_EQ(conclude({with_both({4, 4}, {4, 4}, {0, 4})}).finding, RecheckFinding::fixed);
  EXPECT_EQ(few.finding, RecheckFinding::inconclusive);
  EXPECT_THAT(few.reasons, ElementsAre(Reason::too_few_trials));
  EXPECT_EQ(conclude({with_both({9, 9}, {9, 9}, {0, 9})}, Sampling::looking).finding,
            RecheckFinding::fixed);
}

// 4 of 4 against 0 of 5: Fisher's value, of numbers fixed beforehand, would be 0.008.
TEST(Conclude, TheBundlesCountIsTakenToHaveEndedByLooking) {
  const auto conclusion = conclude({only_new({4, 4}, {0, 5})});
  EXPECT_GT(conclusion.cells[0].p_before_and_now.value(), fisher_exact({4, 4}, {0, 5}));
  EXPECT_DOUBLE_EQ(conclusion.cells[0].p_before_and_now.value(), anytime_p_value({4, 4}, {0, 5}));
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
  EXPECT_EQ(default_trials({cell(1, 10, false)}), trials_for_power(0.1, kVerifyLevel));
  EXPECT_EQ(default_trials({cell(1, 10, false), cell(9, 10, false)}),
            trials_for_power(0.1, kVerifyLevel / 2));
  EXPECT_EQ(default_trials({cell(1, 50, false)}), kMostDefaultTrials);
}

}  // namespace
}  // namespace mpsprobe

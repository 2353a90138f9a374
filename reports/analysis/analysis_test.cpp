#include "reports/analysis/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

auto warns(const char* code) {
  return Contains(testing::Field(&Warning::code, code));
}

TEST(Analysis, CountsTrialsAndDerivesVerdicts) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(10);
  sample.plan("cpu/add/default/threads=2").ran(10, 10);
  sample.plan("cpu/add/default/threads=4").ran(10, 3).ended();
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.cells, SizeIs(3));
  EXPECT_EQ(analysis.cells[0].verdict, Verdict::pass);
  EXPECT_EQ(analysis.cells[1].verdict, Verdict::fail);
  EXPECT_EQ(analysis.cells[2].verdict, Verdict::intermittent);
  EXPECT_EQ(analysis.cells[2].failures, 3);
  EXPECT_NEAR(analysis.cells[0].rate.high, 0.3085, 0.0001);
  EXPECT_EQ(analysis.counted, 30);
  EXPECT_TRUE(analysis.complete);
  EXPECT_FALSE(analysis.simulated);
}

TEST(Analysis, WhatIsNoEvidenceIsNeitherPassNorFailure) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").came_to(4, Outcome::unsupported);
  sample.came_to(3, Outcome::setup_failed).came_to(3, Outcome::infrastructure).ended();
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[0].counted, 0);
  EXPECT_FALSE(analysis.cells[0].verdict);
  EXPECT_FALSE(analysis.has_evidence());
  EXPECT_THAT(analysis.warnings, warns("no_evidence"));
  EXPECT_THAT(analysis.signatures, IsEmpty());
}

TEST(Analysis, WhatALibraryRefusesIsNeitherPassNorFailureNorMissing) {
  SampleJournal sample;
  sample.plan("mlx/chain/default/threads=1").ran(10);
  sample.plan("mlx/chain/default/threads=2").came_to(10, Outcome::refused);
  sample.plan("mlx/chain/default/threads=4").came_to(9, Outcome::refused).ran(1, 1).ended();
  sample.last().trial = 9;
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[1].verdict, Verdict::refused);
  EXPECT_FALSE(analysis.cells[1].has_rate());
  EXPECT_EQ(analysis.cells[2].verdict, Verdict::fail);  // of the one that was not refused
  EXPECT_EQ(analysis.cells[2].counted, 1);
  EXPECT_EQ(analysis.refused, 19);
  EXPECT_EQ(analysis.undone, 0);
  EXPECT_TRUE(analysis.complete);
  ASSERT_THAT(analysis.boundaries, SizeIs(1));
  EXPECT_THAT(analysis.boundaries[0].refused, ElementsAre(2));
}

TEST(Analysis, ARunOfRefusalsAloneIsAnAnswer) {
  SampleJournal sample;
  sample.plan("mlx/chain/default/threads=2").expect({Verdict::refused, std::nullopt, ""});
  sample.came_to(10, Outcome::refused).ended();
  const Analysis analysis = analyse(sample.journal);
  EXPECT_TRUE(analysis.has_evidence());
  EXPECT_EQ(analysis.cells[0].expected, Expected::met);
}

TEST(Analysis, WhyAWorkerCouldNotIsToldInItsOwnWordsWhereNothingElseIsKnown) {
  const std::string why = "shape=4x4: 2 sizes where 3 are needed";
  SampleJournal sample;
  sample.plan("mps/mm/default/threads=1/shape=4x4").unsupported(why).unsupported(why);
  sample.plan("mps/mm/default/threads=2/shape=4x4").unsupported(why);
  sample.plan("mps/mm/default/threads=3").ran(2).unsupported(why);
  const Analysis analysis = analyse(sample.journal);
  ASSERT_EQ(analysis.left_out.size(), 1U);
  EXPECT_EQ(analysis.left_out[0].reason, "unsupported: " + why);
  EXPECT_THAT(analysis.left_out[0].cells, SizeIs(2));
  EXPECT_TRUE(analysis.left_out[0].tried);
}

TEST(Analysis, WhatRanAgainAfterTheMachineWasMendedCountsOnce) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(2, 2).came_to(8, Outcome::infrastructure);
  for (int trial = 2; trial < 10; ++trial) {
    sample.ran(1);
    sample.last().trial = trial;
    sample.last().attempt = 1;
  }
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[0].counted, 10);
  EXPECT_EQ(analysis.cells[0].failures, 2);
  EXPECT_EQ(analysis.undone, 0);
  EXPECT_TRUE(analysis.complete);
}

TEST(Analysis, NonEvidenceDoesNotDiluteARate) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(2, 2).came_to(8, Outcome::infrastructure);
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[0].verdict, Verdict::fail);
  EXPECT_EQ(analysis.cells[0].counted, 2);
  EXPECT_THAT(analysis.warnings, warns("not_counted"));
}

TEST(Analysis, AKilledRunIsIncomplete) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(4);
  sample.plan("cpu/add/default/threads=2");
  const Analysis analysis = analyse(sample.journal);
  EXPECT_FALSE(analysis.complete);
  EXPECT_EQ(analysis.cells[0].missing, 6);
  EXPECT_EQ(analysis.cells[1].missing, 10);
  EXPECT_FALSE(analysis.cells[1].verdict);
  ASSERT_THAT(analysis.warnings, warns("incomplete"));
  EXPECT_THAT(analysis.warnings[0].text, HasSubstr("4 of 20 planned trials were run"));
  EXPECT_THAT(analysis.warnings[0].text, HasSubstr("killed"));
}

TEST(Analysis, APassWithoutOverlapIsSaidToProveNothing) {
  SampleJournal sample;
  sample.overlap = false;
  sample.plan("cpu/add/default/threads=4").ran(10);
  sample.plan("cpu/add/default/threads=4/lock=forward").ran(10);
  sample.plan("cpu/add/default/threads=4/start=sequential").ran(10);
  sample.plan("cpu/add/default/threads=1").ran(10);
  sample.plan("cpu/add/default/threads=4/throttle=1").ran(10);
  sample.plan("cpu/add/default/threads=4/throttle=2").ran(10);
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[0].overlap, Overlap::none);
  EXPECT_EQ(analysis.cells[1].overlap, Overlap::prevented);
  EXPECT_EQ(analysis.cells[2].overlap, Overlap::prevented);
  EXPECT_EQ(analysis.cells[3].overlap, Overlap::not_applicable);
  EXPECT_EQ(analysis.cells[4].overlap, Overlap::prevented);
  EXPECT_EQ(analysis.cells[5].overlap, Overlap::none);
  EXPECT_THAT(analysis.warnings, warns("no_overlap"));
}

TEST(Analysis, OneTrialWithOverlapIsEnough) {
  SampleJournal sample;
  sample.overlap = false;
  sample.plan("cpu/add/default/threads=4").ran(10);
  sample.journal.trials[7].processes[0].recorder.most_inside = 3;
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[0].overlap, Overlap::seen);
  EXPECT_EQ(analysis.cells[0].most_inside, 3u);
  EXPECT_THAT(analysis.warnings, Not(warns("no_overlap")));
}

TEST(Analysis, BuildsOfOneWorkerAreNeverAddedUp) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=2").ran(6);
  sample.provenance = "build-b";
  sample.ran(4, 4);
  for (int i = 6; i < 10; ++i) sample.journal.trials[i].trial = i;
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.arms, SizeIs(2));
  EXPECT_EQ(analysis.arms[0].label, "stock, build 1");
  EXPECT_EQ(analysis.arms[1].label, "stock, build 2");
  EXPECT_EQ(analysis.arms[1].version, "2.9.1a0");
  ASSERT_THAT(analysis.cells, SizeIs(2));
  EXPECT_EQ(analysis.cells[0].counted, 6);
  EXPECT_EQ(analysis.cells[0].verdict, Verdict::pass);
  EXPECT_EQ(analysis.cells[1].counted, 4);
  EXPECT_EQ(analysis.cells[1].verdict, Verdict::fail);
  EXPECT_THAT(analysis.warnings, warns("several_builds"));
  EXPECT_TRUE(analysis.complete);
}

TEST(Analysis, ALibraryExchangedBeforeAResumeMakesASecondArm) {
  SampleJournal sample;
  // The same path and version, and another file: as after a rebuild in place.
  sample.journal.provenances["rebuilt"] = sample.journal.provenances["build-a"];
  sample.journal.provenances["rebuilt"]["torch"]["build_id"] = "cc33";
  sample.plan("cpu/add/default/threads=2").ran(5, 5).ended("interrupted");
  sample.provenance = "rebuilt";
  sample.ran(5).ended();
  for (int i = 5; i < 10; ++i) sample.journal.trials[static_cast<size_t>(i)].trial = i;
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.cells, SizeIs(2));
  EXPECT_EQ(analysis.cells[0].failures, 5);
  EXPECT_EQ(analysis.cells[0].counted, 5);
  EXPECT_EQ(analysis.cells[1].failures, 0);
  EXPECT_EQ(analysis.cells[1].counted, 5);
  EXPECT_EQ(analysis.arms[1].build_id, "cc33");
  EXPECT_THAT(analysis.warnings, warns("several_builds"));
  // Nor is the one said to fix the other: they are no workers side by side.
  EXPECT_THAT(analysis.comparisons, IsEmpty());
}

TEST(Analysis, ATrialOfTwoBuildsBelongsToNeither) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1/processes=2").ran(10);
  sample.last().processes[1].hello->provenance = "build-b";
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.arms, SizeIs(2));
  EXPECT_EQ(analysis.cells[0].counted, 9);
  EXPECT_EQ(analysis.arms[1].label, "stock, build unknown");
}

TEST(Analysis, TrialsWhoseProvenanceIsLostStayAndAreAddedUpWithNoOthers) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=2").ran(6);
  sample.provenance = "build-b";
  sample.ran(3, 3);
  sample.ran(1, 1).last().processes[0].hello.reset();  // died before it could say
  for (size_t i = 6; i < 10; ++i) sample.journal.trials[i].trial = static_cast<int>(i);
  sample.journal.provenances.erase("build-b");
  const Analysis one_lost = analyse(sample.journal);
  ASSERT_THAT(one_lost.arms, SizeIs(3));
  EXPECT_TRUE(one_lost.arms[0].proved);
  EXPECT_FALSE(one_lost.arms[1].proved);
  EXPECT_EQ(one_lost.arms[2].label, "stock, build unknown");
  ASSERT_THAT(one_lost.cells, SizeIs(3));
  EXPECT_EQ(one_lost.cells[0].counted, 6);
  EXPECT_EQ(one_lost.cells[1].counted, 3);
  EXPECT_THAT(one_lost.warnings, warns("provenance_lost"));
  sample.journal.provenances.clear();
  const Analysis both_lost = analyse(sample.journal);
  ASSERT_THAT(both_lost.cells, SizeIs(3)) << "two that are lost are two";
  EXPECT_EQ(both_lost.cells[0].counted, 6);
}

TEST(Analysis, ADeathBeforeHelloBelongsToTheOnlyBuild) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(10, 1);
  sample.journal.trials[0].processes[0].hello.reset();
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.arms, SizeIs(1));
  EXPECT_EQ(analysis.cells[0].failures, 1);
  EXPECT_EQ(analysis.arms[0].git_hash, "0a1b2c3d4e5f");
}

TEST(Analysis, WorkersStandSideBySide) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  sample.plan("cpu/add/default/threads=2").ran(10);
  sample.provenance = "build-b";
  sample.ran(10, 10, SampleJournal::segfault(), "fork").ended();
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.cells, SizeIs(2));
  EXPECT_EQ(analysis.cells[0].verdict, Verdict::pass);
  EXPECT_EQ(analysis.cells[1].verdict, Verdict::fail);
  EXPECT_THAT(analysis.warnings, IsEmpty());
}

TEST(Analysis, ARepeatedTrialCountsOnce) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(10, 1);
  sample.journal.trials.push_back(sample.journal.trials[0]);
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[0].counted, 10);
  EXPECT_EQ(analysis.cells[0].failures, 1);
  EXPECT_THAT(analysis.warnings, warns("repeated"));
}

TEST(Analysis, ExpectationsAreMetUnmetOrUntested) {
  SampleJournal sample;
  const Expectation fail{Verdict::fail, std::nullopt, ""};
  const Expectation segfault{std::nullopt, Outcome::signal, "SIGSEGV"};
  const Expectation bus{std::nullopt, Outcome::signal, "SIGBUS"};
  sample.plan("cpu/add/default/threads=1").expect(fail).ran(10, 10);
  sample.plan("cpu/add/default/threads=2").expect(fail).ran(10, 9);
  sample.plan("cpu/add/default/threads=3").expect(segfault).ran(10, 10);
  sample.plan("cpu/add/default/threads=4").expect(segfault).ran(10, 9);
  sample.plan("cpu/add/default/threads=5").expect(bus).ran(10, 10);
  sample.plan("cpu/add/default/threads=6").expect(segfault);
  sample.plan("cpu/add/default/threads=7")
      .expect({std::nullopt, Outcome::setup_failed, ""})
      .came_to(10, Outcome::setup_failed);
  sample.plan("cpu/add/default/threads=8").ran(10);
  const Analysis analysis = analyse(sample.journal);
  std::vector<Expected> expected;
  for (const CellSummary& cell : analysis.cells) expected.push_back(cell.expected);
  EXPECT_THAT(expected,
              ElementsAre(Expected::met, Expected::unmet, Expected::met, Expected::unmet,
                          Expected::unmet, Expected::untested, Expected::met, Expected::nothing));
}

TEST(Analysis, ThroughputIsOfPassingTrialsOnly) {
  SampleJournal sample;
  sample.operations_per_second = 1000;
  sample.plan("cpu/add/default/threads=4").ran(5, 2);
  sample.plan("cpu/add/default/threads=1/processes=4").ran(1);
  const Analysis analysis = analyse(sample.journal);
  ASSERT_TRUE(analysis.cells[0].throughput);
  EXPECT_EQ(analysis.cells[0].throughput->samples, 3);
  EXPECT_NEAR(analysis.cells[0].throughput->median, 1030, 0.01);
  // Four processes side by side: their operations add up, their times do not.
  EXPECT_NEAR(analysis.cells[1].throughput->median, 1000, 0.01);
}

TEST(Analysis, FreshProcessesFollowOneAnother) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1/iterations=2/lifetime=fresh").ran(1);
  ProcessRecord& first = sample.last().processes[0];
  first.iteration = 0;
  first.result->operations = 1;
  first.result->seconds = 0.5;
  ProcessRecord second = first;
  second.iteration = 1;
  sample.last().processes.push_back(second);
  const Analysis analysis = analyse(sample.journal);
  EXPECT_NEAR(analysis.cells[0].throughput->median, 2.0, 1e-9);
}

TEST(Analysis, FailuresAreGroupedBySignature) {
  SampleJournal sample;
  sample.plan("sim/linear/nograph/threads=3").ran(10, 10);
  sample.plan("sim/linear/nograph/threads=4").ran(10, 10);
  sample.plan("sim/zeros/default/threads=4").ran(10, 2, SampleJournal::hang());
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.signatures, SizeIs(2));
  const SignatureGroup& group = analysis.signatures[0];
  EXPECT_EQ(group.title, "SIGSEGV in linear while launching");
  EXPECT_EQ(group.failures, 20);
  ASSERT_THAT(group.cells, SizeIs(2));
  EXPECT_EQ(group.cells[1].failures, 10);
  EXPECT_EQ(group.first.recorder.threads.size(), 3u);
  EXPECT_EQ(group.first.excerpt, "launching linear\n");
  EXPECT_EQ(analysis.signatures[1].cells[0].counted, 10);
}

TEST(Analysis, ExampleSurvivesAProcessIndexThatIsNone) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(1, 1);
  for (int index : {-1, 1, 1000000}) {
    sample.last().judged_process = index;
    EXPECT_THAT(analyse(sample.journal).signatures[0].first.excerpt, IsEmpty());
  }
}

TEST(Analysis, ValidationAndOtherPathsAreSaid) {
  SampleJournal sample;
  sample.plan("mps/linear/nograph/threads=1/validation=api").ran(10);
  for (TrialRecord& trial : sample.journal.trials)
    trial.processes[0].result->observed_path = "graph";
  const Analysis analysis = analyse(sample.journal);
  EXPECT_THAT(analysis.warnings, warns("validation"));
  EXPECT_THAT(analysis.warnings, warns("wrong_path"));
}

TEST(Analysis, WhatAProbeOfThePathShowedIsComparedWithWhatTheCellAsksFor) {
  SampleJournal sample;
  sample.plan("mps/linear/graph/threads=2").ran(10, 3);
  const auto shown = [&sample](const std::string& path, const std::string& why) {
    for (TrialRecord& trial : sample.journal.trials) {
      if (trial.processes[0].result) trial.processes[0].result->observed_path = "not observed";
      trial.path_probe = PathProbe{"mps/linear/graph/threads=1", path, why};
    }
    return analyse(sample.journal);
  };
  EXPECT_THAT(shown("graph", "").warnings,
              AllOf(Not(warns("wrong_path")), Not(warns("path_not_observed"))));
  const Analysis collapsed = shown("nograph", "");
  EXPECT_THAT(collapsed.warnings, warns("wrong_path"));
  EXPECT_THAT(collapsed.cells[0].observed_paths, ElementsAre("nograph"));
  const Analysis unseen = shown("not observed", "the probe process came to hang");
  EXPECT_THAT(unseen.warnings, AllOf(Not(warns("wrong_path")), warns("path_not_observed")));
  EXPECT_THAT(unseen.cells[0].path_unseen, "the probe process came to hang");
}

TEST(Analysis, ASickDeviceIsSaid) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(10, 1);
  sample.journal.trials[0].known_good = KnownGood{"mps/add/default/threads=1", 3, Outcome::hang};
  EXPECT_THAT(analyse(sample.journal).warnings, warns("sick_device"));
  for (const Outcome outcome : {Outcome::pass, Outcome::not_run}) {
    sample.journal.trials[0].known_good->outcome = outcome;
    EXPECT_THAT(analyse(sample.journal).warnings, Not(warns("sick_device")));
  }
}

TEST(Analysis, LeftOutCellsAreGroupedByReason) {
  SampleJournal sample;
  sample.left_out("a", "one reason").left_out("b", "another").left_out("c", "one reason");
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.left_out, SizeIs(2));
  EXPECT_THAT(analysis.left_out[0].cells, ElementsAre("a", "c"));
}

TEST(Analysis, AnEmptyJournalIsNotGreen) {
  const Analysis analysis = analyse(Journal{});
  EXPECT_FALSE(analysis.has_evidence());
  EXPECT_THAT(analysis.warnings, warns("no_evidence"));
}

TEST(Analysis, FindsTheBoundariesOfReport000) {
  const Analysis analysis = analyse(report_000().journal);
  ASSERT_THAT(analysis.boundaries, SizeIs(4));
  EXPECT_FALSE(analysis.boundaries[0].fewest_failing);  // raw
  EXPECT_EQ(analysis.boundaries[1].most_passing->count, 2);
  EXPECT_EQ(analysis.boundaries[1].fewest_failing->count, 3);
  EXPECT_EQ(analysis.boundaries[2].most_passing->count, 3);
  EXPECT_EQ(analysis.boundaries[2].fewest_failing->count, 4);
  EXPECT_EQ(analysis.boundaries[3].axis, "processes");
  EXPECT_EQ(analysis.boundaries[3].most_passing->count, 8);
}

}  // namespace
}  // namespace mpsprobe

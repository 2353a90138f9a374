#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/claims/comparisons.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kMps = "mps/linear/nograph/threads=4";
constexpr const char* kMetal = "metal/linear/nograph/threads=4";
constexpr const char* kCpu = "cpu/linear/nograph/threads=4";

SampleJournal two_layers(int upper, int lower, int trials = 10, const char* below = kMetal) {
  SampleJournal sample;
  sample.plan(kMps).ran(trials, upper);
  sample.plan(below).ran(trials, lower);
  return sample;
}

std::string only_words(const SampleJournal& sample) {
  const Analysis analysis = analyse(sample.journal);
  if (analysis.comparisons.size() != 1) return "not one comparison";
  return conclusion_in_words(analysis, analysis.comparisons[0]);
}

TEST(Layers, AFailureBelowIsAlsoWithoutPyTorch) {
  EXPECT_EQ(only_words(two_layers(10, 10)), "also without PyTorch");
  EXPECT_EQ(only_words(two_layers(10, 1)), "also without PyTorch");
}

TEST(Layers, FailuresOfOtherKindsAreNotSaidToBeTheSame) {
  SampleJournal sample;
  sample.plan(kMps).ran(10, 10);
  sample.plan(kMetal).ran(10, 10, SampleJournal::hang());
  EXPECT_EQ(only_words(sample), "also without PyTorch, but by other signatures");
}

TEST(Layers, ADifferenceThatChanceDoesNotExplainIsNoneSeenWithoutPyTorch) {
  const SampleJournal sample = two_layers(10, 0);
  EXPECT_EQ(only_words(sample), "none of 10 seen (below 31%) without PyTorch");
  const Comparison comparison = analyse(sample.journal).comparisons[0];
  EXPECT_NEAR(comparison.p, 2.0 / 184756, 1e-12);  // 20 over 10
  EXPECT_EQ(comparison.corrected_p, comparison.p);
}

TEST(Layers, TooFewTrialsAreInconclusiveAndSayHowManyWouldDo) {
  EXPECT_EQ(only_words(two_layers(3, 0)),
            "inconclusive: too few trials (at the rate seen, 34 trials a cell would tell)");
  EXPECT_EQ(only_words(two_layers(2, 0, 2)),
            "inconclusive: too few trials (at the rate seen, 4 trials a cell would tell)");
}

TEST(Layers, NearlyAllAndAllShowNothing) {
  EXPECT_EQ(only_words(two_layers(9, 10)), "also without PyTorch");
  SampleJournal builds;
  builds.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  builds.plan(kMps).ran(10, 9);
  builds.provenance = "build-b";
  builds.ran(20, 20, SampleJournal::segfault(), "fork");
  EXPECT_EQ(only_words(builds), "no difference shown");
}

TEST(Layers, WithoutAFailureNothingIsConcluded) {
  EXPECT_EQ(only_words(two_layers(0, 0)), "inconclusive: neither failed");
}

TEST(Layers, AFailureOnlyBelowIsSaidAsItIs) {
  EXPECT_EQ(only_words(two_layers(0, 10)), "none of 10 seen (below 31%) with PyTorch");
  EXPECT_THAT(only_words(two_layers(0, 2)), HasSubstr("inconclusive: too few trials"));
}

TEST(Layers, APassWithoutOverlapShowsNothing) {
  SampleJournal sample;
  sample.plan(kMps).ran(10, 10);
  sample.overlap = false;
  sample.plan(kMetal).ran(10);
  EXPECT_EQ(only_words(sample),
            "inconclusive: no two threads were ever inside an operation at once on metal");
}

TEST(Layers, TheCpuIsNotALayerWithoutPyTorch) {
  EXPECT_EQ(only_words(two_layers(10, 0, 10, kCpu)), "none of 10 seen (below 31%) on the CPU");
  EXPECT_EQ(only_words(two_layers(10, 10, 10, kCpu)), "also on the CPU");
}

TEST(Layers, ASimulatedSideIsSaid) {
  SampleJournal sample;
  sample.plan("sim/linear/nograph/threads=4/profile=clean").ran(10, 10);
  sample.plan(kCpu).ran(10);
  EXPECT_EQ(only_words(sample), "simulated: none of 10 seen (below 31%) on the CPU");
}

TEST(Layers, CellsThatDifferInAnotherAxisAreNotCompared) {
  SampleJournal sample;
  sample.plan(kMps).ran(10, 10);
  sample.plan("metal/linear/nograph/threads=3").ran(10);
  sample.plan("metal/linear/graph/threads=4").ran(10);
  sample.plan("metal/linear/nograph/threads=4/validation=api").ran(10);
  EXPECT_THAT(analyse(sample.journal).comparisons, IsEmpty());
}

TEST(Layers, WhatIsNoEvidenceIsNotCompared) {
  SampleJournal sample;
  sample.plan(kMps).ran(10, 10);
  sample.plan(kMetal).came_to(10, Outcome::unsupported);
  EXPECT_THAT(analyse(sample.journal).comparisons, IsEmpty());
}

TEST(Layers, ManyCellsAskMoreOfEachClaim) {
  // 6 of 10 against 0 of 10 alone: p = 0.011. Among ten such pairs it is no news.
  SampleJournal many;
  for (int threads = 2; threads < 12; ++threads) {
    const std::string cell = "/linear/nograph/threads=" + std::to_string(threads);
    many.plan("mps" + cell).ran(10, 6);
    many.plan("metal" + cell).ran(10);
  }
  EXPECT_EQ(only_words(two_layers(6, 0)), "none of 10 seen (below 31%) without PyTorch");
  const Analysis analysis = analyse(many.journal);
  ASSERT_THAT(analysis.comparisons, SizeIs(10));
  for (const Comparison& comparison : analysis.comparisons) {
    EXPECT_EQ(comparison.conclusion, Conclusion::too_few_trials);
    EXPECT_NEAR(comparison.corrected_p, 10 * comparison.p, 1e-12);
    EXPECT_GT(comparison.trials_needed, 10);
  }
}

// Says in every trial from `begin` on that the operation took that path.
void observe(SampleJournal& sample, size_t begin, size_t end, const char* path) {
  for (size_t i = begin; i < end; ++i) {
    for (ProcessRecord& process : sample.journal.trials[i].processes) {
      process.result = process.result.value_or(ResultEvent{});
      process.result->observed_path = path;
    }
  }
}

TEST(Layers, ASideOnAnotherPathShowsNothing) {
  SampleJournal spared = two_layers(10, 0);
  observe(spared, 10, 20, "graph");
  EXPECT_EQ(only_words(spared),
            "inconclusive: on metal another path was taken than the cell asks for");
  SampleJournal failing = two_layers(10, 0);
  observe(failing, 0, 1, "graph");
  EXPECT_EQ(only_words(failing),
            "inconclusive: on mps another path was taken than the cell asks for");
  SampleJournal unseen = two_layers(10, 0);
  observe(unseen, 10, 20, "not observed");
  EXPECT_EQ(only_words(unseen), "none of 10 seen (below 31%) without PyTorch");
}

TEST(Layers, WrongResultsAreNotSparedWhereNobodyLooked) {
  const auto with = [](Outcome outcome, uint64_t checked) {
    SampleJournal sample;
    sample.plan(kMps).ran(10, 10, Judgement{outcome, "", "some title"});
    sample.plan(kMetal).ran(10);
    for (size_t i = 10; i < 20; ++i) {
      sample.journal.trials[i].processes[0].result->checked = checked;
    }
    return only_words(sample);
  };
  EXPECT_EQ(with(Outcome::wrong_result, 0),
            "inconclusive: results were wrong, and on metal none was compared with the reference");
  EXPECT_EQ(with(Outcome::wrong_result, 40), "none of 10 seen (below 31%) without PyTorch");
  EXPECT_EQ(with(Outcome::signal, 0), "none of 10 seen (below 31%) without PyTorch");
}

SampleJournal two_builds(int baseline, int other, int trials = 10) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  sample.plan(kMps).ran(trials, baseline);
  sample.provenance = "build-b";
  sample.ran(trials, other, SampleJournal::segfault(), "fork");
  return sample;
}

TEST(Builds, WhatTheNewerReleaseDoesNotShowIsNotSaidToBeFixed) {
  // The first worker has the newer release here.
  EXPECT_EQ(only_words(two_builds(0, 10)),
            "none of 10 seen (below 31%) in stock 2.15.0+cpu (p < 0.001)");
  EXPECT_EQ(only_words(two_builds(0, 0)), "inconclusive: neither failed");
  EXPECT_EQ(only_words(two_builds(2, 0)),
            "no difference shown (at the rate seen, 55 trials a cell would tell)");
}

TEST(Builds, ANewerReleaseThatFailsAloneIsSaidByTheOlderOne) {
  EXPECT_EQ(only_words(two_builds(10, 0)),
            "none of 10 seen (below 31%) in fork 2.9.1a0 (p < 0.001)");
}

TEST(Builds, WhichIsNewerIsNotGuessedFromTheOrderOfTheWorkers) {
  for (const int failures : {0, 10}) {
    SampleJournal sample = two_builds(failures, 10 - failures);
    sample.journal.provenances["build-b"]["torch"]["version"] = "2.15.0+cu130";
    EXPECT_EQ(only_words(sample), std::string("none of 10 seen (below 31%) in ") +
                                      (failures == 10 ? "fork 2.15.0+cu130 (p < 0.001)"
                                                      : "stock 2.15.0+cpu (p < 0.001)"));
  }
}

TEST(Builds, NothingIsFixedOnAnotherPathOrWithoutALook) {
  SampleJournal sample = two_builds(10, 0);
  observe(sample, 10, 20, "graph");
  EXPECT_EQ(only_words(sample),
            "inconclusive: on fork another path was taken than the cell asks for");
  sample = two_builds(10, 0);
  for (size_t i = 0; i < 20; ++i) {
    TrialRecord& trial = sample.journal.trials[i];
    if (i < 10) trial.judgement = Judgement{Outcome::wrong_result, "", "wrong result: linear"};
    if (i >= 10) trial.processes[0].result->checked = 0;
  }
  EXPECT_THAT(only_words(sample),
              HasSubstr("inconclusive: results were wrong, and on fork none was compared"));
}

TEST(Builds, OnAnotherDeviceAreNotTested) {
  SampleJournal sample = two_builds(10, 0);
  sample.journal.provenances["build-b"]["device"] = "Apple M1";
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.comparisons, SizeIs(1));
  EXPECT_EQ(analysis.comparisons[0].conclusion, Conclusion::other_device);
  EXPECT_EQ(analysis.comparisons[0].p, 1);
  EXPECT_EQ(only_words(sample), "inconclusive: another device, or not said which; not tested");
  EXPECT_THAT(report_markdown(analysis), HasSubstr("in which something failed, here 0."));
}

TEST(Layers, OfARunThatWasResumedOnAnotherMachineAreNotTested) {
  SampleJournal sample;
  sample.journal.provenances["elsewhere"] = sample.journal.provenances["build-a"];
  sample.journal.provenances["elsewhere"]["device"] = "Apple M1";
  sample.plan(kMps).ran(10, 10);
  sample.provenance = "elsewhere";
  sample.plan(kMetal).ran(10);
  EXPECT_EQ(only_words(sample), "inconclusive: another device, or not said which; not tested");
  // The same, where the first machine had run both: two arms, and of each pair only one is fair.
  SampleJournal both;
  both.journal.provenances["elsewhere"] = sample.journal.provenances["elsewhere"];
  both.plan(kMps).ran(10, 10);
  both.plan(kMetal).ran(5);
  both.provenance = "elsewhere";
  both.ran(5);
  for (size_t i = 15; i < 20; ++i) both.journal.trials[i].trial = static_cast<int>(i) - 10;
  const Analysis analysis = analyse(both.journal);
  ASSERT_THAT(analysis.comparisons, SizeIs(2));
  EXPECT_TRUE(analysis.comparisons[0].tested);
  EXPECT_EQ(analysis.comparisons[1].conclusion, Conclusion::other_device);
}

TEST(Builds, FewerFailuresAreRarer) {
  EXPECT_EQ(only_words(two_builds(20, 5, 20)),
            "rarer in fork 2.9.1a0 than in stock 2.15.0+cpu (p < 0.001)");
  EXPECT_EQ(only_words(two_builds(5, 20, 20)),
            "rarer in stock 2.15.0+cpu than in fork 2.9.1a0 (p < 0.001)");
}

TEST(Builds, TheSameLibraryTwiceComparesNothing) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  sample.plan(kMps).ran(10, 10).ran(10, 0, SampleJournal::segfault(), "fork");
  EXPECT_EQ(only_words(sample), "inconclusive: both workers loaded the same library");
}

TEST(Builds, ALibraryThatNobodyProvedComparesNothing) {
  SampleJournal sample = two_builds(10, 0);
  sample.journal.provenances["build-b"] = {{"device", "x"}};
  EXPECT_EQ(only_words(sample), "inconclusive: it is not proved which library ran");
}

TEST(Layers, MarkdownShowsCountsAndConclusions) {
  SampleJournal sample = two_layers(10, 0);
  sample.plan("mps/add/default/threads=2").ran(10);
  sample.plan("cpu/add/default/threads=2").ran(10);
  const std::string text = report_markdown(analyse(sample.journal));
  EXPECT_THAT(text, HasSubstr("## What each layer showed\n"));
  EXPECT_THAT(text, HasSubstr("corrected (Holm) for the pairs in which something failed, here 1."));
  EXPECT_THAT(text, HasSubstr("| `linear/nograph/threads=4` | mps 10/10 | metal 0/10 | < 0.001 | "
                              "< 0.001 | none of 10 seen (below 31%) without PyTorch |\n"));
  EXPECT_THAT(text, HasSubstr("Without a failure on either side: 1 pair.\n"));
}

TEST(Builds, MarkdownNamesBothBuilds) {
  EXPECT_THAT(
      report_markdown(analyse(two_builds(10, 0).journal)),
      HasSubstr("| `mps/linear/nograph/threads=4` | stock `2.15.0+cpu` 10/10 | fork "
                "`2.9.1a0` 0/10 | < 0.001 | < 0.001 | none of 10 seen (below 31%) in fork 2.9.1a0 "
                "(p &lt; 0.001) |\n"));
}

TEST(Layers, AbsentWhereNothingCanBeCompared) {
  EXPECT_THAT(report_markdown(analyse(report_000().journal)),
              Not(HasSubstr("What each layer showed")));
}

}  // namespace
}  // namespace mpsprobe

#include "reports/difference/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/test_series.h"
#include "reports/difference/difference_words.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Failures by threads, of 20 trials each.
RunFacts run_of(const std::map<int, int>& failures) {
  SampleJournal sample;
  sample.journal.header.trials = 20;
  for (const auto& [threads, failed] : failures) {
    sample.plan("sim/linear/nograph/threads=" + std::to_string(threads)).ran(20, failed);
  }
  return run_facts("run", analyse(sample.journal));
}

TEST(Difference, NewAndNotSeenAnyMore) {
  const RunFacts before = run_of({{1, 0}, {2, 0}, {3, 20}, {4, 20}});
  const RunFacts after = run_of({{1, 0}, {2, 15}, {3, 20}, {4, 0}});
  const Difference difference = compare_runs(before, after);
  ASSERT_THAT(difference.changes, SizeIs(2));
  EXPECT_EQ(difference.changes[0].change, Change::none_seen);
  EXPECT_EQ(difference.changes[0].cell, "sim/linear/nograph/threads=4");
  EXPECT_EQ(difference.changes[1].change, Change::new_failure);
  const std::string text = difference_text(before, after, difference);
  EXPECT_THAT(text, HasSubstr("SIMULATED"));
  EXPECT_THAT(text, HasSubstr("0/20 -> 15/20"));
}

TEST(Difference, WhatChanceMayHaveDoneIsNotClaimed) {
  const Difference difference = compare_runs(run_of({{2, 0}, {3, 5}}), run_of({{2, 1}, {3, 9}}));
  EXPECT_THAT(difference.changes, SizeIs(0));
  ASSERT_THAT(difference.unclear, SizeIs(1));
  EXPECT_EQ(difference.unclear[0].cell, "sim/linear/nograph/threads=2");
  ASSERT_TRUE(difference.unclear[0].more_trials.has_value());
  EXPECT_GT(*difference.unclear[0].more_trials, 50);
}

// What failed and is refused now has neither been mended nor come to be worse.
TEST(Difference, WhatIsRefusedNowIsSaid) {
  const RunFacts before = run_of({{2, 20}, {3, 0}});
  RunFacts after = run_of({{2, 0}, {3, 0}});
  for (auto& [key, facts] : after.cells) {
    if (facts.cell.threads != 2) continue;
    facts.refused = 20;
    facts.counted = 0;
  }
  const Difference difference = compare_runs(before, after);
  EXPECT_EQ(difference.compared, 2);
  ASSERT_THAT(difference.changes, SizeIs(1));
  EXPECT_EQ(difference.changes[0].change, Change::refused);
  EXPECT_THAT(difference.went, IsEmpty());
  EXPECT_THAT(difference_text(before, after, difference),
              HasSubstr("0/20 -> 20/20  failed 20/20 -> 0/0 beside that"));
}

// A number of trials that results decided needs a p-value that holds at any stopping time.
TEST(Difference, OfARunThatSettledIsClaimedWithMoreCaution) {
  const auto with = [](int failures, Sampling sampling) {
    RunFacts facts;
    facts.arms["stock"] = {};
    facts.sampling = sampling;
    CellFacts cell;
    cell.cell.op = "linear";
    cell.planned = cell.counted = 10;
    cell.failures = failures;
    facts.cells[{"stock", to_string(cell.cell)}] = cell;
    return facts;
  };
  const RunFacts before = with(0, Sampling::fixed);
  EXPECT_THAT(compare_runs(before, with(6, Sampling::fixed)).changes, SizeIs(1));
  EXPECT_THAT(compare_runs(before, with(6, Sampling::looking)).changes, IsEmpty());
  EXPECT_THAT(compare_runs(before, with(10, Sampling::looking)).changes, SizeIs(1));
}

TEST(Difference, AnotherSignatureInACellThatFailsAsOftenIsNew) {
  SampleJournal before;
  before.plan("sim/linear/nograph/threads=3").ran(10, 10);
  SampleJournal after;
  after.plan("sim/linear/nograph/threads=3").ran(10, 10, SampleJournal::hang());
  const Difference difference =
      compare_runs(run_facts("a", analyse(before.journal)), run_facts("b", analyse(after.journal)));
  ASSERT_THAT(difference.changes, SizeIs(2));
  for (const CellChange& change : difference.changes) {
    EXPECT_TRUE(change.change == Change::new_signature ||
                change.change == Change::signature_unseen);
    EXPECT_EQ(change.title.starts_with("hang"), change.change == Change::new_signature);
  }
}

TEST(Difference, CellsComeAndGo) {
  const Difference difference = compare_runs(run_of({{2, 0}, {3, 5}}), run_of({{3, 5}, {4, 5}}));
  EXPECT_THAT(difference.came, ::testing::ElementsAre("sim/linear/nograph/threads=4"));
  EXPECT_THAT(difference.went, ::testing::ElementsAre("sim/linear/nograph/threads=2"));
}

TEST(Difference, AReportGivesWhatItsJournalGives) {
  const Journal journal = report_000().journal;
  const Analysis analysis = analyse(journal);
  const RunFacts from_report =
      run_facts("run", nlohmann::json::parse(json_document(report_json(journal, analysis))));
  const RunFacts from_journal = run_facts("run", analysis);
  EXPECT_EQ(
      difference_json(from_journal, from_report, compare_runs(from_journal, from_report)).dump(),
      difference_json(from_journal, from_journal, compare_runs(from_journal, from_journal)).dump());
  EXPECT_THROW(run_facts("x", nlohmann::json{{"cells", 1}}), InputError);
}

TEST(Difference, OtherMachinesAndLibrariesAreNamed) {
  const RunFacts before = run_of({{2, 0}});
  RunFacts after = before;
  EXPECT_THAT(unlike(before, after).machines, SizeIs(0));
  after.machine["chip"] = "Apple M4";
  after.arms.begin()->second.library = "LibTorch 2.16.0";
  EXPECT_THAT(unlike(before, after).machines, SizeIs(1));
  EXPECT_THAT(unlike(before, after).libraries, SizeIs(1));
  EXPECT_THAT(unlike(before, after).code, SizeIs(0));
  after.code = "pl crash";
  EXPECT_THAT(unlike(before, after).code, SizeIs(1));
}

// Of Python code the file without its folder: a checkout elsewhere is the same code.
TEST(Difference, OwnCodeIsToldFromTheEnvironmentOfTheRun) {
  SampleJournal sample;
  const auto code = [&sample](const std::string& variable) {
    sample.journal.header.environment = {"A=b", variable};
    return run_facts("x", analyse(sample.journal)).code;
  };
  EXPECT_EQ(code("MPSPROBE_PYTHON_CODE=/x/y/a.py::crash"), "a.py::crash");
  EXPECT_EQ(code("MPSPROBE_PYTHON_CODE=module::crash"), "module::crash");
  EXPECT_EQ(code("MPSPROBE_PYTEST=/x/tests"), "tests");
  EXPECT_EQ(code(R"(MPSPROBE_COMMAND={"folder":"/x","words":["./pl","ok"]})"), "./pl ok");
  EXPECT_EQ(code("C=d"), "");
}

TEST(Difference, AnotherReleaseOfAPackageIsNamedAndOneLoadedOnceIsNot) {
  RunFacts before = run_of({{2, 0}});
  RunFacts after = before;
  before.arms.begin()->second.packages = {"duckdb 1.4.2", "numpy 2.1.0"};
  after.arms.begin()->second.packages = {"numpy 2.2.0", "pandas 3.0.0"};
  EXPECT_THAT(unlike(before, after).libraries,
              ::testing::ElementsAre("package: \"numpy 2.1.0\" and \"numpy 2.2.0\""));
}

/// A run of one build: 60 cells of which some never fail, some always, some now and then, in one
/// way or in two.
RunFacts night(std::mt19937_64& random) {
  RunFacts facts;
  facts.arms["stock"] = {};
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < 60; ++i) {
    CellFacts cell;
    cell.cell.op = "op" + std::to_string(i / 6);
    cell.cell.threads = i % 6 + 1;
    cell.planned = cell.counted = 10;
    const double rates[] = {0, 0.02, 0.1, 0.3, 0.7, 1};
    for (int trial = 0; trial < 10; ++trial) {
      if (uniform(random) >= rates[i % 6]) continue;
      ++cell.failures;
      ++cell.titles[i % 4 == 0 && uniform(random) < 0.4 ? "hang" : "SIGSEGV"];
    }
    facts.cells[{"stock", to_string(cell.cell)}] = cell;
  }
  return facts;
}

TEST(Difference, ClaimsSomethingOfTheSameBuildInAtMostOneOfTwentyPairs) {
  std::mt19937_64 random(20260131);
  constexpr int kPairs = series(1000, 60);
  int claimed = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    const RunFacts before = night(random);
    const Difference difference = compare_runs(before, night(random));
    claimed += difference.changes.empty() ? 0 : 1;
  }
  RecordProperty("pairs_with_a_claim", claimed);
  EXPECT_LE(claimed, kPairs / 20);
}

}  // namespace
}  // namespace mpsprobe

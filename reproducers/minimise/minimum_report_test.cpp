#include "reproducers/minimise/minimum_report.h"

#include <gmock/gmock.h>

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Minimum sample_report() {
  Minimum minimum;
  minimum.state = MinimumState::complete;
  minimum.start = parse_cell("mps/mlp/default/threads=8/iterations=50");
  minimum.cell = parse_cell("mps/linear/default/threads=3/iterations=1");
  minimum.signature = "SIGSEGV in f";
  minimum.worker = "stock";
  minimum.baseline = {8, 20, 1, 2};
  minimum.question = question_for({8, 20}, 300);
  minimum.reliability = {4, 10, 0, 0};
  minimum.steps.push_back({"op mlp -> linear", minimum.cell, StepResult::kept, {2, 5, 1, 0}, ""});
  minimum.steps.push_back({"threads 3 -> 2", minimum.cell, StepResult::dropped, {0, 9, 0, 0}, ""});
  minimum.conditions.push_back(
      {"threads 3 -> 2", minimum.cell, true, {0, 30, 2, 0}, 0.002, 0.004, true, ""});
  minimum.conditions.push_back(
      {"lock none -> forward", minimum.cell, false, {2, 30, 0, 0}, 0.003, 0.006, true, ""});
  minimum.conditions.push_back(
      {"warmup none -> main", minimum.cell, false, {11, 30, 0, 0}, 1, 1, false, ""});
  minimum.rerun = {"mpsprobe", "run", "--cell", to_string(minimum.cell)};
  minimum.conditions.push_back(
      {"sync each -> end", minimum.cell, false, {}, 1, 1, false, "with one iteration"});
  return minimum;
}

TEST(MinimumReport, ShowsThePathTheMinimumItsReliabilityAndWhatIsNecessary) {
  const std::string text = minimum_markdown(sample_report());
  EXPECT_THAT(text, StartsWith("# Minimal form of `SIGSEGV in f`"));
  EXPECT_THAT(text, HasSubstr("| 1 | 2/5 | `op mlp -> linear` | **kept** | 1 failed with another "
                              "signature |"));
  EXPECT_THAT(text, HasSubstr("| none | 4/10 |"));
  EXPECT_THAT(text, HasSubstr("| `threads 3 -> 2` | 0/30 (2 failed with another signature) | 0.002 "
                              "| 0.004 | none in 30 (below 12%) |"));
  EXPECT_THAT(text, HasSubstr("| `lock none -> forward` | 2/30 | 0.003 | 0.006 | rarer |"));
  EXPECT_THAT(text,
              HasSubstr("| `warmup none -> main` | 11/30 | 1.000 | 1.000 | no difference shown |"));
  EXPECT_THAT(text, HasSubstr("not run: with one iteration"));
  EXPECT_THAT(text, HasSubstr("4 of 10 failed"));
  EXPECT_THAT(text, HasSubstr("One failure in 2.5 runs is to be expected; 42 runs show one"));
  EXPECT_THAT(text, HasSubstr("mpsprobe run --cell mps/linear/default/threads=3/iterations=1"));
  EXPECT_THAT(text, Not(HasSubstr("SIMULATED")));
  const std::string terminal = minimum_terminal(sample_report());
  EXPECT_THAT(terminal, HasSubstr("none in 30 (below 12%)    0/30  threads 3 -> 2"));
  EXPECT_THAT(terminal, HasSubstr("minimal cell: mps/linear/default/threads=3/iterations=1"));
}

TEST(MinimumReport, AConditionWithoutWhichItFailsMoreOftenIsSaidToDoThat) {
  Minimum minimum = sample_report();
  minimum.reliability = {62, 200, 0, 0};
  minimum.conditions = {
      {"warmup none -> main", minimum.cell, false, {106, 200, 0, 0}, 0.00001, 0.00002, false, ""}};
  EXPECT_THAT(minimum_markdown(minimum), HasSubstr("| 106/200 | below 0.001 | below 0.001 | more "
                                                   "often |"));
}

TEST(MinimumReport, SaysWhatTheTableMayHaveMissed) {
  Minimum minimum = sample_report();
  EXPECT_THAT(minimum_markdown(minimum), Not(HasSubstr("--condition-trials")));
  minimum.condition_trials_missing = 312;
  const std::string says =
      "A change that halves the rate is seen in fewer than 90% of tables as short as this: that "
      "takes 312 trials of each row (--condition-trials 312).";
  EXPECT_THAT(minimum_markdown(minimum), HasSubstr(says));
  EXPECT_THAT(minimum_terminal(minimum), HasSubstr(says));
}

TEST(MinimumReport, WhatIsSimulatedSaysSoFirst) {
  Minimum minimum = sample_report();
  minimum.simulated = true;
  EXPECT_THAT(minimum_markdown(minimum), StartsWith("# SIMULATED: "));
  EXPECT_THAT(minimum_terminal(minimum), StartsWith("SIMULATED"));
}

TEST(MinimumReport, ANonFailingCellGetsNoTables) {
  Minimum minimum = sample_report();
  minimum.state = MinimumState::not_failing;
  minimum.baseline = {0, 59, 0, 0};
  minimum.note = "0 of 59 failed";
  EXPECT_THAT(minimum_markdown(minimum), HasSubstr("did not fail here"));
  EXPECT_THAT(minimum_markdown(minimum), Not(HasSubstr("## ")));
  EXPECT_THAT(minimum_terminal(minimum), Not(HasSubstr("minimal cell")));
}

TEST(MinimumReport, TextOfWorkersActsOnNoReader) {
  Minimum minimum = sample_report();
  const std::string hostile = "\x1b[2J`</code><script>@all #1 |\n# x\xff";
  minimum.signature = hostile;
  minimum.worker = "\x1b[2J`</code>";
  minimum.build.version = hostile;
  minimum.environment = {"A=\x1b[2J```\xff"};
  minimum.conditions[2].skipped = hostile;
  minimum.steps[0].reason = hostile;
  for (const std::string& text : {minimum_markdown(minimum), minimum_terminal(minimum)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
  const std::string markdown = minimum_markdown(minimum);
  EXPECT_THAT(markdown, Not(HasSubstr("\n# x")));
}

}  // namespace
}  // namespace mpsprobe

#include "reports/expectations/write_expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/input/input_error.h"
#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

RunFacts run_on(int day, int trials, const std::map<int, int>& failures) {
  SampleJournal sample;
  sample.journal.header.trials = trials;
  for (const auto& [threads, failed] : failures) {
    sample.plan("sim/linear/nograph/threads=" + std::to_string(threads)).ran(trials, failed);
  }
  RunFacts facts = run_facts("run", analyse(sample.journal));
  facts.started = "2026-11-1" + std::to_string(day) + "T01:17:00.000Z";
  return facts;
}

ExpectationsUpdate updated(const std::string& text, const RunFacts& run,
                           const std::vector<RunFacts>& earlier = {}) {
  const auto known =
      text.empty() ? std::vector<KnownFailure>() : parse_expectations(text, "e.json");
  return update_expectations(text, "e.json", known, run, judge_expectations(known, run, earlier));
}

TEST(UpdateExpectations, BeginsAFileSortedAndAddsToIt) {
  const ExpectationsUpdate begun = updated("", run_on(1, 10, {{4, 5}, {2, 0}, {3, 2}}));
  ASSERT_THAT(begun.changes, SizeIs(2));
  EXPECT_THAT(begun.changes[0], StartsWith("+ sim/linear/nograph/threads=3"));
  EXPECT_THAT(begun.changes[1], EndsWith(": 5/10"));
  const auto known = parse_expectations(begun.text, "e.json");
  ASSERT_THAT(known, SizeIs(2));
  EXPECT_TRUE(known[0].recorded);
  EXPECT_TRUE(known[0].where.simulated);
  EXPECT_EQ(known[0].seen.failures, 2);

  const ExpectationsUpdate more = updated(begun.text, run_on(2, 10, {{2, 0}, {3, 1}}));
  ASSERT_THAT(more.changes, SizeIs(1));
  EXPECT_THAT(more.changes[0], HasSubstr("2/10 -> 3/20"));
  EXPECT_EQ(more.unchanged, 1);
  const auto then = parse_expectations(more.text, "e.json");
  EXPECT_EQ(then[0].source.at("first_seen"), "2026-11-11T01:17:00.000Z");
  EXPECT_EQ(then[0].until, "2026-11-12T01:17:00.000Z");
}

TEST(UpdateExpectations, OwnCodeIsPartOfWhatIsRecorded) {
  RunFacts run = run_on(1, 10, {{3, 2}});
  run.code = "sh -c exit [1]";
  const std::string once = updated("", run).text;
  EXPECT_EQ(parse_expectations(once, "e.json")[0].where.code, run.code);
  EXPECT_THAT(updated(once, run).changes, IsEmpty());
  run.code = "sh -c exit 2";
  EXPECT_THAT(updated(once, run).changes, ElementsAre(StartsWith("+ ")));
}

TEST(UpdateExpectations, TheSameRunTwiceChangesNothing) {
  const RunFacts run = run_on(1, 10, {{3, 2}});
  const std::string once = updated("", run).text;
  const ExpectationsUpdate twice = updated(once, run);
  EXPECT_THAT(twice.changes, IsEmpty());
  EXPECT_EQ(twice.text, once);
}

// What people wrote keeps every byte, whatever its style.
TEST(UpdateExpectations, RewritesItsOwnBlockAlone) {
  const std::string head =
      "{ \"mpsprobe_expectations\":1,\n\t\"known\" : [ "
      "{\"where\":{\"simulated\":true,\"cells\":[\"sim/"
      "mlp/*\"]},\n\"signature\":\"a ] \\\" } \\\\\" , \"owner\":\"recorded\"} ],\n\n";
  const std::string tail = ",  \"$schema\": \"x\"}\n\n";
  const RunFacts run = run_on(1, 10, {{3, 2}});
  const std::string text = updated(head + "\"recorded\": [ ]" + tail, run).text;
  EXPECT_THAT(text, StartsWith(head + "\"recorded\": ["));
  EXPECT_THAT(text, EndsWith("]" + tail));
  EXPECT_THAT(parse_expectations(text, "e.json"), SizeIs(2));

  const std::string without = "{\"mpsprobe_expectations\": 1}";
  const std::string added = updated(without, run).text;
  EXPECT_THAT(added, StartsWith("{\"mpsprobe_expectations\": 1,\n  \"recorded\": [\n"));
  EXPECT_THAT(parse_expectations(added, "e.json"), SizeIs(1));
}

TEST(UpdateExpectations, WhatPeopleKnowIsNotRecordedAgain) {
  const RunFacts run = run_on(1, 10, {{3, 2}});
  const std::string text =
      R"({"mpsprobe_expectations": 1, "known": [{"where": {"simulated": true}, "outcome": "signal"}]})";
  const ExpectationsUpdate update = updated(text, run);
  EXPECT_THAT(update.changes, IsEmpty());
  EXPECT_EQ(update.text, text);
}

TEST(UpdateExpectations, WhatIsGoneIsTakenOutAndANewRateTakesTheOldOnesPlace) {
  const std::string known = updated("", run_on(1, 40, {{3, 20}, {4, 4}})).text;
  const ExpectationsUpdate gone = updated(known, run_on(2, 40, {{3, 0}, {4, 30}}));
  ASSERT_THAT(gone.changes, SizeIs(2));
  EXPECT_THAT(gone.changes[0], StartsWith("- sim/linear/nograph/threads=3"));
  EXPECT_THAT(gone.changes[1], HasSubstr("4/40 -> 30/40"));
  EXPECT_THAT(parse_expectations(gone.text, "e.json"), SizeIs(1));
}

}  // namespace
}  // namespace mpsprobe

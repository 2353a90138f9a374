#include "reports/expectations/judge_expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/input/input_error.h"
#include "reports/expectations/expectation_words.h"
#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kFailingCell = "sim/linear/nograph/threads=3";

/// A night in which the cell failed in `failures` of `trials`, as `how`.
RunFacts night_of(int day, int trials, int failures,
                  const Judgement& how = SampleJournal::segfault()) {
  SampleJournal sample;
  sample.journal.header.trials = trials;
  sample.journal.header.matrix_name = "default";
  sample.journal.header.machine = {
      {"chip", "Apple M3 Max"}, {"os", "macOS"}, {"os_build", "25B78"}};
  sample.plan("sim/linear/nograph/threads=1").ran(trials, 0);
  sample.plan(kFailingCell).ran(trials, failures, how);
  RunFacts facts = run_facts("night", analyse(sample.journal));
  facts.started =
      "2026-11-" + std::string(day < 10 ? "0" : "") + std::to_string(day) + "T01:17:00Z";
  return facts;
}

std::string title_of_segfault() {
  return night_of(1, 1, 1).outcomes.begin()->first;
}

/// A file with one entry: its `where` without "simulated", and what follows.
std::vector<KnownFailure> known_as(const std::string& where, const std::string& rest) {
  return parse_expectations(
      R"({"mpsprobe_expectations": 1, "known": [{"where": {"simulated": true)" +
          (where.empty() ? "" : ", " + where) + "}, " + rest + "}]}",
      "e.json");
}

std::string segfault_seen(const std::string& more = R"("failures": 10, "trials": 100)") {
  return R"("signature": ")" + title_of_segfault() + "\"" + (more.empty() ? "" : ", " + more);
}

EntryStanding standing_of(const std::vector<KnownFailure>& known, const RunFacts& run,
                          const std::vector<RunFacts>& earlier = {}) {
  const Findings findings = judge_expectations(known, run, earlier);
  EXPECT_THAT(findings.entries, SizeIs(1));
  return findings.entries.empty() ? EntryStanding::not_run : findings.entries[0].standing;
}

TEST(Expectations, AKnownFailureIsNotNewAndAnotherSignatureIs) {
  const auto known = known_as("", segfault_seen());
  const Findings same = judge_expectations(known, night_of(2, 10, 1), {});
  EXPECT_THAT(same.unknown, IsEmpty());
  EXPECT_EQ(same.expected, 1);
  EXPECT_EQ(standing_of(known, night_of(2, 10, 1)), EntryStanding::as_known);

  const Findings other = judge_expectations(known, night_of(2, 10, 1, SampleJournal::hang()), {});
  ASSERT_THAT(other.unknown, SizeIs(1));
  EXPECT_EQ(other.unknown[0].cell, kFailingCell);
  EXPECT_TRUE(other.unknown[0].otherwise_known);
  EXPECT_THAT(findings_text(known, night_of(2, 10, 1, SampleJournal::hang()), other),
              HasSubstr("known there is another failure"));
}

TEST(Expectations, OfOtherCodeTheSameCellIsAnotherOne) {
  const auto known = known_as(R"("code": "app.py::infer")", segfault_seen());
  RunFacts run = night_of(2, 10, 1);
  EXPECT_THAT(judge_expectations(known, run, {}).unknown, SizeIs(1));
  run.code = "app.py::infer";
  EXPECT_THAT(judge_expectations(known, run, {}).unknown, IsEmpty());
  run.code = "other.py::infer";
  EXPECT_THAT(judge_expectations(known, run, {}).unknown, SizeIs(1));
}

TEST(Expectations, OneBadNightIsNoNewsAndSeveralAre) {
  const auto known =
      known_as(R"("axes": {"threads": [3]})", segfault_seen(R"("failures": 100, "trials": 1000)"));
  EXPECT_EQ(standing_of(known, night_of(2, 10, 3)), EntryStanding::as_known);
  std::vector<RunFacts> nights;
  for (int day = 2; day < 8; ++day) nights.push_back(night_of(day, 10, 3));
  const Findings findings = judge_expectations(known, night_of(8, 10, 3), nights);
  ASSERT_THAT(findings.entries, SizeIs(1));
  EXPECT_EQ(findings.entries[0].standing, EntryStanding::more_often);
  EXPECT_EQ(findings.entries[0].since, "2026-11-02T01:17:00Z");
  EXPECT_EQ(findings.entries[0].further.trials, 70);
  EXPECT_THAT(findings_text(known, night_of(8, 10, 3), findings),
              HasSubstr("since 2026-11-02: 21/70"));
}

TEST(Expectations, NightsThatTheRecordCountsAreNoFurtherEvidence) {
  const auto known = known_as(
      R"("axes": {"threads": [3]})",
      segfault_seen(R"("failures": 100, "trials": 1000, "until": "2026-11-07T12:00:00Z")"));
  std::vector<RunFacts> nights;
  for (int day = 2; day < 8; ++day) nights.push_back(night_of(day, 10, 3));
  nights.push_back(night_of(20, 10, 10));  // after the run that is judged
  const Findings findings = judge_expectations(known, night_of(8, 10, 3), nights);
  EXPECT_EQ(findings.entries.at(0).standing, EntryStanding::as_known);
  EXPECT_EQ(findings.entries.at(0).further.trials, 10);
}

TEST(Expectations, GoneOnlyWhereItsOwnRateMakesItSo) {
  const auto often = known_as("", segfault_seen(R"("failures": 50, "trials": 100)"));
  EXPECT_EQ(standing_of(often, night_of(2, 40, 0)), EntryStanding::unseen);
  EXPECT_EQ(standing_of(often, night_of(2, 5, 0)), EntryStanding::silent);
  const auto rare = known_as("", segfault_seen(R"("failures": 10, "trials": 1000)"));
  const Findings findings = judge_expectations(rare, night_of(2, 40, 0), {});
  EXPECT_EQ(findings.entries.at(0).standing, EntryStanding::silent);
  EXPECT_THAT(findings_text(rare, night_of(2, 40, 0), findings), HasSubstr("not seen, which"));
}

TEST(Expectations, FewerFailuresAreToldOf) {
  const auto known = known_as("", segfault_seen(R"("failures": 95, "trials": 100)"));
  EXPECT_EQ(standing_of(known, night_of(2, 20, 4)), EntryStanding::less_often);
}

TEST(Expectations, AnOutcomeIsAnySignatureThatNoOtherEntryNames) {
  const auto known = parse_expectations(
      R"({"mpsprobe_expectations": 1, "known": [
        {"where": {"simulated": true}, "outcome": "signal"},
        {"where": {"simulated": true}, )" +
          segfault_seen("") + "}]}",
      "e.json");
  const Findings findings = judge_expectations(known, night_of(2, 10, 4), {});
  EXPECT_THAT(findings.unknown, IsEmpty());
  ASSERT_THAT(findings.entries, SizeIs(2));
  EXPECT_EQ(findings.entries[0].tonight.failures, 0);
  EXPECT_EQ(findings.entries[1].tonight.failures, 4);
  EXPECT_THAT(judge_expectations({known[0]}, night_of(2, 10, 4), {}).unknown, IsEmpty());
  EXPECT_THAT(judge_expectations({known[0]}, night_of(2, 10, 4, SampleJournal::hang()), {}).unknown,
              SizeIs(1));
}

// What corrupts memory dies in many ways.
TEST(Expectations, AnyFailureMayBeKnownAndIsWhatNoOtherEntryKnows) {
  const auto known = parse_expectations(R"({"mpsprobe_expectations": 1, "known": [
        {"where": {"simulated": true}, "outcome": "any"},
        {"where": {"simulated": true}, "outcome": "hang"}]})",
                                        "e.json");
  const Findings crash = judge_expectations(known, night_of(2, 10, 4), {});
  EXPECT_THAT(crash.unknown, IsEmpty());
  EXPECT_EQ(crash.entries.at(0).tonight.failures, 4);
  const Findings hang = judge_expectations(known, night_of(2, 10, 4, SampleJournal::hang()), {});
  EXPECT_EQ(hang.entries.at(0).tonight.failures, 0);
  EXPECT_EQ(hang.entries.at(1).tonight.failures, 4);
}

TEST(Expectations, WhereIsByCellAxisMachineAndLibrary) {
  const auto knows = [](const std::string& where) {
    const auto known = known_as(where, segfault_seen());
    return judge_expectations(known, night_of(2, 10, 4), {}).unknown.empty();
  };
  EXPECT_TRUE(knows(""));
  for (const char* where :
       {R"("cells": ["sim/linear/*"])", R"("cells": ["sim/linear/nograph/threads=3"])",
        R"("axes": {"threads": ["3-8"], "op": ["linear"]})", R"("matrix": "def*")",
        R"("worker": "stock")", R"("chip": "Apple M3*")", R"("os": "macOS")",
        R"("os_build": {"from": "25A1", "before": "25C1"})", R"("paravirtual": false)"}) {
    EXPECT_TRUE(knows(where)) << where;
  }
  for (const char* where :
       {R"("cells": ["sim/mlp/*"])", R"("cells": ["sim/linear/nograph/threads=4"])",
        R"("axes": {"threads": [4]})", R"("matrix": "quick")", R"("worker": "nightly")",
        R"("chip": "Apple M2*")", R"("os_build": {"from": "25C1"})",
        R"("os_build": {"before": "25B78"})", R"("library": {"name": "MLX"})",
        R"("paravirtual": true)"}) {
    EXPECT_FALSE(knows(where)) << where;
  }
}

TEST(Expectations, WhatIsKnownOfARealDeviceExcusesNoSimulatedOneAndTheOtherWayRound) {
  auto known = known_as("", segfault_seen());
  known[0].where.simulated = false;
  EXPECT_THAT(judge_expectations(known, night_of(2, 10, 4), {}).unknown, SizeIs(1));
}

TEST(Expectations, OfTwoThatKnowTheSameOfOneCellTheFirstHasIt) {
  const auto known = parse_expectations(
      R"({"mpsprobe_expectations": 1, "known": [
        {"where": {"simulated": true, "axes": {"threads": ["2-4"]}}, )" +
          segfault_seen() + R"(},
        {"where": {"simulated": true, "axes": {"op": ["linear"]}}, )" +
          segfault_seen() + "}]}",
      "e.json");
  const Findings findings = judge_expectations(known, night_of(2, 10, 4), {});
  ASSERT_THAT(findings.entries, SizeIs(2));
  EXPECT_EQ(findings.entries[0].tonight.failures, 4);
  EXPECT_EQ(findings.entries[1].tonight.failures, 0);
}

TEST(Expectations, OneThatNamesTheMatrixAndMatchesNothingIsListed) {
  const auto slip = known_as(R"("matrix": "default", "axes": {"threads": [7]})", segfault_seen());
  EXPECT_EQ(standing_of(slip, night_of(2, 10, 0)), EntryStanding::not_run);
  const auto of_another = known_as(R"("axes": {"threads": [7]})", segfault_seen());
  EXPECT_THAT(judge_expectations(of_another, night_of(2, 10, 0), {}).entries, IsEmpty());
}

TEST(Expectations, ExpireOnTheirDate) {
  const auto known = known_as("", segfault_seen() + R"(, "review_by": "2026-11-05")");
  EXPECT_FALSE(judge_expectations(known, night_of(5, 10, 1), {}).entries.at(0).expired);
  EXPECT_TRUE(judge_expectations(known, night_of(6, 10, 1), {}).entries.at(0).expired);
}

TEST(Expectations, WhatDidNotRunIsNotGone) {
  RunFacts run = night_of(2, 10, 0);
  for (auto& [key, cell] : run.cells) cell.counted = 0;
  EXPECT_EQ(standing_of(known_as("", segfault_seen()), run), EntryStanding::not_run);
}

TEST(Expectations, NameTheSlip) {
  const auto refuses = [](const std::string& entry, const std::string& words) {
    try {
      parse_expectations(R"({"mpsprobe_expectations": 1, "known": [)" + entry + "]}", "e.json");
      ADD_FAILURE() << entry;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  };
  refuses(R"({"where": {}, "signature": "a"}, {"where": {}, "signature": "a"})",
          "e.json: known[1]: is of the same place and failure as e.json: known[0]");
  refuses(R"({"where": {"cels": []}, "signature": "a"})", "did you mean \"cells\"?");
  refuses(R"({"where": {"axes": {"thread": [1]}}, "signature": "a"})", "did you mean \"threads\"?");
  refuses(R"({"where": {"cells": ["mps/linear/default/thread=2"]}, "signature": "a"})",
          "known[0].where.cells[0]");
  refuses(R"({"where": {}, "outcome": "hangs"})", "did you mean \"hang\"?");
  refuses(R"({"where": {}, "outcome": "unsupported"})", "is no failure");
  refuses(R"({"where": {}, "signature": "a", "failures": 3, "trials": 2})", "known[0].failures");
  refuses(
      R"({"where": {"library": {"name": "LibTorch", "from": "2.16", "before": "2.9"}}, "signature": "a"})",
      "holds no version");
  refuses(R"({"where": {}, "signature": "a", "review_by": "2026-11-23T00:00:00Z"})", "is no date");
  refuses(R"({"where": {}, "signature": "a", "review_by": "2026-02-30"})", "is no date");
}

TEST(VersionRange, OrdersReleasesAndBuilds) {
  EXPECT_TRUE(version_before("2.9.1", "2.11.0"));
  EXPECT_FALSE(version_before("2.11.0", "2.9.1"));
  EXPECT_FALSE(version_before("2.11.0", "2.11.0+cu130"));
  EXPECT_FALSE(version_before("2.11.0+cu130", "2.11.0"));
  EXPECT_TRUE(version_before("2.11", "2.11.1"));
  EXPECT_TRUE(version_before("2.16.0.dev20261101", "2.16.0"));
  EXPECT_FALSE(version_before("2.16.0", "2.16.0.dev20261101"));
  EXPECT_TRUE(version_before("2.16.0rc1", "2.16.0"));
  EXPECT_TRUE(version_before("2.16.0rc2", "2.16.0rc10"));
  EXPECT_TRUE(version_before("2.16.0rc1", "2.16.1"));
  EXPECT_TRUE(version_before("25A354", "25B78"));
  EXPECT_TRUE(version_before("24G90", "25A354"));
  EXPECT_TRUE(version_before("25A354", "25A1234"));
  EXPECT_TRUE(version_before("25A354", "25A354a"));
}

TEST(VersionRange, HoldsFromTheFirstUpToTheLastWhichIsNotOfIt) {
  const VersionRange range{"2.11", "2.16.0"};
  EXPECT_TRUE(range.holds("2.11.0"));
  EXPECT_TRUE(range.holds("2.16.0.dev20261101"));
  EXPECT_FALSE(range.holds("2.16.0"));
  EXPECT_FALSE(range.holds("2.10.9"));
  EXPECT_FALSE(range.holds(""));
  EXPECT_TRUE(VersionRange{}.holds(""));
}

}  // namespace
}  // namespace mpsprobe

#include "reproducers/reverify/recheck.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "reports/sample_journal.h"
#include "reproducers/reverify/verification.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const BundleMachine kMac{"macOS 15.7.9", "24G830", "Mac16,5", "Apple M4 Max"};

class Recheck : public testing::Test {
 protected:
  Recheck() {
    // What the sample journal calls its builds: the first runs until the test says otherwise.
    const auto& provenance = sample_.journal.provenances.at("build-a").at("torch");
    build_a_ = {provenance.at("version"), provenance.at("git_hash"), provenance.at("build_id")};
    record_.signature = SampleJournal::segfault().signature;
    record_.simulated = true;
  }

  void had(const std::string& cell, int failures, int trials, const BundleBuild& build,
           bool control = false) {
    BundleCell entry;
    entry.cell = parse_cell(cell);
    entry.worker = "stock";
    entry.build = build;
    entry.failures = failures;
    entry.trials = trials;
    entry.control = control;
    entry.devices = {"simulated Metal device"};
    record_.cells.push_back(entry);
  }

  CellBeforeAndNow only() const { return before_and_now(record_, analyse(sample_.journal)).at(0); }

  SampleJournal sample_;
  BundleRecord record_;
  BundleBuild build_a_;
  BundleBuild build_c_{"2.9.0", "0123456", "cccc"};
};

constexpr const char* kCell = "sim/linear/nograph/threads=3";

TEST_F(Recheck, TheBundlesBuildIsTheOldArm) {
  had(kCell, 10, 10, build_a_);
  sample_.plan(kCell).ran(20, 20);
  const CellBeforeAndNow cell = only();
  ASSERT_TRUE(cell.old_arm.has_value());
  EXPECT_FALSE(cell.new_arm.has_value());
  EXPECT_EQ(cell.old_arm->same.failures, 20);
  EXPECT_EQ(cell.before.trials, 10);
  EXPECT_EQ(conclude({cell}).finding, RecheckFinding::still_fails);
}

TEST_F(Recheck, AnotherBuildIsTheNewArm) {
  had(kCell, 10, 10, build_c_);
  sample_.plan(kCell).ran(20, 0);
  const CellBeforeAndNow cell = only();
  EXPECT_FALSE(cell.old_arm.has_value());
  ASSERT_TRUE(cell.new_arm.has_value());
  EXPECT_THAT(conclude({cell}).reasons, ElementsAre(Reason::old_arm_not_run));
}

TEST_F(Recheck, OnlyTheBundlesSignatureIsItsFailure) {
  had(kCell, 10, 10, build_a_);
  sample_.plan(kCell).ran(6, 4, SampleJournal::hang());
  const CellBeforeAndNow cell = only();
  EXPECT_EQ(cell.old_arm->same.failures, 0);
  EXPECT_EQ(cell.old_arm->otherwise, 4);
  EXPECT_EQ(cell.old_arm->other_signature, SampleJournal::hang().signature);
}

TEST_F(Recheck, ATitleIsComparedAsTheBundleWouldHaveIt) {
  had(kCell, 10, 10, build_a_);
  Judgement personal = SampleJournal::segfault();
  personal.signature = "bad access in /Users/me/x.so";
  record_.signature = "bad access in ~/x.so";
  sample_.plan(kCell).ran(6, 6, personal);
  EXPECT_EQ(only().old_arm->same.failures, 0);
  const auto same = [](const std::string& today, const std::string& in_bundle) {
    return today == "bad access in /Users/me/x.so" && in_bundle == "bad access in ~/x.so";
  };
  const auto cells = before_and_now(record_, analyse(sample_.journal), same);
  EXPECT_EQ(cells.at(0).old_arm->same.failures, 6);
}

TEST_F(Recheck, OfACellThatFailedOnTwoBuildsTheOneThatRanCounts) {
  had(kCell, 10, 10, build_c_);
  had(kCell, 3, 10, build_a_);
  sample_.plan(kCell).ran(20, 5);
  const auto cells = before_and_now(record_, analyse(sample_.journal));
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].before.failures, 3);
  EXPECT_TRUE(cells[0].old_arm.has_value());
}

TEST_F(Recheck, ABuildThatPassedInTheBundleIsNotTheOldArm) {
  had(kCell, 10, 10, build_c_);
  had(kCell, 0, 10, build_a_);
  sample_.plan(kCell).ran(20, 0);
  EXPECT_FALSE(only().old_arm.has_value());
  EXPECT_TRUE(only().new_arm.has_value());
}

TEST_F(Recheck, APassWithoutOverlapIsSeen) {
  had(kCell, 10, 10, build_c_);
  sample_.overlap = false;
  sample_.plan(kCell).ran(20, 0);
  EXPECT_FALSE(only().new_arm->met);
}

TEST_F(Recheck, CellsAreRunOnce) {
  had(kCell, 10, 10, build_a_);
  had(kCell, 10, 10, build_c_);
  had("cpu/linear/default/threads=3", 0, 10, build_a_, true);
  std::vector<std::string> list;
  for (const Cell& cell : cells_to_run(record_)) list.push_back(to_string(cell));
  EXPECT_THAT(list, ElementsAre(kCell, "cpu/linear/default/threads=3"));
}

TEST(MatchBuilds, GoesByTheIdThenByWhatDiffers) {
  const auto match = [](const BundleBuild& a, const BundleBuild& b,
                        Backend backend = Backend::mps) {
    return match_builds(a, b, backend, kMac, kMac);
  };
  EXPECT_EQ(match({"1", "a", "x"}, {"1", "a", "x"}), BuildMatch::same);
  EXPECT_EQ(match({"1", "a", "x"}, {"1", "a", "y"}), BuildMatch::other);
  EXPECT_EQ(match({"1", "a", ""}, {"1", "a", "y"}), BuildMatch::unknown);
  EXPECT_EQ(match({"1", "a", ""}, {"2", "", ""}), BuildMatch::other);
  EXPECT_EQ(match({"1", "a", ""}, {"1", "b", ""}), BuildMatch::other);
  EXPECT_EQ(match({}, {}), BuildMatch::unknown);
  EXPECT_EQ(match({}, {"1", "a", "x"}), BuildMatch::unknown);
  EXPECT_EQ(match({}, {}, Backend::metal), BuildMatch::same);
}

TEST(MatchBuilds, WhatComesWithTheSystemIsOfTheSystemsBuild) {
  BundleMachine newer = kMac;
  newer.os_build = "25A354";
  EXPECT_EQ(match_builds({}, {}, Backend::metal, kMac, newer), BuildMatch::other);
  EXPECT_EQ(match_builds({}, {}, Backend::metal, BundleMachine{}, newer), BuildMatch::unknown);
  EXPECT_EQ(match_builds({}, {}, Backend::mps, kMac, kMac), BuildMatch::unknown);
}

TEST(MatchBuilds, AWorkerSaysWhichBuildItLoads) {
  BundleRecord record;
  record.machine = kMac;
  BundleCell entry;
  entry.cell = parse_cell("mps/linear/nograph/threads=3");
  entry.build = {"2.11.0", "aaaaaaa", "1111"};
  entry.failures = 1;
  entry.trials = 2;
  record.cells = {entry};
  const auto loads = [&record](const std::string& describe) {
    return loads_the_bundles_build(record, nlohmann::json::parse(describe), kMac);
  };
  EXPECT_TRUE(loads(R"({"provenance": {"torch": {"version": "2.11.0", "build_id": "1111"}}})"));
  EXPECT_TRUE(loads(R"({"provenance": {"torch": {"version": "2.11.0", "uuid": "1111"}}})"));
  EXPECT_FALSE(loads(R"({"provenance": {"torch": {"version": "2.11.0", "build_id": "2222"}}})"));
  EXPECT_FALSE(loads(R"({"provenance": {"torch": 3}})"));
  EXPECT_FALSE(loads(R"({})"));
  record.cells[0].failures = 0;
  EXPECT_FALSE(loads(R"({"provenance": {"torch": {"version": "2.11.0", "build_id": "1111"}}})"));
}

class VerificationText : public Recheck {
 protected:
  Verification verified() {
    had(kCell, 10, 10, build_a_);
    sample_.plan(kCell).ran(20, 20);
    sample_.provenance = "build-b";
    sample_.ran(20, 0, SampleJournal::segfault(), "fork");
    Verification verification;
    verification.started = "2026-02-01T00:00:00.000Z";
    verification.trials = 20;
    verification.simulated = true;
    verification.record = record_;
    verification.cells = before_and_now(record_, analyse(sample_.journal));
    verification.conclusion = conclude(verification.cells);
    return verification;
  }
};

TEST_F(VerificationText, EachFormHasTheVerdictTheCountsAndWhatItIsWorth) {
  const Verification verification = verified();
  const std::string markdown = verification_markdown(verification);
  EXPECT_THAT(markdown, testing::StartsWith("# SIMULATED: fixed\n"));
  EXPECT_THAT(markdown, HasSubstr("10/10   20/20        0/20"));
  const std::string terminal = verification_terminal(verification);
  EXPECT_THAT(terminal, testing::StartsWith("SIMULATED: "));
  EXPECT_THAT(terminal, testing::EndsWith("\nSIMULATED: fixed\n"));
  EXPECT_THAT(terminal, HasSubstr("10/10   20/20        0/20"));
  const auto json = nlohmann::json::parse(verification_json(verification));
  EXPECT_EQ(json.at("finding"), "fixed");
  EXPECT_EQ(json.at("simulated"), true);
  EXPECT_EQ(json.at("cells").at(0).at("old_arm").at("failures"), 20);
  EXPECT_EQ(json.at("cells").at(0).at("new_arm").at("trials"), 20);
  EXPECT_EQ(json.at("cells").at(0).at("before").at("failures"), 10);
}

TEST_F(VerificationText, ItsVerdictIsReadBackAndNothingElseIs) {
  const VerdictLine line = read_verdict(verification_json(verified()), "here");
  EXPECT_EQ(line.verified, "2026-02-01T00:00:00.000Z");
  EXPECT_EQ(line.words, "SIMULATED: fixed");
  for (const char* text : {"", "[]", "{}", R"({"mpsprobe_verify": 1})", R"({"words": "fixed"})",
                           R"({"mpsprobe_verify": 2, "words": "fixed"})"}) {
    EXPECT_THROW(read_verdict(text, "here"), std::runtime_error) << text;
  }
  EXPECT_EQ(read_verdict("{\"mpsprobe_verify\": 1, \"words\": \"\\u001b[2J\"}", "x").words,
            "\\x1b[2J");
}

TEST_F(VerificationText, WhatABundleOrAWorkerSaysIsNeitherMarkupNorControl) {
  Verification verification = verified();
  const std::string hostile = "</pre><script>@everyone #1 | `x` \x1b[2J\xff";
  verification.record.signature = hostile;
  verification.record.machine.os = hostile;
  verification.not_set = {hostile};
  verification.cells[0].cell = hostile;
  verification.cells[0].new_arm->label = hostile;
  verification.cells[0].new_arm->same.failures = 0;
  verification.cells[0].new_arm->otherwise = 1;
  verification.cells[0].new_arm->other_signature = hostile;
  verification.conclusion = conclude(verification.cells);
  const std::string markdown = verification_markdown(verification);
  EXPECT_THAT(markdown, Not(HasSubstr("\x1b")));
  // What is not in a code span has neither tags nor mentions left.
  EXPECT_THAT(markdown.substr(0, markdown.find('\n')), Not(HasSubstr("<script>")));
  EXPECT_THAT(markdown.substr(0, markdown.find('\n')), Not(HasSubstr("@everyone")));
  EXPECT_THAT(verification_terminal(verification), Not(HasSubstr("\x1b")));
  EXPECT_TRUE(nlohmann::json::accept(verification_json(verification)));
}

}  // namespace
}  // namespace mpsprobe

#include "reproducers/minimise/minimum.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reports/writers/atomic_file.h"

namespace mpsprobe {
namespace {

Minimum sample_minimum() {
  Minimum minimum;
  minimum.state = MinimumState::complete;
  minimum.start = parse_cell("sim/linear/nograph/threads=8/iterations=50");
  minimum.cell = parse_cell("sim/linear/default/threads=3/iterations=1");
  minimum.signature = "SIGSEGV in \"f\" <b>\xff</b>\n";
  minimum.simulated = true;
  minimum.worker = "stock";
  minimum.build = {"2.15.0", "abc", "0123"};
  minimum.environment = {"A=B"};
  minimum.seed = 18446744073709551615u;
  minimum.reliability = {7, 10, 1, 2};
  minimum.steps.push_back(
      {"threads 8 -> 3", minimum.cell, StepResult::undone, {2, 2, 0, 0}, "why"});
  minimum.conditions.push_back(
      {"threads 3 -> 2", minimum.cell, true, {0, 10, 0, 0}, 0.003, 0.006, true, ""});
  minimum.condition_trials_missing = 312;
  minimum.trials.conditions = 20;
  return minimum;
}

TEST(Minimum, SurvivesItsFile) {
  const auto file = std::filesystem::path(testing::TempDir()) / "minimum_test.json";
  write_minimum(file, sample_minimum());
  std::ifstream stream(file);
  const Minimum read = minimum_from_json(nlohmann::json::parse(stream));
  EXPECT_EQ(to_json(read), to_json(sample_minimum()));
  EXPECT_EQ(read.cell, sample_minimum().cell);
  EXPECT_EQ(read.seed, sample_minimum().seed);
  EXPECT_EQ(read.conditions.at(0).corrected_p, 0.006);
  std::filesystem::remove(file);
  EXPECT_THROW(write_minimum("/proc/none/minimum.json", sample_minimum()), ReportError);
}

TEST(Minimum, WhatIsNotOfTheFormIsRefused) {
  const nlohmann::json good = to_json(sample_minimum());
  ASSERT_NO_THROW(minimum_from_json(good));
  const auto broken = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json object = good;
    object[nlohmann::json::json_pointer(pointer)] = value;
    return object;
  };
  const std::pair<const char*, nlohmann::json> kBroken[] = {
      {"/mpsprobe_minimum", 2},
      {"/cell", "sim/../../x"},
      {"/cell", 3},
      {"/state", "done"},
      {"/reliability/failures", 11},
      {"/reliability/trials", -1},
      {"/reliability/trials", 1e300},
      {"/reliability/trials", 18446744073709551615u},
      {"/conditions/0/p", 1.5},
      {"/steps", "none"},
      {"/steps/0/result", "maybe"},
      {"/environment", {1, 2}},
      {"/build", nullptr},
  };
  for (const auto& [pointer, value] : kBroken) {
    EXPECT_THROW(minimum_from_json(broken(pointer, value)), MinimumError) << pointer;
  }
  EXPECT_THROW(minimum_from_json(nlohmann::json::array()), MinimumError);
}

TEST(Minimum, SaysHowManyRunsItTakes) {
  EXPECT_EQ(runs_for_95_percent({5, 5, 0, 0}), 1);
  EXPECT_EQ(runs_for_95_percent({10, 20, 0, 0}), 14);  // also at 19.8%, the lowest that fits
  EXPECT_EQ(expected_runs({1, 20, 0, 0}), 20);
  EXPECT_EQ(runs_for_95_percent({0, 20, 0, 0}), 0);
}

TEST(BuildIdentity, ComesFromWhatTheWorkerToldAndNothingElse) {
  const auto provenance =
      nlohmann::json::parse(R"({"torch": {"version": "2.15.0", "git_hash": "abc", "uuid": "U"}})");
  EXPECT_EQ(build_identity(provenance), (BuildIdentity{"2.15.0", "abc", "U"}));
  EXPECT_EQ(build_identity(nullptr), BuildIdentity{});
  EXPECT_EQ(build_identity({{"torch", 5}}), BuildIdentity{});
}

}  // namespace
}  // namespace mpsprobe

// The whole way without LibTorch: the worker of the backend metal on the simulated device's
// Objective-C face, whose defects are known. Few trials: docs/macos.md has what longer runs gave.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class MetalRun : public ProgramTest {
 protected:
  nlohmann::json run(std::vector<std::string> arguments, int expected_exit = 0) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--worker", "stock=" MPSPROBE_METAL_WORKER, "--trials", "1",
                                       "--out", path("out")});
    const Run result = mpsprobe(arguments);
    EXPECT_EQ(result.exit_code, expected_exit) << result.out << result.err;
    return nlohmann::json::parse(read("out/report.json"), nullptr, false);
  }
};

TEST_F(MetalRun, TheDefaultMatrixHasReport000sBoundariesAndSaysThatItIsSimulated) {
  run(with_slow_profiles({"--matrix", "--backend", "metal", "--filter", "metal/linear/*graph/*"}));
  const std::string markdown = read("out/report.md");
  EXPECT_THAT(markdown, StartsWith("# SIMULATED"));
  EXPECT_THAT(
      markdown,
      HasSubstr("| linear nograph | pass 0/1 | pass 0/1 | **FAIL** 1/1 SIGSEGV | **FAIL**"));
  EXPECT_THAT(
      markdown,
      HasSubstr("| linear graph | pass 0/1 | pass 0/1 | pass 0/1 | **FAIL** 1/1 SIGSEGV |"));
}

TEST_F(MetalRun, WithoutDefectsEveryOperationPassesInEveryWayOfSharing) {
  const std::string matrix = write("ways.json", R"({
    "mpsprobe_matrix": 1, "name": "ways",
    "blocks": [
      {"title": "operations", "axes": {"backend": ["metal"], "profile": ["clean"],
       "op": ["mm", "add", "relu", "softmax", "zeros", "raw"], "threads": [4]}},
      {"title": "linear", "axes": {"backend": ["metal"], "profile": ["clean"], "op": ["linear"],
       "path": ["nograph", "graph"], "threads": [4], "queue": ["per-thread", "shared"]}},
      {"title": "ways to run", "axes": {"backend": ["metal"], "profile": ["clean"],
       "op": ["linear"], "path": ["graph"], "threads": [3], "init": ["main", "threads"],
       "sync": ["each", "end"], "churn": [1, 3]}},
      {"title": "weights", "axes": {"backend": ["metal"], "profile": ["clean"], "op": ["linear"],
       "path": ["nograph"], "threads": [3], "model": ["shared", "per-thread"],
       "sync": ["each", "end"]}}],
    "expect": [{"where": {}, "verdict": "pass"}]})");
  const nlohmann::json report = run({"--matrix", matrix});
  EXPECT_EQ(report.at("cells").size(), 6U + 4U + 8U + 4U);
  for (const nlohmann::json& trial : report.at("trials")) {
    EXPECT_GT(trial.at("processes").at(0).at("result").at("checked"), 0) << trial.at("cell");
  }
}

TEST_F(MetalRun, ThreadsMayMeetInTheFirstGraphOfAProcess) {
  const Run result = mpsprobe(
      {"run", "--cell", "metal/linear/graph/threads=3/init=threads/profile=clean", "--worker",
       "stock=" MPSPROBE_METAL_WORKER, "--trials", "20", "--out", path("out")});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST_F(MetalRun, EachProfileShowsItsDefect) {
  const std::string matrix = write("profiles.json", R"({
    "mpsprobe_matrix": 1, "name": "profiles", "run": {"stall": 3},
    "include": [
      "metal/linear/nograph/threads=2",
      "metal/linear/nograph/threads=3",
      "metal/linear/graph/threads=3",
      "metal/linear/graph/threads=4",
      "metal/raw/default/threads=8",
      "metal/linear/default/threads=4/profile=hang",
      "metal/mm/default/threads=4/profile=wrong-numbers",
      "metal/linear/default/threads=2/profile=exception",
      "metal/linear/default/threads=2/profile=gpu-error"],
    "expect": [
      {"where": {}, "verdict": "pass"},
      {"where": {"path": ["nograph"], "threads": ["3-256"]},
       "outcome": "signal", "detail": "SIGSEGV"},
      {"where": {"path": ["graph"], "threads": ["4-256"]}, "outcome": "signal", "detail": "SIGSEGV"},
      {"where": {"profile": ["hang"]}, "outcome": "hang"},
      {"where": {"profile": ["wrong-numbers"]}, "outcome": "wrong_result"},
      {"where": {"profile": ["exception"]}, "outcome": "exception"},
      {"where": {"profile": ["gpu-error"]}, "outcome": "gpu_error"}]})");
  const nlohmann::json report = run(with_slow_profiles({"--matrix", matrix}));
  EXPECT_EQ(report.at("cells").size(), 9U);
}

TEST_F(MetalRun, AFailureIsToldAsWhatItWasAndNothingUnfinishedIsCompared) {
  // An exception with an encoder open; an error of a command buffer that MPSGraph has replaced
  // since.
  write("zeros-raise.json", R"({"mpsprobe_profile": 1, "name": "zeros-raise", "description": "d",
    "streams": "shared", "defects": [{"ops": ["zero_"], "paths": ["nograph"], "slots": 1,
    "hold_us": 3000, "beyond": "exception", "text": "no fill today"}]})");
  write("mm-fails.json", R"({"mpsprobe_profile": 1, "name": "mm-fails", "description": "d",
    "streams": "shared", "defects": [{"ops": ["mm"], "paths": ["graph"], "slots": 1,
    "hold_us": 3000, "beyond": "gpu_error"}]})");
  write("linear-raises.json", R"({"mpsprobe_profile": 1, "name": "linear-raises",
    "description": "d", "streams": "shared", "defects": [{"ops": ["linear"], "slots": 2,
    "hold_us": 1000, "beyond": "exception", "text": "A and B index not found"}]})");
  const std::string matrix = write("matrix.json", R"({
    "mpsprobe_matrix": 1, "name": "told",
    "include": ["metal/zeros/default/threads=4/profile=zeros-raise",
                "metal/raw/default/threads=4/profile=mm-fails",
                "metal/linear/graph/threads=4/iterations=50/sync=end/profile=linear-raises"],
    "expect": [{"where": {}, "outcome": "exception"},
               {"where": {"op": ["raw"]}, "outcome": "gpu_error"}]})");
  const nlohmann::json report =
      run({"--matrix", matrix, "--env", "MPSPROBE_PROFILES=" + path(".")});
  for (const nlohmann::json& trial : report.at("trials")) {
    EXPECT_THAT(trial.at("processes").dump(), Not(HasSubstr("wrong_result"))) << trial.at("cell");
  }
}

// Metal's own limit, without any defect: nobody commits before all have launched.
TEST_F(MetalRun, AQueueHas64CommandBuffersAndAsManyThreadsKeepThemOpen) {
  const std::string cells = "metal/mm/default/iterations=1/queue=shared/meet=launch/profile=clean";
  const nlohmann::json report =
      run({"--cell", cells + "/threads=64", "--cell", cells + "/threads=65", "--stall", "2"});
  for (const nlohmann::json& cell : report.at("cells")) {
    const bool fits = cell.at("cell").get<std::string>().find("threads=64") != std::string::npos;
    EXPECT_EQ(cell.at("outcomes").at(0).at("outcome"), fits ? "pass" : "hang") << cell.dump();
  }
  EXPECT_EQ(report.at("trials").size(), 2U);
}

TEST_F(MetalRun, AThreadThatWaitsBesideOthersHarmsNoneAndHidesNoHang) {
  const std::string cell = "metal/linear/nograph/threads=3/queue=shared/beside=wait/profile=";
  const nlohmann::json report =
      run({"--cell", cell + "clean", "--cell", cell + "hang", "--stall", "2"});
  for (const nlohmann::json& each : report.at("cells")) {
    const bool clean = each.at("cell").get<std::string>().find("clean") != std::string::npos;
    EXPECT_EQ(each.at("outcomes").at(0).at("outcome"), clean ? "pass" : "hang") << each.dump();
  }
}

// What the cells of our own do is right by Metal's rules: each built-in matrix, as far as the
// backend has it.
#ifndef MPSPROBE_SANITIZED  // the observer, which judges here, is built without
TEST_F(MetalRun, OurOwnCellsBreakNoRule) {
  const nlohmann::json matrices =
      nlohmann::json::parse(mpsprobe({"list", "matrices", "--json"}).out, nullptr, false);
  ASSERT_TRUE(matrices.is_array());
  int observed = 0;
  for (const nlohmann::json& matrix : matrices) {
    const std::string name = matrix.at("name");
    const Run result =
        mpsprobe({"run", "--matrix", name, "--backend", "metal", "--profile", "clean", "--observe",
                  "rules", "--trials", "1", "--stall", "2", "--iterations", "20", "--worker",
                  "stock=" MPSPROBE_METAL_WORKER, "--out", path(name)});
    const nlohmann::json report =
        nlohmann::json::parse(read(name + "/report.json"), nullptr, false);
    if (!report.is_object()) continue;
    for (const nlohmann::json& trial : report.at("trials")) {
      EXPECT_NE(trial.at("judgement").at("outcome"), "misuse") << trial.dump(1);
      for (const nlohmann::json& process : trial.at("processes")) {
        if (!process.contains("observation")) continue;
        ++observed;
        // One that had to be ended tells nothing more.
        if (trial.at("judgement").at("outcome") == "pass") {
          EXPECT_GT(process.at("observation").at("calls"), 0) << trial.at("cell");
        }
        EXPECT_TRUE(process.at("observation").at("suspicions").empty()) << process.dump(1);
      }
    }
  }
  EXPECT_GT(observed, 50);
}
#endif

#ifdef MPSPROBE_MPS_WORKER
// With objects of the same face for LibTorch's streams.
TEST_F(MetalRun, CellsOfLibTorchOnTheStandInAreObserved) {
  const Run result = mpsprobe(
      {"run", "--cell", "mps/linear/nograph/threads=3/profile=clean/observe=rules", "--cell",
       "mps/softmax/default/threads=2/stream=per-thread/profile=clean/observe=trap", "--trials",
       "1", "--worker", "stock=" MPSPROBE_MPS_WORKER, "--out", path("out")});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const nlohmann::json report = nlohmann::json::parse(read("out/report.json"), nullptr, false);
  ASSERT_EQ(report.at("trials").size(), 2U);
  for (const nlohmann::json& trial : report.at("trials")) {
    const nlohmann::json& observation = trial.at("processes").at(0).at("observation");
    EXPECT_GT(observation.at("calls"), 20) << trial.at("cell");
    EXPECT_TRUE(observation.at("suspicions").empty()) << observation.dump(1);
  }
}
#endif

TEST_F(MetalRun, TheProcessHasNoLibTorch) {
  const nlohmann::json report = run({"--cell", "metal/mm/default/threads=1"});
  EXPECT_THAT(report.dump(), HasSubstr("mpsprobe_metal_face"));
  EXPECT_THAT(report.dump(), Not(HasSubstr("libtorch_cpu")));
}

TEST_F(MetalRun, WhatTheBackendDoesNotHaveIsUnsupportedAndSaysWhy) {
  const Run refused = mpsprobe({"run", "--cell", "metal/mm/default/threads=1/stream=per-thread",
                                "--worker", "stock=" MPSPROBE_METAL_WORKER, "--out", path("out")});
  EXPECT_EQ(refused.exit_code, 4) << refused.err;
  EXPECT_THAT(refused.out + refused.err, HasSubstr("queue=shared"));
  const nlohmann::json report = run({"--cell", "metal/mm/default/shape=8x8"}, 4);
  EXPECT_THAT(report.dump(), HasSubstr("2 sizes where 3 are needed"));
}

}  // namespace
}  // namespace mpsprobe

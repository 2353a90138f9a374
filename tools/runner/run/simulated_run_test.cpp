// The whole way with LibTorch: the worker, its operations and the simulated device, whose defects
// are known. Few trials: the figures in the README come from longer runs.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SimulatedRun : public ProgramTest {
 protected:
  nlohmann::json run(std::vector<std::string> arguments, int expected_exit = 0) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--out", path("out")});
    const Run result = mpsprobe(arguments);
    EXPECT_EQ(result.exit_code, expected_exit) << result.out << result.err;
    return nlohmann::json::parse(read("out/report.json"), nullptr, false);
  }
};

class DefaultMatrixRun : public SimulatedRun, public testing::WithParamInterface<const char*> {};

// mps: scenarios/backends/mps.cpp itself, on the stand-in.
INSTANTIATE_TEST_SUITE_P(Backends, DefaultMatrixRun, testing::Values("sim", "mps"));

TEST_P(DefaultMatrixRun, HasReport000sBoundariesAndSaysThatItIsSimulated) {
  std::vector<std::string> arguments{"--matrix", "--backend", GetParam(), "--trials", "1"};
#ifdef __linux__
  arguments.insert(arguments.end(), {"--start-process", "fork"});  // a tenth of the time
#endif
  run(with_slow_profiles(arguments));
  const std::string markdown = read("out/report.md");
  EXPECT_THAT(markdown, StartsWith("# SIMULATED"));
  EXPECT_THAT(
      markdown,
      HasSubstr("| linear nograph | pass 0/1 | pass 0/1 | **FAIL** 1/1 SIGSEGV | **FAIL**"));
  EXPECT_THAT(
      markdown,
      HasSubstr("| linear graph | pass 0/1 | pass 0/1 | pass 0/1 | **FAIL** 1/1 SIGSEGV |"));
}

// Another device in its place would answer another question.
TEST_F(SimulatedRun, WithoutAnMpsDeviceNothingElseIsRunInItsPlace) {
  const Run refused = mpsprobe({"run", "--cell", "mps/mm/default/threads=2", "--out", path("out"),
                                "--env", "MPSPROBE_STAND_IN_DEVICE=none"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("LibTorch finds no MPS device"));
  EXPECT_THAT(refused.err, HasSubstr("nothing to run"));
}

// The backend itself cannot tell its path: a process with LibTorch's profile log does.
TEST_F(SimulatedRun, AGraphAxisThatCollapsesIsNoticed) {
  const std::string graph = "mps/linear/graph/threads=2";
  const std::string nograph = "mps/linear/nograph/threads=2";
  // As the reports' fork did by itself: the graph path, whatever was asked for.
  const nlohmann::json report =
      run({"--cell", graph, "--cell", nograph, "--trials", "2", "--env", "MPS_FORCE_GRAPH_PATH=1"});
  std::map<std::string, nlohmann::json> observed;
  for (const auto& cell : report["cells"]) observed[cell["cell"]] = cell["observed_paths"];
  EXPECT_EQ(observed[graph], nlohmann::json{"graph"});
  EXPECT_EQ(observed[nograph], nlohmann::json{"graph"});
  EXPECT_EQ(report["trials"].size(), 4U) << "a probe is no trial";
  for (const auto& trial : report["trials"]) {
    EXPECT_EQ(trial["path_probe"]["path"], "graph");
    EXPECT_THAT(trial["path_probe"]["cell"].get<std::string>(),
                HasSubstr("/env.PYTORCH_MPS_LOG_PROFILE_INFO=1"));
    // Never in the trial.
    EXPECT_THAT(trial["processes"].dump(), Not(HasSubstr("aten::mps_linear")));
  }
  const std::string markdown = read("out/report.md");
  EXPECT_THAT(markdown, HasSubstr("1 cell took another path than the cell asks for, for example " +
                                  std::string("mps/linear/nograph")));
}

TEST_F(SimulatedRun, APathThatIsThereIsSeenAndOneThatIsUnseenIsSaid) {
  const std::string cell = "mps/linear/nograph/threads=1";
  nlohmann::json report = run({"--cell", cell, "--trials", "1"});
  EXPECT_EQ(report["cells"][0]["observed_paths"], nlohmann::json{"nograph"});
  EXPECT_THAT(report["warnings"].dump(), Not(HasSubstr("path")));
  std::filesystem::remove_all(path("out"));
  report = run({"--cell", cell, "--trials", "1", "--env", "PYTORCH_MPS_LOG_PROFILE_INFO=0"});
  EXPECT_EQ(report["cells"][0]["observed_paths"], nlohmann::json{"not observed"});
  EXPECT_THAT(report["warnings"].dump(), HasSubstr("LibTorch printed no profile log"));
}

// Its threads go on meanwhile, which is no progress of the process.
TEST_F(SimulatedRun, AProcessThatGetsStuckOnItsWayOutHangs) {
  write("stuck.json", R"({"mpsprobe_profile": 1, "name": "stuck", "description": "d",
    "streams": "shared", "defects": [{"ops": ["*"], "slots": 8, "hold_us": 1000000,
    "beyond": "null_dereference", "at_exit": true}]})");
  const nlohmann::json report =
      run({"--cell", "sim/mul/default/threads=2/end=exit/profile=stuck", "--trials", "1", "--stall",
           "0.5", "--env", "MPSPROBE_PROFILES=" + path(".")});
  const nlohmann::json& judgement = report.at("trials").at(0).at("judgement");
  EXPECT_EQ(judgement.at("outcome"), "hang");
  EXPECT_THAT(judgement.at("signature").get<std::string>(), HasSubstr("in tear-down"));
}

TEST_F(SimulatedRun, EachProfileShowsItsDefectAndTheWorkaroundHolds) {
  // Expectations stand in the matrix; an unmet one ends the run with 1.
  const std::string matrix = write("profiles.json", R"({
    "mpsprobe_matrix": 1, "name": "profiles", "run": {"trials": 1, "stall": 3},
    "include": [
      "sim/raw/default/threads=2/profile=report-002-stock",
      "sim/raw/default/threads=2/lock=forward/profile=report-002-stock",
      "sim/zeros/default/threads=2/profile=report-004-fork",
      "sim/ones/default/threads=2/profile=report-004-fork",
      "sim/linear/default/threads=2/profile=lazy-init",
      "sim/linear/default/threads=2/warmup=main/profile=lazy-init",
      "sim/linear/default/threads=4/profile=hang",
      "sim/mm/default/threads=4/profile=wrong-numbers",
      "sim/linear/default/threads=2/profile=exception",
      "sim/linear/default/threads=2/profile=gpu-error",
      "sim/linear/default/threads=8/profile=clean"],
    "expect": [
      {"where": {}, "verdict": "pass"},
      {"where": {"profile": ["report-002-stock"], "lock": ["none"]}, "outcome": "assertion",
       "detail": "assertion: Scheduled handler provided after commit call"},
      {"where": {"op": ["ones"]}, "outcome": "assertion",
       "detail": "assertion: commit command buffer with uncommitted encoder"},
      {"where": {"profile": ["lazy-init"], "warmup": ["none"]}, "outcome": "signal", "detail": "SIGSEGV"},
      {"where": {"profile": ["hang"]}, "outcome": "hang"},
      {"where": {"profile": ["wrong-numbers"]}, "outcome": "wrong_result"},
      {"where": {"profile": ["exception"]}, "outcome": "exception"},
      {"where": {"profile": ["gpu-error"]}, "outcome": "gpu_error"}]})");
  const nlohmann::json report = run({"--matrix", matrix});
  EXPECT_EQ(report.at("cells").size(), 11U);
}

struct KnownDefect {
  const char* matrix;
  const char* profile;  ///< plants it
  const char* filter;   ///< of its cells, one that fails
  const char* signature;
  const char* backend = "sim";
};

class KnownDefectRun : public SimulatedRun, public testing::WithParamInterface<KnownDefect> {};

INSTANTIATE_TEST_SUITE_P(
    Matrices, KnownDefectRun,
    testing::Values(
        KnownDefect{"issue-167541", "issue-167541", "*threads=15/iterations=1/shape=128/profile*",
                    "bad access"},
        KnownDefect{"issue-173972", "issue-173972", "*threads=1/*shape=33/profile*", "wrong"},
        KnownDefect{"issue-197836", "issue-197836", "*/renorm/*threads=4/*",
                    "A command encoder is already encoding"},
        KnownDefect{"stream-pool", "stream-pool",
                    "*/mm/*threads=32/iterations=5/stream=per-thread/profile*", "pool exhausted"},
        KnownDefect{"teardown", "at-exit", "*/mul/default/threads=8/end=exit/profile*",
                    "in tear-down"},
        KnownDefect{"issue-100285", "issue-100285", "*threads=2/iterations=50/profile*",
                    "Completed handler provided after commit call"},
        KnownDefect{"issue-108996", "issue-108996", "*threads=2/iterations=50/profile*",
                    "commit an already committed command buffer"},
        KnownDefect{"read-back", "read-back", "*/mm/*threads=8/*wait=item/profile*", "wrong",
                    "mps"},
        KnownDefect{"attention", "contiguous-race", "*/attention/*threads=2/*", "wrong"}),
    [](const auto& instance) {
      std::string name = instance.param.matrix;
      std::erase(name, '-');
      return name;
    });

TEST_P(KnownDefectRun, IsFoundWhereItIsPlantedAndNotWithoutIt) {
  const std::vector<std::string> matrix{
      "--matrix",  GetParam().matrix,  "--filter", GetParam().filter,
      "--backend", GetParam().backend, "--trials", "1"};
  std::vector<std::string> planted = matrix;
  planted.insert(planted.end(), {"--profile", GetParam().profile});
  EXPECT_EQ(run(planted).at("signatures").at(0).at("failures"), 1);
  EXPECT_THAT(read("out/report.md"), HasSubstr(GetParam().signature));
  std::filesystem::remove_all(path("out"));
  std::vector<std::string> clean = matrix;
  clean.insert(clean.end(), {"--profile", "clean"});
  EXPECT_EQ(run(clean).at("failures"), 0);
}

// Side by side in one report: the defect is there with the variable only.
TEST_F(SimulatedRun, AVariableOfTheEnvironmentIsAnAxis) {
  const std::vector<std::string> cells{
      "--matrix",  "fast-math", "--filter", "*/mm/*", "--filter", "*/softmax/*threads=2/*",
      "--backend", "sim",       "--trials", "1"};
  std::vector<std::string> planted = cells;
  planted.insert(planted.end(), {"--profile", "fast-math"});
  const nlohmann::json report = run(planted);
  EXPECT_EQ(report.at("cells").size(), 15U);
  for (const nlohmann::json& cell : report.at("cells")) {
    const std::string id = cell.at("cell");
    const bool planted_here = id.find("sim/mm") == 0 &&
                              id.find("threads=1/") == std::string::npos &&
                              id.find("env.PYTORCH_MPS_FAST_MATH=1") != std::string::npos;
    EXPECT_EQ(cell.at("failures"), planted_here ? 1 : 0) << cell.dump();
  }
  EXPECT_THAT(read("out/report.md"), HasSubstr("mm, env.PYTORCH\\_MPS\\_FAST\\_MATH=1"));
  std::filesystem::remove_all(path("out"));
  std::vector<std::string> clean = cells;
  clean.insert(clean.end(), {"--profile", "clean"});
  EXPECT_EQ(run(clean).at("failures"), 0);
}

TEST_F(SimulatedRun, AVariableThatNoLibraryReadsIsRefusedByNameUnlessForced) {
  const std::vector<std::string> unknown{
      "run", "--op",     "mm", "--backend", "sim",      "--env.PYTORCH_MPS_FAST_MAHT",
      "1",   "--trials", "1",  "--out",     path("out")};
  const Run refused = mpsprobe(unknown);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("env.PYTORCH_MPS_FAST_MAHT: no library"));
  EXPECT_THAT(refused.err, HasSubstr("--force-env"));
  // LibTorch has this name, and the worker of the backend metal loads no LibTorch.
  const Run elsewhere = mpsprobe({"run", "--op", "mm", "--backend", "metal",
                                  "--env.ATEN_CPU_CAPABILITY", "default", "--dry-run"});
  EXPECT_NE(elsewhere.exit_code, 0);
  EXPECT_EQ(elsewhere.out, "");
  std::vector<std::string> forced = unknown;
  forced.emplace_back("--force-env");
  EXPECT_EQ(mpsprobe(forced).exit_code, 0);
  // A name that the real LibTorch has, from the command line, with one that is set for all.
  const Run twice =
      mpsprobe({"run", "--op", "mm", "--backend", "cpu", "--env.ATEN_CPU_CAPABILITY=default,unset",
                "--env", "ATEN_CPU_CAPABILITY=avx2", "--dry-run"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("env.ATEN_CPU_CAPABILITY: is what the cells say"));
  const Run planned = mpsprobe({"run", "--op", "mm", "--backend", "cpu",
                                "--env.ATEN_CPU_CAPABILITY", "default,unset", "--dry-run"});
  EXPECT_EQ(planned.out,
            "cpu/mm/default/threads=1/env.ATEN_CPU_CAPABILITY=default\n"
            "cpu/mm/default/threads=1/env.ATEN_CPU_CAPABILITY=unset\n");
}

// The default profile has two slots without a graph: what the reports advise holds there, and a
// throttle of three does not.
TEST_F(SimulatedRun, AThrottleOfTwoKeepsTheDefectAwayAndOneOfThreeDoesNot) {
  const std::string matrix = write("throttled.json", R"({
    "mpsprobe_matrix": 1, "name": "throttled", "run": {"trials": 2},
    "axes": {"backend": ["sim"], "op": ["linear"], "path": ["nograph"], "threads": [8],
             "iterations": [50], "throttle": ["1-3"]},
    "expect": [
      {"where": {}, "verdict": "pass"},
      {"where": {"throttle": [3]}, "outcome": "signal", "detail": "SIGSEGV"}]})");
  const nlohmann::json report = run({"--matrix", matrix});
  for (const nlohmann::json& cell : report.at("cells")) {
    EXPECT_EQ(cell.at("expected"), "met") << cell.dump();
  }
  EXPECT_EQ(report.at("cells").size(), 3U);
}

TEST_F(SimulatedRun, AttentionWithoutContiguousIsTheControlThatPasses) {
  const nlohmann::json report =
      run({"--matrix", "attention", "--filter", "*/attention_strided/*threads=2/*", "--backend",
           "sim", "--profile", "contiguous-race", "--trials", "1"});
  EXPECT_EQ(report.at("failures"), 0);
}

TEST_F(SimulatedRun, AHangOfTheHostIsToldFromOneOfTheDevice) {
  const nlohmann::json report =
      run({"--cell", "sim/linear/nograph/threads=3/profile=hang", "--cell",
           "sim/linear/nograph/threads=3/profile=gpu-hang", "--trials", "1", "--stall", "2"});
  std::map<std::string, std::string> probes;
  for (const nlohmann::json& trial : report.at("trials")) {
    EXPECT_EQ(trial.at("judgement").at("outcome"), "hang");
    probes[trial.at("cell")] = trial.at("processes").at(0).at("recorder").at("probe");
  }
  EXPECT_EQ(probes["sim/linear/nograph/threads=3/profile=hang"], "completed");
  EXPECT_EQ(probes["sim/linear/nograph/threads=3/profile=gpu-hang"], "not_answered");
}

TEST_F(SimulatedRun, WhatFailsOnTheDeviceAloneIsSaidToFailThereOnly) {
  run({"--cell", "sim/linear/nograph/threads=3", "--cell", "cpu/linear/nograph/threads=3",
       "--trials", "6"});
  EXPECT_THAT(read("out/report.md"),
              HasSubstr("| sim linear nograph | 6 crashes in 6 at 3 |\n"
                        "| cpu linear nograph | no failure at 3 (0/6 &lt; 46%)"));
}

TEST_F(SimulatedRun, TheCpuPasses) {
  run({"--matrix", "quick", "--backend", "cpu", "--trials", "1", "--fail-on", "any"});
}

TEST_F(SimulatedRun, TheLoadedLibraryIsProvedInTheReport) {
  const nlohmann::json report = run({"--cell", "cpu/mm/default/threads=1", "--trials", "1"});
  const std::string text = report.dump();
  EXPECT_THAT(text, HasSubstr("libtorch_cpu"));
  EXPECT_THAT(text, HasSubstr("build_id"));
}

#ifdef MPSPROBE_HAS_METAL
TEST_F(SimulatedRun, CellsOfMetalRunInAProcessWithoutLibTorchWhateverTheWorkerIs) {
  const nlohmann::json report = run({"--cell", "metal/linear/graph/threads=2/profile=clean",
                                     "--trials", "1", "--fail-on", "any"});
  const std::string trials = report.at("trials").dump();
  EXPECT_EQ(report.at("trials").at(0).at("judgement").at("outcome"), "pass") << trials;
  EXPECT_THAT(report.dump(), HasSubstr("libmpsprobe_metal_face"));
  EXPECT_THAT(report.at("image_sets").dump(), Not(HasSubstr("libtorch_cpu")));
  EXPECT_THAT(read("out/report.md"), StartsWith("# SIMULATED"));
}

TEST_F(SimulatedRun, OperationsThatMetalDoesNotHaveAreLeftOutAndSaySo) {
  const Run list = mpsprobe({"run", "--op", "mlp,mm", "--backend", "metal", "--dry-run"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("metal/mm/default/threads=1"));
  EXPECT_THAT(list.out, Not(HasSubstr("mlp")));
  EXPECT_THAT(list.out + list.err,
              HasSubstr("left out 1 cell: the operation is for other backends: "));
}
#endif

TEST_F(SimulatedRun, AnotherTorchThanExpectedIsRefused) {
  const Run refused = mpsprobe(
      {"run", "--cell", "cpu/mm/default", "--expect-torch", "1.0.0", "--out", path("out")});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("libtorch_cpu"));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

/// The cells that a text with values such as "2,4" stands for.
std::vector<std::string> each_of(const std::string& text) {
  const size_t comma = text.find(',');
  if (comma == std::string::npos) return {text};
  const size_t begin = text.rfind('=', comma) + 1;
  const size_t end = std::min(text.find('/', comma), text.size());
  std::vector<std::string> all;
  std::istringstream values(text.substr(begin, end - begin));
  for (std::string value; std::getline(values, value, ',');) {
    for (std::string& one : each_of(text.substr(0, begin) + value + text.substr(end))) {
      all.push_back(std::move(one));
    }
  }
  return all;
}

TEST_F(SimulatedRun, SeedsHasEveryRowOfTheReports) {
  std::set<std::string> cells;
  std::istringstream planned(
      mpsprobe({"run", "--matrix", "seeds", "--backend", "mps", "--dry-run"}).out);
  for (std::string cell; std::getline(planned, cell);) cells.insert(cell);
  std::ifstream docs(MPSPROBE_SOURCE_DIR "/docs/matrices.md");
  std::string line;
  while (std::getline(docs, line) && line != "## What the founding reports measured") {
  }
  int rows = 0;
  while (std::getline(docs, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| 00")) continue;
    ++rows;
    std::istringstream marks(line.substr(line.rfind(" | ")));
    std::string text;
    while (std::getline(marks, text, '`') && std::getline(marks, text, '`')) {
      for (const std::string& cell : each_of(text)) {
        EXPECT_TRUE(cells.contains("mps/" + cell)) << line << "\n" << cell;
      }
    }
  }
  EXPECT_EQ(rows, 37);
}

// On the operations of the real workers.
TEST_F(SimulatedRun, EveryBuiltInMatrixHasAsManyCellsAsTheDocsSay) {
  const std::filesystem::path source = MPSPROBE_SOURCE_DIR;
  std::ifstream docs(source / "docs/matrices.md");
  std::map<std::string, long> told;
  for (std::string line; std::getline(docs, line);) {
    std::istringstream words(line);
    std::string bar;
    std::string name;
    long cells = 0;
    if (words >> bar >> name >> bar >> cells) told[name.substr(1, name.size() - 2)] = cells;
  }
  for (const auto& entry : nlohmann::json::parse(mpsprobe({"list", "matrices", "--json"}).out)) {
    const std::string name = entry.at("name");
    if (name.starts_with("mlx")) continue;  // planned by a worker of MLX, which this test has not
    std::ifstream file(source / "scenarios/matrices" / (name + ".json"));
    const std::string matrix(std::istreambuf_iterator<char>(file), {});
    // Where it does not name its backends, they are those that it was written for.
    const bool names_them = matrix.find("\"backend\"") != std::string::npos;
    const Run list = names_them
                         ? mpsprobe({"list", "cells", "--matrix", name})
                         : mpsprobe({"run", "--matrix", name, "--backend", "mps", "--dry-run"});
    EXPECT_EQ(told[name], std::count(list.out.begin(), list.out.end(), '\n')) << name << list.err;
    if (list.exit_code == 0) continue;
    // Without a GPU, or a worker with ThreadSanitizer, there is nothing to run, for that reason
    // alone.
    EXPECT_EQ(list.exit_code, 4) << name << list.err;
    const bool races = name == "planted-races";
    std::istringstream lines(list.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_THAT(line, HasSubstr(races ? "# left out: cpu/selftest." : "# left out: cuda/"));
      EXPECT_THAT(line, HasSubstr(races ? "no build of the worker with ThreadSanitizer"
                                        : "the backend cuda cannot be used here"));
    }
  }
}

}  // namespace
}  // namespace mpsprobe

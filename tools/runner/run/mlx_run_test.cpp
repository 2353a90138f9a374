// Real races in a real library, on this machine: what is claimed of MLX in the README, run by the
// program as a person runs it. The cell that must fail was seen to fail in 8 of 10 trials and more,
// and in 19 of 30 beside busy builds: 20 trials without one happen once in 10^8.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "harness/wire/cell.h"
#include "reports/expectations/expectations.h"
#include "reproducers/proof/proof.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

#ifdef __APPLE__
constexpr const char* kMlxLibrary = "libmlx.dylib";
#else
constexpr const char* kMlxLibrary = "libmlx.so";
#endif

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRacing =
    "mlx/chain/default/threads=4/iterations=30/stream=per-thread/churn=10";

class MlxRun : public ProgramTest {
 protected:
  json run(std::vector<std::string> arguments, int expected_exit = 0) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--stall", "5", "--out", path("out")});
    const Run result = mpsprobe(arguments);
    EXPECT_EQ(result.exit_code, expected_exit) << result.out << result.err;
    said_ = result.out + result.err;
    return json::parse(read("out/report.json"), nullptr, false);
  }

  // Failures of all cells, by the release of MLX.
  static int failures(const json& report, const std::string& release) {
    int sum = 0;
    for (const json& cell : report.at("cells")) {
      if (cell.at("arm") == "mlx-" + release) sum += cell.at("failures").get<int>();
    }
    return sum;
  }

  std::string said_;
};

TEST_F(MlxRun, OneThreadIsRightInEveryOperationOfEveryRelease) {
  const json report =
      run({"--backend", "mlx", "--op",
           "add,mul,mm,relu,softmax,layer_norm,sum,arange,linspace,randn,raw,unary_mix,range_mix,"
           "linear,mlp,conv2d,transformer_layer,chain,async_eval,lazy,compiled,draws,released,"
           "transforms",
           "--threads", "1", "--trials", "2"});
  EXPECT_EQ(failures(report, MPSPROBE_MLX_CONTROL) + failures(report, MPSPROBE_MLX_NEWEST), 0)
      << read("out/report.md");
  EXPECT_EQ(report.at("cells").size(), 48U);
  for (const json& cell : report.at("cells")) EXPECT_EQ(cell.at("counted"), 2) << cell.dump(1);
  // Nothing of the runner's own stands in them: the trials of a worker share one.
  EXPECT_EQ(report.at("provenances").size(), 2U);
}

TEST_F(MlxRun, AStreamOfAnotherThreadIsRefusedByTheNewestReleaseInOneWay) {
  const json report = run({"--backend", "mlx", "--op", "chain", "--owner", "main,other", "--stream",
                           "default,per-thread", "--threads", "1,2", "--trials", "2"});
  EXPECT_EQ(failures(report, MPSPROBE_MLX_NEWEST), 0);
  EXPECT_EQ(report.at("refused"), 16);
  EXPECT_EQ(report.at("signatures").size(), 0U) << report.at("signatures").dump(1);
  EXPECT_THAT(report.at("answer").at("text").get<std::string>(),
              HasSubstr("refuses arrays and streams of another thread (16 trials in 8 cells)"));
}

TEST_F(MlxRun, ARunThatNamesNoBackendIsReal) {
  const Run result = mpsprobe({"run", "--matrix", "--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("mlx/chain/"), Not(HasSubstr("sim/"))));
}

TEST_F(MlxRun, KnownDefectsAreExpectedByTheNameOfTheirMatrix) {
  write("m.json", R"({"mpsprobe_matrix": 1, "name": "mlx-known", "axes": {
    "op": ["draws", "chain"], "threads": [4]}})");
  run({"--matrix", path("m.json"), "--backend", "mlx", "--trials", "5", "--expectations",
       "mlx-known"});
  EXPECT_THAT(said_, AllOf(HasSubstr("mlx/draws/default/threads=4"), HasSubstr("wrong_result")));
  EXPECT_THAT(said_, Not(HasSubstr("new: no entry knows them")));
}

TEST_F(MlxRun, EachEntryOfTheKnownDefectsIsOfACellOfTheirMatrix) {
  const Run listed = mpsprobe({"list", "cells", "--matrix", "mlx-known"});
  std::vector<Cell> cells;
  std::istringstream lines(listed.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("mlx/")) cells.push_back(parse_cell(line));
  }
  EXPECT_GE(cells.size(), 20U) << listed.out << listed.err;
  const std::string file = MPSPROBE_SOURCE_DIR "/scenarios/expectations/mlx-known.json";
  for (const KnownFailure& known : parse_expectations(read_expectations_file(file), file)) {
    EXPECT_TRUE(std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
      return known.where.axes.matches(cell);
    })) << known.place;
  }
}

TEST_F(MlxRun, AxesThatMeanNothingAreRefused) {
  const Run result = mpsprobe({"run", "--backend", "mlx", "--op", "chain", "--threads", "2",
                               "--sync", "never", "--trials", "1", "--out", path("a")});
  EXPECT_EQ(result.exit_code, 4) << result.out << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("sync=never: chain waits by itself"));
}

TEST_F(MlxRun, TheOldReleaseFailsAndItsBundleIsUnseenBesideItAndInconclusiveWithoutIt) {
  const json report = run({"--cell", kRacing, "--trials", "20"});
  EXPECT_GT(failures(report, MPSPROBE_MLX_CONTROL), 0);
  EXPECT_EQ(failures(report, MPSPROBE_MLX_NEWEST), 0) << read("out/report.md");
  EXPECT_THAT(said_, Not(HasSubstr("SIMULATED")));
  EXPECT_THAT(said_, Not(HasSubstr("LibTorch")));
  EXPECT_THAT(said_, HasSubstr("worker mlx-" MPSPROBE_MLX_CONTROL ": MLX " MPSPROBE_MLX_CONTROL));
  EXPECT_THAT(read("out/report.md"), HasSubstr("mlx::core::"));
  const Run packed = mpsprobe(
      {"feedback", path("out/report.json"), "--for", "mlx", "--json", "--out", path("bundles")});
  ASSERT_EQ(packed.exit_code, 0) << packed.out << packed.err;
  const std::string bundle = json::parse(packed.out).at("bundles").at(0).at("folder");
  EXPECT_THAT(shell("cat " + bundle + "/issue.md").out,
              HasSubstr("| " MPSPROBE_MLX_CONTROL " | 4 | 30 |"));
  const Run verified =
      mpsprobe({"verify", bundle, "--trials", "20", "--stall", "5", "--out", path("verified")});
  EXPECT_THAT(verified.out, HasSubstr("none seen")) << verified.err;
  const Run alone =
      mpsprobe({"verify", bundle, "--worker", std::string("new=") + MPSPROBE_MLX_NEWEST_WORKER,
                "--trials", "20", "--stall", "5", "--out", path("alone")});
  EXPECT_THAT(alone.out, HasSubstr("inconclusive")) << alone.err;
}

TEST_F(MlxRun, TheEmittedProgramFailsWithTheOldReleaseAndPassesWithTheNewOne) {
  ProofRequest request{.kinds = {Kind::mlx}, .work = path("proof")};
  request.what = {.cell = parse_cell("mlx/lazy/default/threads=4/iterations=30"),
                  .signature = "SIGSEGV",
                  .programs = MPSPROBE_SOURCE_DIR "/reproducers/programs"};
  request.library = std::filesystem::path(MPSPROBE_MLX_CONTROL_ROOT) / "lib" / kMlxLibrary;
  const Proved old = prove(request);
  ASSERT_TRUE(old.proofs.back().arm == ProofArm::failing) << old.proofs.back().problem;
  EXPECT_TRUE(old.proofs.back().held) << old.proofs.back().problem;
  // The program as it was handed out, with the other release.
  write("reproducer.cpp", old.emissions.back().files.at(0).text);
  const std::string root = MPSPROBE_MLX_NEWEST_ROOT;
  const Run built = shell("cd " + path(".") + " && c++ -std=c++20 -isystem " + root +
                          "/include reproducer.cpp -o reproducer -L" + root + "/lib -lmlx " +
                          "-Wl,-rpath," + root + "/lib -pthread -Wl,--allow-shlib-undefined");
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Run passed = shell(path("reproducer"));
  EXPECT_EQ(passed.exit_code, 0) << passed.out;
  EXPECT_THAT(passed.out, HasSubstr("0 of "));
}

}  // namespace
}  // namespace mpsprobe

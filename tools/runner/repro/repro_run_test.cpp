// `mpsprobe repro` with LibTorch and the simulated device, whose defects are known.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/journal/journal.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReproRun : public ProgramTest {
 protected:
  /// (cell, index) of each trial in the journal, as often as it was run.
  std::multiset<std::pair<std::string, int>> trials(const std::string& folder) const {
    std::multiset<std::pair<std::string, int>> found;
    std::ifstream journal(path(folder + "/journal.ndjson"));
    for (std::string line; std::getline(journal, line);) {
      const json record = json::parse(line);
      if (record.at("record") != "trial") continue;
      const json& trial = record.at("trial");
      found.emplace(trial.at("cell"), trial.at("trial"));
    }
    return found;
  }
};

TEST_F(ReproRun, AReportIsReducedToTheLayerAndTheThreadsThatMatter) {
  Run result =
      mpsprobe({"run", "--cell",
                "sim/transformer_layer/default/threads=8/iterations=4/sync=end/profile=one-layer",
                "--trials", "2", "--out", path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  result = mpsprobe({"repro", path("out/report.json"), "--no-conditions", "--no-programs", "--out",
                     path("repro")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      HasSubstr("minimal cell: sim/layer_norm/default/threads=3/iterations=1/profile=one-layer"));
  EXPECT_THAT(result.out, StartsWith("SIMULATED"));
  EXPECT_THAT(result.err, HasSubstr("SIMULATED"));
  EXPECT_THAT(read("repro/repro.md"), StartsWith("# SIMULATED"));
  const json minimum = json::parse(read("repro/minimum.json"));
  EXPECT_TRUE(minimum.at("simulated"));
  EXPECT_EQ(minimum.at("cell"), "sim/layer_norm/default/threads=3/iterations=1/profile=one-layer");
  EXPECT_EQ(minimum.at("reliability").at("failures"), 10);
  EXPECT_NE(minimum.at("build").at("version"), "");
  EXPECT_FALSE(std::filesystem::exists(path("repro/programs")));
}

// From the run to what is filed: the programs were shown to fail, and the bundle says so.
TEST_F(ReproRun, TheProgramsOfTheMinimumFailHereAndGoIntoTheBundle) {
  Run result = mpsprobe({"run", "--cell", "sim/linear/nograph/threads=3/iterations=2", "--trials",
                         "6", "--out", path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  result = mpsprobe({"repro", path("out/report.json"), "--no-conditions"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::string folder;
  for (const auto& entry : std::filesystem::directory_iterator(path("out"))) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("repro-")) folder = "out/" + name;
  }
  ASSERT_NE(folder, "");
  std::map<std::string, json> proofs;
  for (const json& proof : json::parse(read(folder + "/proofs.json"))) {
    proofs[proof.at("kind").get<std::string>() + " " + proof.at("arm").get<std::string>()] = proof;
  }
  for (const char* arm : {"libtorch build", "libtorch clean", "libtorch failing"}) {
    ASSERT_TRUE(proofs.contains(arm)) << read(folder + "/proofs.json");
    EXPECT_TRUE(proofs[arm].at("held")) << proofs[arm].dump();
  }
  EXPECT_THAT(read(folder + "/repro.md"), HasSubstr("## Programs"));
  EXPECT_FALSE(std::filesystem::exists(path(folder + "/proof")));  // what was built is gone

  result = mpsprobe({"feedback", path("out/report.json"), "--allow-simulated", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::filesystem::path bundle =
      json::parse(result.out).at("bundles").at(0).at("folder").get<std::string>();
  const auto text = [&](const char* name) {
    std::ifstream file(bundle / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_THAT(text("issue.md"), HasSubstr("Open a terminal in programs/"));
  EXPECT_THAT(text("programs/libtorch/reproducer.cpp"), HasSubstr("SIMULATED"));
  EXPECT_THAT(text("README.md"), Not(HasSubstr("were not built or run")));
  EXPECT_THAT(text("README.md"), Not(HasSubstr("was not minimised")));
}

TEST_F(ReproRun, TheTableSaysWhatIsNecessary) {
  const Run result =
      mpsprobe({"repro", "sim/linear/default/threads=2/iterations=1/warmup=main/profile=warm-only",
                "--json", "--no-programs", "--out", path("repro")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json minimum = json::parse(result.out);
  EXPECT_EQ(minimum.at("cell"), minimum.at("start"));
  std::map<std::string, bool> necessary;
  for (const json& row : minimum.at("conditions")) necessary[row.at("change")] = row["necessary"];
  EXPECT_TRUE(necessary.at("warmup main -> none"));
  EXPECT_TRUE(necessary.at("threads 2 -> 1"));
  EXPECT_TRUE(necessary.at("lock none -> forward"));
  EXPECT_FALSE(necessary.at("model shared -> per-thread"));
}

TEST_F(ReproRun, WhatIsKilledGoesOnWithNothingLostAndNothingRunTwice) {
  const std::string cell = "sim/layer_norm/default/threads=4/iterations=3/profile=one-layer";
  // Killed without a chance to tidy up, as soon as some trials are in the journal.
  const Run killed = shell(
      "$mpsprobe repro " + cell + " --no-conditions --no-programs --out " + path("repro") +
      " & runner=$!; while [ \"$(grep -c '\"record\":\"trial\"' " + path("repro/journal.ndjson") +
      " 2>/dev/null)\" != 4 ]; do kill -0 $runner || exit 9; done; kill -9 $runner; wait $runner");
  ASSERT_EQ(killed.exit_code, 137) << killed.err;
  const size_t before = trials("repro").size();
  ASSERT_GE(before, 4u);
  const Run resumed = mpsprobe({"repro", "--resume", path("repro"), "--no-programs"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("going on after"));
  EXPECT_THAT(resumed.out,
              HasSubstr("minimal cell: sim/layer_norm/default/threads=3/iterations=1"));
  const auto after = trials("repro");
  EXPECT_GT(after.size(), before);
  for (const auto& trial : after) EXPECT_EQ(after.count(trial), 1u) << trial.first;
}

TEST_F(ReproRun, ACellThatDoesNotFailIsNotReduced) {
  const Run result = mpsprobe({"repro", "sim/linear/default/threads=2/profile=clean", "--patience",
                               "3", "--out", path("repro")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, HasSubstr("0 of 3 failed"));
  EXPECT_EQ(json::parse(read("repro/minimum.json")).at("state"), "not_failing");
}

TEST_F(ReproRun, ProcessesAreStartedAsInTheRunUnlessItIsToldOtherwise) {
  Run result =
      mpsprobe({"run", "--cell", "cpu/selftest.null_dereference/default/iterations=2", "--worker",
                selftest_, "--trials", "3", "--start-process", "exec", "--out", path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto starts = [this](const std::string& folder) {
    std::set<StartProcess> ways;
    for (const TrialRecord& trial : read_journal(path(folder + "/journal.ndjson")).trials) {
      for (const ProcessRecord& process : trial.processes) ways.insert(process.start);
    }
    return ways;
  };
  const auto reduce = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"repro", path("out"), "--no-conditions", "--no-programs", "--worker",
                               selftest_, "--out"});
    return mpsprobe(more);
  };
  result = reduce({path("as-in-the-run")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(starts("as-in-the-run"), std::set{StartProcess::exec});
  result = reduce({path("standby"), "--start-process", "standby"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(starts("standby").contains(StartProcess::standby));
  result = mpsprobe({"repro", "--resume", path("standby"), "--start-process", "exec"});
  EXPECT_EQ(result.exit_code, 2);
}

// A run of several jobs gives each a part of the memory, and trials of repro run one at a time.
TEST_F(ReproRun, OnlyAMemoryLimitThatTheRunChoseIsKept) {
  const auto command = [this](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "run",      "--cell",  "cpu/selftest.null_dereference/default/iterations=2",
        "--worker", selftest_, "--trials",
        "2",        "--jobs",  "2",
        "--out",    path(name)};
    words.insert(words.end(), more.begin(), more.end());
    Run result = mpsprobe(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    result = mpsprobe(
        {"repro", path(name), "--no-conditions", "--no-programs", "--out", path(name + "-repro")});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read(name + "-repro/repro.md");
  };
  EXPECT_THAT(command("usual", {}), Not(HasSubstr("--memory-limit")));
  EXPECT_THAT(command("chosen", {"--memory-limit", "900"}), HasSubstr("--memory-limit 900"));
}

TEST_F(ReproRun, AnInterruptLeavesWhatThereIs) {
  const Run result = shell("$mpsprobe repro sim/linear/default/threads=4 --out " + path("repro") +
                           " & runner=$!; while [ ! -s " + path("repro/journal.ndjson") +
                           " ]; do kill -0 $runner || exit 9; done; kill -TERM $runner; "
                           "wait $runner");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const json minimum = json::parse(read("repro/minimum.json"));
  EXPECT_EQ(minimum.at("state"), "stopped");
  EXPECT_THAT(minimum.at("note").get<std::string>(), HasSubstr("repro --resume"));
}

TEST_F(ReproRun, WhatCannotBeReducedIsSaidWithTheRemedy) {
  Run result = mpsprobe({"repro", "sim/linear"});
  EXPECT_EQ(result.exit_code, 2);
  result = mpsprobe({"repro"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("Name a failing cell"));
  result = mpsprobe({"repro", "sim/nosuch/default"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("list operations"));
  result =
      mpsprobe({"repro", "sim/mm/default/threads=2/env.PYTORCH_MPS_FAST_MAHT=1", "--trust-run"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("env.PYTORCH_MPS_FAST_MAHT: no library"));
  EXPECT_THAT(result.err, Not(HasSubstr("--force-env")));
  result = mpsprobe({"repro", "cuda/linear/default/threads=2"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("cuda cannot be used here"));
  write("report.json", "{}");
  result = mpsprobe({"repro", path("report.json")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no journal.ndjson beside it"));
  result = mpsprobe({"repro", "--resume", path(".")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("holds no minimisation"));
  result = mpsprobe({"repro", "--resume", path("."), "--seed", "3"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("options that the minimisation began with"));
}

}  // namespace
}  // namespace mpsprobe

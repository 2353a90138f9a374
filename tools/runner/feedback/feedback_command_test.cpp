// Runs made here are of the self-test worker: planted faults, no evidence of anything.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;

class Feedback : public ProgramTest {
 protected:
  /// A run in which the worker crashes in every trial.
  void crash() {
    const Run run =
        mpsprobe({"run", "--worker", selftest_, "--cell", "cpu/selftest.null_dereference/default",
                  "--cell", "cpu/selftest.pass/default", "--trials", "2", "--out", path("out")});
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  }
};

TEST_F(Feedback, OfARunIsAFolderAndAnArchive) {
  crash();
  const Run run = mpsprobe({"feedback", path("out/report.json"), "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json bundles = nlohmann::json::parse(run.out).at("bundles");
  ASSERT_EQ(bundles.size(), 1U);
  const std::filesystem::path folder = bundles.at(0).at("folder").get<std::string>();
  EXPECT_TRUE(std::filesystem::exists(folder / "README.md"));
  EXPECT_TRUE(std::filesystem::is_regular_file(bundles.at(0).at("archive").get<std::string>()));
  const Run again = mpsprobe({"feedback", path("out")});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("is there already"));
}

TEST_F(Feedback, ForPytorchHasTheIssue) {
  crash();
  const Run run = mpsprobe({"feedback", path("out"), "--for", "pytorch", "--out", path("b")});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Run found = shell("cat " + path("b") + "/feedback-*/issue.md");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_THAT(found.out, testing::StartsWith("Title: "));
  EXPECT_THAT(found.out, HasSubstr("Versions"));
  EXPECT_EQ(mpsprobe({"feedback", path("out"), "--for", "pytorch", "--no-redact"}).exit_code, 2);
}

// A tracker gets its own stack's failures alone.
TEST_F(Feedback, ForAnotherStacksTrackerNamesTheRightOne) {
  crash();
  for (const char* tracker : {"apple", "mlx"}) {
    const Run run = mpsprobe({"feedback", path("out"), "--for", tracker, "--out", path("b")});
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_THAT(run.err, testing::AllOf(HasSubstr("the failure is of the backend cpu"),
                                        HasSubstr("Say --for pytorch")));
    EXPECT_FALSE(std::filesystem::exists(path("b")));
  }
}

// All of it is shown first, and packed by a typed yes alone.
TEST_F(Feedback, WithOutputPacksWhatWasShown) {
  crash();
  const std::string command =
      "$mpsprobe feedback " + path("out") + " --with-output --out " + path("b");
  const Run refused = shell("echo no | " + command);
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("Pack it?"));
  EXPECT_FALSE(std::filesystem::exists(path("b")));
  const Run agreed = shell("echo yes | " + command);
  EXPECT_EQ(agreed.exit_code, 0) << agreed.out << agreed.err;
  EXPECT_TRUE(std::filesystem::exists(path("b")));
}

// What died for want of memory does not fail where there is more of it.
TEST_F(Feedback, ReproAndVerifyKeepTheRunsMemoryLimit) {
  const Run run = mpsprobe({"run", "--worker", selftest_, "--cell", "cpu/selftest.memory/default",
                            "--trials", "2", "--memory-limit", "256", "--out", path("out")});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const Run reduced = mpsprobe({"repro", path("out"), "--no-conditions", "--no-programs",
                                "--most-trials", "10", "--out", path("repro")});
  EXPECT_EQ(reduced.exit_code, 0) << reduced.out << reduced.err;
  EXPECT_THAT(reduced.out, HasSubstr("--memory-limit 256"));
  const Run packed = mpsprobe({"feedback", path("out"), "--json"});
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  const std::string bundle =
      nlohmann::json::parse(packed.out).at("bundles").at(0).at("folder").get<std::string>();
  const auto verified_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", bundle, "--worker", selftest_, "--trials", "2"});
    return mpsprobe(more);
  };
  const Run verified = verified_with({"--out", path("verified")});
  EXPECT_THAT(verified.out, HasSubstr("still fails")) << verified.err;
  EXPECT_THAT(read("verified/report.json"), HasSubstr("\"memory_limit_bytes\": 268435456"));
  const Run asked = verified_with({"--memory-limit", "300", "--out", path("asked")});
  EXPECT_THAT(read("asked/report.json"), HasSubstr("\"memory_limit_bytes\": 314572800"));
}

TEST_F(Feedback, WithoutAFailureThereIsNothingToReport) {
  const Run run = mpsprobe({"run", "--worker", selftest_, "--cell", "cpu/selftest.pass/default",
                            "--trials", "1", "--out", path("out")});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Run feedback = mpsprobe({"feedback", path("out")});
  EXPECT_EQ(feedback.exit_code, 2);
  EXPECT_THAT(feedback.err, HasSubstr("holds no failure"));
}

TEST_F(Feedback, OfNoRunSaysWhatToName) {
  const Run run = mpsprobe({"feedback", path("nothing")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("Name the folder of a run"));
}

}  // namespace
}  // namespace mpsprobe

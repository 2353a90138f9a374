// Runs made here are of the self-test worker: planted faults, no evidence of anything.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture.h"

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
  EXPECT_THAT(found.out, HasSubstr("Versions"));
  EXPECT_EQ(mpsprobe({"feedback", path("out"), "--for", "pytorch", "--no-redact"}).exit_code, 2);
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

// What is printed is pasted: it runs the same cell on the same worker, in the same environment and
// within the same limits.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "harness/journal/journal.h"
#include "tools/runner/program_fixture.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PastedCommands : public ProgramTest {
 protected:
  /// Everything that the run wrote and printed, and report.json by itself.
  std::string printed_;
  nlohmann::json report_;

  void run(const std::vector<std::string>& what) {
    std::vector<std::string> arguments{"run", "--out", path("first"), "--worker", selftest_};
    arguments.insert(arguments.end(), what.begin(), what.end());
    const Run run = mpsprobe(arguments);
    printed_ = run.out + run.err + read("first/report.md");
    report_ = nlohmann::json::parse(read("first/report.json"));
  }

  /// Each different command that runs a cell, as it stands there.
  std::set<std::string> commands() const {
    std::set<std::string> found;
    std::istringstream lines(printed_);
    for (std::string line; std::getline(lines, line);) {
      const size_t at = line.find(program_ + " run --cell ");
      if (at != std::string::npos) found.insert(line.substr(at));
    }
    return found;
  }

  Journal pasted(const std::string& command, const std::string& out) const {
    shell(command + " --out " + out);
    return read_journal(folder_ / out / "journal.ndjson");
  }

  void expect_same(const CampaignHeader& again, const CampaignHeader& first) const {
    EXPECT_EQ(again.workers.at(0).name, first.workers.at(0).name);
    EXPECT_EQ(again.workers.at(0).path, first.workers.at(0).path);
    EXPECT_EQ(again.environment, first.environment);
    EXPECT_EQ(again.timeout_seconds, first.timeout_seconds);
    EXPECT_EQ(again.stall_seconds, first.stall_seconds);
    EXPECT_EQ(again.memory_limit_bytes, first.memory_limit_bytes);
    EXPECT_EQ(again.jobs, first.jobs);
    EXPECT_EQ(again.seed, first.seed);
    EXPECT_EQ(again.trials, first.trials);
  }
};

TEST_F(PastedCommands, OfARunWithEveryLimitRunTheSameInEveryPlace) {
  run({"--cell", "cpu/selftest.null_dereference/default/threads=2", "--trials", "2", "--seed", "5",
       "--stall", "7", "--timeout", "33.5", "--memory-limit", "3000", "--jobs", "1", "--env",
       "PLANTED=it's two words", "--known-good", "never"});
  const Journal first = read_journal(folder_ / "first" / "journal.ndjson");
  std::set<std::string> all = commands();
  EXPECT_EQ(all.size(), 1U) << printed_;
  all.insert(report_.at("signatures").at(0).at("first").at("rerun").get<std::string>());
  ASSERT_EQ(all.size(), 1U) << "one command, wherever it is told";
  const Journal again = pasted(*all.begin(), "again");
  expect_same(again.header, first.header);
  ASSERT_EQ(again.trials.size(), 2U);
  EXPECT_EQ(to_string(again.trials[0].cell), "cpu/selftest.null_dereference/default/threads=2");
  EXPECT_EQ(again.trials[0].judgement.outcome, first.trials[0].judgement.outcome);
  EXPECT_EQ(again.trials[0].judgement.signature, first.trials[0].judgement.signature);
}

TEST_F(PastedCommands, NameTheSmallestCellThatFailsAsOftenAsAny) {
  run({"--op", "selftest.null_dereference", "--backend", "cpu", "--threads", "2,4,8", "--trials",
       "2", "--jobs", "1"});
  ASSERT_EQ(report_.at("signatures").size(), 1U);
  EXPECT_THAT(report_.at("signatures").at(0).at("first").at("rerun"),
              HasSubstr("default/threads=2 "));
  EXPECT_THAT(printed_, HasSubstr("default/threads=2 --trials 2"));
}

TEST_F(PastedCommands, BeginWithTheProgramThatWasCalled) {
  const Run run = shell(
      "MPSPROBE_CALLED_AS=tools/mpsprobe \"$mpsprobe\" run --cell "
      "cpu/selftest.null_dereference/default --trials 1 --worker \"$worker\" --out o");
  EXPECT_THAT(run.out, HasSubstr("tools/mpsprobe run --cell"));
  const auto report = nlohmann::json::parse(read("o/report.json"));
  EXPECT_THAT(report.at("signatures").at(0).at("first").at("rerun"),
              testing::StartsWith("tools/mpsprobe run --cell"));
}

}  // namespace
}  // namespace mpsprobe

// Cells under ThreadSanitizer, with races that were planted in the self-test worker: each is found
// and named, what is properly locked is left alone, and no worker runs such a cell as if.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/runner/exit_code.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class DataRace : public ProgramTest {
 protected:
  /// Runs into the folder `out`, in which every form of report is.
  Run run(const std::string& worker, std::vector<std::string> more) const {
    std::vector<std::string> arguments{"run",       "--worker", worker,
                                       "--trials",  "5",        "--out",
                                       path("out"), "--format", "markdown,json,html,junit"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return mpsprobe(arguments);
  }
  std::string copy_of_worker(const std::string& name) const {
    const std::string worker = selftest_.substr(selftest_.find('=') + 1);
    fs::copy_file(worker, path(name));
    return path(name);
  }
};

TEST_F(DataRace, PlantedOnesAreFoundAndWhatIsLockedIsNot) {
  const Run ran = run(selftest_, {"--matrix", "planted-races"});
  ASSERT_EQ(ran.exit_code, kExitOk) << ran.err << ran.out;
  const json report = json::parse(read("out/report.json"));
  int races = 0;
  for (const json& trial : report.at("trials")) {
    const json& judgement = trial.at("judgement");
    const bool locked = trial.at("cell").get<std::string>().find("locked") != std::string::npos;
    EXPECT_EQ(judgement.at("outcome"), locked ? "pass" : "data_race") << trial.dump(1);
    if (locked) continue;
    ++races;
    EXPECT_EQ(judgement.at("phase"), "run");
    const json& stacks = trial.at("processes").at(0).at("stacks").at("threads");
    ASSERT_EQ(stacks.size(), 2U);
    for (const json& stack : stacks) {
      EXPECT_THAT(stack.at("name").get<std::string>(), HasSubstr(" by thread T"));
      EXPECT_FALSE(stack.at("frames").empty());
    }
  }
  EXPECT_EQ(races, 15);
}

TEST_F(DataRace, EveryReportHoldsBothStacks) {
  const std::string cell = "cpu/selftest.racy_singleton/default/threads=4/sanitizer=thread";
  const Run ran = run(selftest_, {"--cell", cell, "--fail-on", "any"});
  EXPECT_EQ(ran.exit_code, kExitFound) << ran.err;
  const std::string title = "race: Registry::instance / Registry::instance";
  EXPECT_THAT(ran.out + ran.err, HasSubstr(title));
  for (const char* file : {"report.html", "junit.xml", "details.md"}) {
    const std::string text = read(std::string("out/") + file);
    EXPECT_THAT(text, HasSubstr(title)) << file;
    EXPECT_THAT(text, HasSubstr("Previous")) << file;
    EXPECT_THAT(text, HasSubstr("planted::unguarded_registry")) << file;
  }
  EXPECT_THAT(read("out/report.md"), HasSubstr("ran under ThreadSanitizer"));
}

TEST_F(DataRace, WithoutTheOtherBuildSuchCellsAreLeftOut) {
  const std::string worker = "stock=" + copy_of_worker("worker");
  const Run ran =
      run(worker, {"--op", "selftest.pass", "--backend", "cpu", "--sanitizer", "thread"});
  EXPECT_EQ(ran.exit_code, kExitNothingRun);
  EXPECT_THAT(ran.err, HasSubstr("docs/building.md says how to make one"));
}

TEST_F(DataRace, ABuildThatIsNoneRefusesThem) {
  const std::string worker = "stock=" + copy_of_worker("worker");
  copy_of_worker("worker-tsan");
  const Run ran =
      run(worker, {"--op", "selftest.pass", "--backend", "cpu", "--sanitizer", "thread"});
  EXPECT_EQ(ran.exit_code, kExitNothingRun) << ran.err;
  EXPECT_THAT(read("out/report.json"), HasSubstr("was not built with ThreadSanitizer"));
}

}  // namespace
}  // namespace mpsprobe

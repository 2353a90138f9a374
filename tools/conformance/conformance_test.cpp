// A worker that breaks one rule of docs/protocol.md is told which, and workers that keep them all
// pass.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tools/runner/program_fixture.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

const std::string kFaulty =
    std::string(MPSPROBE_SOURCE_DIR) + "/tools/conformance/testdata/faulty_worker.py";

class Conformance : public ProgramTest {
 protected:
  /// Holds a worker against the rules that match, with MPSPROBE_FAULT as given.
  Run conform(const std::string& worker, const std::string& fault, const std::string& filter = "") {
    std::filesystem::remove_all(path("out"));
    return shell("MPSPROBE_FAULT=" + fault + " $mpsprobe run --matrix conformance --trials 1 " +
                 (filter.empty() ? "" : "--filter '*" + filter + "/*' ") + "--worker w='" + worker +
                 "' --out out 2>&1");
  }
};

struct Fault {
  const char* name;  ///< of MPSPROBE_FAULT, and of the rule that it breaks
  const char* words;
};

class PlantedFault : public Conformance, public testing::WithParamInterface<Fault> {};

TEST_P(PlantedFault, IsNamedInTheReport) {
  const auto [name, words] = GetParam();
  const std::string rule = std::string("conformance.") + name;
  const Run run = conform(kFaulty, name, rule);
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_THAT(read("out/report.md"), HasSubstr(rule));
  EXPECT_THAT(read("out/details.md"), HasSubstr(words)) << run.out;
}

INSTANTIATE_TEST_SUITE_P(
    Twelve, PlantedFault,
    testing::Values(Fault{"numbers", "both processes of a cell have the same numbers"},
                    Fault{"meeting", "its threads do not meet at the start"},
                    Fault{"axes", "it says that it honours lock"},
                    Fault{"ending", "ends with exit code 0 and without its result"},
                    Fault{"leash", "after its gate has ended"},
                    Fault{"defaults", "a cell without iterations: it says that it did 3"},
                    Fault{"slots", "writes nothing into its slot of the flight recorder"},
                    Fault{"comparing", "it passes with a result that was spoilt on purpose"},
                    Fault{"children", "it ends and leaves a process behind"},
                    Fault{"channels", "something else than events to the events channel"},
                    Fault{"forks", "the second trial that its server forks"},
                    Fault{"phases", "its phase is still startup"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Conformance, TheSameWorkerWithoutAFaultPasses) {
  const Run run = conform(kFaulty, "none");
  EXPECT_EQ(run.exit_code, 0) << run.out << read("out/details.md");
  EXPECT_THAT(run.out, HasSubstr("0 failed"));
}

// As somebody has it who has read the page and nothing else.
TEST_F(Conformance, TheSampleOfThePagePasses) {
  std::ifstream page(std::string(MPSPROBE_SOURCE_DIR) + "/docs/protocol.md");
  std::ostringstream text;
  text << page.rdbuf();
  const std::string all = text.str();
  const size_t begin = all.find("```python\n") + 10;
  write("pyworker", all.substr(begin, all.find("```", begin) - begin));
  std::filesystem::permissions(path("pyworker"), std::filesystem::perms::owner_all);
  const Run run = conform(path("pyworker"), "none");
  EXPECT_EQ(run.exit_code, 0) << run.out << read("out/details.md");
  EXPECT_THAT(run.out, HasSubstr("0 failed"));
}

TEST_F(Conformance, AWorkerOnTheCLibraryPasses) {
  const Run run = conform(MPSPROBE_SUM_WORKER, "none");
  EXPECT_EQ(run.exit_code, 0) << run.out << read("out/details.md");
  EXPECT_THAT(run.out, HasSubstr("0 failed"));
}

TEST_F(Conformance, NeedsOneWorkerThatIsOne) {
  Run run = mpsprobe({"run", "--matrix", "conformance"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--worker NAME=PATH"));
  run = mpsprobe({"run", "--matrix", "conformance", "--worker", "a=/bin/true"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("does not answer as a worker"));
}

}  // namespace
}  // namespace mpsprobe

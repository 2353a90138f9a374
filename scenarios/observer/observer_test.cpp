// Programs that break a rule of Metal's, and their legal twins, with the observer preloaded: it
// names the rule and both places before the simulated device notices, and says nothing of the twin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "harness/process/command.h"
#include "harness/record/process_record.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// A program's run, and what the observer wrote of it.
struct Observed {
  CommandResult ended;
  std::vector<json> lines;
};

Observed observe(std::vector<std::string> arguments) {
  const std::filesystem::path report =
      std::filesystem::temp_directory_path() / ("observer_test." + std::to_string(getpid()));
  std::filesystem::remove(report);
  arguments.insert(arguments.begin(), MPSPROBE_METAL_RULES);
  Observed observed;
  observed.ended =
      run_command(arguments, 60,
                  {"LD_PRELOAD=" MPSPROBE_OBSERVER, "MPSPROBE_OBSERVER_REPORT=" + report.string(),
                   "ASAN_OPTIONS=handle_abort=0", "TSAN_OPTIONS=handle_abort=0"});
  std::ifstream file(report);
  for (std::string line; std::getline(file, line);) observed.lines.push_back(json::parse(line));
  std::filesystem::remove(report);
  return observed;
}

struct RuleCase {
  const char* program;  ///< of metal_rules
  const char* rule;     ///< of the observer's
  bool proof = true;
  bool earlier = true;  ///< there is a second place

  friend void PrintTo(const RuleCase& rule, std::ostream* out) { *out << rule.program; }
};

constexpr RuleCase kCases[] = {
    {"shared-command-buffer", "shared-command-buffer"},
    // The device that stands in here forbids both; in Metal they are legal where something orders
    // the threads.
    {"foreign-command-buffer", "foreign-command-buffer", false},
    {"shared-encoder", "handed-over-encoder", false},
    {"shared-kernel", "shared-kernel"},
    {"second-encoder", "second-encoder"},
    {"commit-open-encoder", "commit-open-encoder"},
    {"double-commit", "double-commit"},
    {"encoder-after-commit", "encoder-after-commit"},
    {"scheduled-handler-after-commit", "scheduled-handler-after-commit"},
    {"completed-handler-after-commit", "completed-handler-after-commit"},
    {"wait-before-commit", "wait-before-commit"},
    {"encode-after-end", "encode-after-end"},
    {"end-twice", "end-twice"},
    {"release-without-end", "release-without-end"},
    {"foreign-encoder", "foreign-encoder"},
    {"no-function", "no-function", true, false},
    {"dispatch-without-pipeline", "dispatch-without-pipeline"},
    {"unbound-buffer", "unbound-buffer"},
    {"dispatch-after-end", "dispatch-after-end"},
    {"fill-beyond-buffer", "fill-beyond-buffer"},
    {"copy-beyond-buffer", "copy-beyond-buffer"},
    {"array-beyond-buffer", "array-beyond-buffer", true, false},
    {"unfed-placeholder", "unfed-placeholder", true, false},
};

class ObservedRule : public testing::TestWithParam<RuleCase> {};

TEST_P(ObservedRule, IsNamedWithBothPlacesBeforeTheDeviceNotices) {
  const Observed observed = observe({"break", GetParam().program});
  EXPECT_EQ(observed.ended.termination, Termination(Signaled{SIGABRT, false}))
      << observed.ended.err;
  ASSERT_EQ(observed.lines.size(), 2U) << observed.ended.err;
  EXPECT_EQ(observed.lines[0]["kind"], "begin");
  const json& found = observed.lines[1];
  EXPECT_EQ(found["rule"], GetParam().rule);
  EXPECT_EQ(found["kind"], GetParam().proof ? "misuse" : "suspicion");
  EXPECT_EQ(found["here"]["frames"][0]["image"], "metal_rules");
  EXPECT_EQ(found.contains("earlier"), GetParam().earlier);
  if (GetParam().earlier) {
    EXPECT_EQ(found["earlier"]["site"]["frames"][0]["image"], "metal_rules");
  }
  EXPECT_THAT(found["source"], HasSubstr("https://developer.apple.com/"));
  const size_t said = observed.ended.err.find("mpsprobe observer: ");
  EXPECT_LT(said, observed.ended.err.find("failed assertion")) << observed.ended.err;
  EXPECT_THAT(observed.ended.err, HasSubstr("  mend: "));
}

TEST_P(ObservedRule, IsNotBrokenByTheLegalTwin) {
  const Observed observed = observe({"keep", GetParam().program, "20"});
  EXPECT_EQ(observed.ended.termination, Termination(Exited{0})) << observed.ended.err;
  EXPECT_THAT(observed.ended.err, Not(HasSubstr("observer")));
  ASSERT_EQ(observed.lines.size(), 2U);
  EXPECT_EQ(observed.lines[1]["kind"], "end");
  EXPECT_GT(observed.lines[1]["calls"], 20);
  EXPECT_EQ(observed.lines[1]["proofs"], 0);
  EXPECT_EQ(observed.lines[1]["suspicions"], 0);
}

std::string observed_name(const testing::TestParamInfo<RuleCase>& info) {
  std::string name = info.param.program;
  for (char& each : name) {
    if (each == '-') each = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, ObservedRule, testing::ValuesIn(kCases), observed_name);

}  // namespace
}  // namespace mpsprobe

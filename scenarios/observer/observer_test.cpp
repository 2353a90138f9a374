// Programs that break a rule of Metal's, and their legal twins, with the observer preloaded: it
// names the rule and both places before the simulated device notices, and says nothing of the twin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "harness/record/process_record.h"
#include "scenarios/observer/observed_program_for_tests.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

ObservedProgram observe(const std::vector<std::string>& of_metal_rules,
                        const std::vector<std::string>& environment = {}) {
  std::vector<std::string> arguments = {MPSPROBE_METAL_RULES};
  arguments.insert(arguments.end(), of_metal_rules.begin(), of_metal_rules.end());
  return observe_program(arguments, environment);
}

struct RuleCase {
  const char* program;  ///< of metal_rules
  const char* rule;     ///< of the observer's
  bool earlier = true;  ///< there is a second place
  const char* kind = "misuse";

  friend void PrintTo(const RuleCase& rule, std::ostream* out) { *out << rule.program; }
};

constexpr RuleCase kCases[] = {
    {"shared-command-buffer", "shared-command-buffer"},
    // Legal where anything orders the two threads, which nobody can see whole.
    {"foreign-command-buffer", "foreign-command-buffer", true, "suspicion"},
    {"shared-encoder", "handed-over-encoder", true, "suspicion"},
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
    {"no-function", "no-function", false},
    {"dispatch-without-pipeline", "dispatch-without-pipeline"},
    {"unbound-buffer", "unbound-buffer"},
    {"dispatch-after-end", "dispatch-after-end"},
    {"fill-beyond-buffer", "fill-beyond-buffer"},
    {"copy-beyond-buffer", "copy-beyond-buffer"},
    {"array-beyond-buffer", "array-beyond-buffer", false},
    {"unfed-placeholder", "unfed-placeholder", false},
};

class ObservedRule : public testing::TestWithParam<RuleCase> {};

TEST_P(ObservedRule, IsNamedWithBothPlacesBeforeTheDeviceNotices) {
  const ObservedProgram observed = observe({"break", GetParam().program});
  EXPECT_EQ(observed.ended.termination, Termination(Signaled{SIGABRT, false}))
      << observed.ended.err;
  ASSERT_EQ(observed.lines.size(), 2U) << observed.ended.err;
  EXPECT_EQ(observed.lines[0]["kind"], "begin");
  const json& found = observed.lines[1];
  EXPECT_EQ(found["rule"], GetParam().rule);
  EXPECT_EQ(found["kind"], GetParam().kind);
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

/// With the trap and without.
class ObservedTwin : public testing::TestWithParam<std::tuple<RuleCase, bool>> {};

TEST_P(ObservedTwin, BreaksNoRule) {
  const auto& [twin, trap] = GetParam();
  const ObservedProgram observed = observe(
      {"keep", twin.program, "20"},
      trap ? std::vector<std::string>{"MPSPROBE_OBSERVER_TRAP=1"} : std::vector<std::string>());
  EXPECT_EQ(observed.ended.termination, Termination(Exited{0})) << observed.ended.err;
  EXPECT_THAT(observed.ended.err, Not(HasSubstr("observer")));
  ASSERT_EQ(observed.lines.size(), 2U);
  EXPECT_EQ(observed.lines[1]["kind"], "end");
  EXPECT_GT(observed.lines[1]["calls"], 20);
  EXPECT_EQ(observed.lines[1]["proofs"], 0);
  EXPECT_EQ(observed.lines[1]["suspicions"], 0);
}

std::string observed_name(std::string name) {
  for (char& each : name) {
    if (each == '-') each = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, ObservedRule, testing::ValuesIn(kCases),
                         [](const auto& rule) { return observed_name(rule.param.program); });
INSTANTIATE_TEST_SUITE_P(Twins, ObservedTwin,
                         testing::Combine(testing::ValuesIn(kCases), testing::Bool()),
                         [](const auto& twin) {
                           return observed_name(std::get<0>(twin.param).program) +
                                  (std::get<1>(twin.param) ? "_with_the_trap" : "");
                         });

/// How a thread knows that another one is done with a command buffer, or with an encoder.
class ObservedHandOver : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(ObservedHandOver, IsSuspectedWhereNothingIsSeenThatOrdersTheTwo) {
  if (!MPSPROBE_OBSERVES_THREADS) GTEST_SKIP() << "ThreadSanitizer has the functions of threads";
  const auto& [way, encoder] = GetParam();
  std::vector<std::string> arguments = {MPSPROBE_HANDOVER, way};
  if (encoder) arguments.emplace_back("encoder");
  const ObservedProgram observed = observe_program(arguments);
  EXPECT_EQ(observed.ended.termination,
            encoder ? Termination(Signaled{SIGABRT, false}) : Termination(Exited{0}))
      << observed.ended.err;
  std::vector<std::string> said;
  for (const json& line : observed.lines) {
    if (!line.contains("rule")) continue;
    said.push_back(line.at("rule"));
    EXPECT_EQ(line.at("kind"), "suspicion");
  }
  if (std::string(way) != "atomic") {
    EXPECT_THAT(said, testing::IsEmpty()) << observed.ended.err;
  } else {
    EXPECT_THAT(said,
                testing::ElementsAre(encoder ? "handed-over-encoder" : "foreign-command-buffer"));
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, ObservedHandOver,
                         testing::Combine(testing::Values("start", "join", "lock", "condition",
                                                          "atomic"),
                                          testing::Bool()),
                         [](const auto& way) {
                           return std::string(std::get<0>(way.param)) +
                                  (std::get<1>(way.param) ? "_of_an_encoder" : "");
                         });

class ObservedMetal4 : public testing::TestWithParam<const char*> {};

TEST_P(ObservedMetal4, IsNamedWithBothPlaces) {
  const ObservedProgram observed = observe_program({MPSPROBE_METAL4, GetParam()});
  EXPECT_EQ(observed.ended.termination, Termination(Exited{0})) << observed.ended.err;
  ASSERT_EQ(observed.lines.size(), 3U) << observed.ended.err;
  EXPECT_EQ(observed.lines[1]["rule"], GetParam());
  EXPECT_EQ(observed.lines[1]["kind"], "misuse");
  EXPECT_EQ(observed.lines[1]["here"]["frames"][0]["image"], "observer_metal4");
  EXPECT_EQ(observed.lines[1]["earlier"]["site"]["frames"][0]["image"], "observer_metal4");
}

INSTANTIATE_TEST_SUITE_P(Rules, ObservedMetal4,
                         testing::Values("shared-allocator", "reset-while-recording",
                                         "commit-while-recording", "encode-after-end",
                                         "shared-commit-options"),
                         [](const auto& rule) { return observed_name(rule.param); });

TEST(ObservedMetal4Twin, KeepsItsRulesWhereAllocatorsAndEncodersAreUsedAgain) {
  const ObservedProgram observed = observe_program({MPSPROBE_METAL4, "keep"});
  EXPECT_EQ(observed.ended.termination, Termination(Exited{0})) << observed.ended.err;
  ASSERT_EQ(observed.lines.size(), 2U) << observed.ended.err;
  EXPECT_GT(observed.lines[1]["calls"], 40);
}

}  // namespace
}  // namespace mpsprobe

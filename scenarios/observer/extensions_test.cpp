// One thread, LibTorch on the stand-in, an extension of it: what is said of five ways to encode for
// oneself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "harness/record/process_record.h"
#include "scenarios/observer/observed_program_for_tests.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using testing::ElementsAre;

struct ExtensionCase {
  const char* program;
  const char* kind;  ///< "" where nothing is said
  bool metal_passes;

  friend void PrintTo(const ExtensionCase& extension, std::ostream* out) {
    *out << extension.program;
  }
};

constexpr ExtensionCase kExtensions[] = {
    {"second_encoder", "misuse", false},  {"off_queue", "misuse", true},
    {"borrowed_buffer", "misuse", false}, {"own_encoder", "suspicion", true},
    {"torchs_encoder", "", true},
};

class ObservedExtension : public testing::TestWithParam<ExtensionCase> {};

TEST_P(ObservedExtension, IsJudgedByPyTorchsRules) {
  const ExtensionCase& test = GetParam();
  const ObservedProgram observed = observe_program({MPSPROBE_TORCH_EXTENSION, test.program});
  if (test.metal_passes) {
    EXPECT_EQ(observed.ended.termination, Termination(Exited{0})) << observed.ended.err;
  } else {
    EXPECT_EQ(observed.ended.termination, Termination(Signaled{SIGABRT, false}))
        << observed.ended.err;
  }
  std::vector<std::string> said;
  for (const json& line : observed.lines) {
    if (!line.contains("rule")) continue;
    said.push_back(line.at("rule"));
    EXPECT_EQ(line.at("kind"), test.kind);
    EXPECT_EQ(line.at("here").at("frames").at(0).at("image"), "torch_extension");
  }
  if (*test.kind == '\0') {
    EXPECT_TRUE(said.empty()) << observed.ended.err;
  } else {
    std::string rule = test.program;
    std::replace(rule.begin(), rule.end(), '_', '-');
    EXPECT_THAT(said, ElementsAre(rule));
  }
}

INSTANTIATE_TEST_SUITE_P(LibTorch, ObservedExtension, testing::ValuesIn(kExtensions),
                         [](const auto& test) { return std::string(test.param.program); });

}  // namespace
}  // namespace mpsprobe

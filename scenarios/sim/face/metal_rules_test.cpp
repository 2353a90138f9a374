#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "harness/process/command.h"
#include "harness/record/process_record.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

constexpr const char* kBanner =
    "mpsprobe: SIMULATED Metal device, profile none: nothing here is evidence about Apple "
    "hardware\n";

CommandResult run_rules(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), MPSPROBE_METAL_RULES);
  // A sanitizer must leave the abort alone, which is what is looked for.
  return run_command(arguments, 240,
                     {"ASAN_OPTIONS=handle_abort=0", "TSAN_OPTIONS=handle_abort=0"});
}

struct Listed {
  std::string text;
  bool apples_text = false;
};

/// The rows of `metal_rules list`.
std::map<std::string, Listed> listed_rules() {
  std::map<std::string, Listed> rules;
  std::istringstream table(run_rules({"list"}).out);
  for (std::string line; std::getline(table, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    const size_t begin = line.find("``") + 2;
    const size_t end = line.find("`` | ", begin);
    rules[name] = {line.substr(begin, end - begin), line.find("`` | Apple's | ") == end};
  }
  return rules;
}

std::string contents(const std::string& path) {
  std::ifstream file(MPSPROBE_SOURCE_DIR "/" + path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What the recorded text of that name is called in a report.
std::string recorded_title(const std::string& golden) {
  bool in_the_case = false;
  for (const char* group : {"metal", "mps"}) {
    std::istringstream file(
        contents(std::string("harness/signature/testdata/titles/") + group + ".txt"));
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("==== ")) in_the_case = line == "==== " + golden;
      if (in_the_case && line.starts_with("title: ")) return line.substr(7);
    }
  }
  return "";
}

struct RuleCase {
  const char* name;
  const char* golden;  ///< a recorded text of Apple's for the same misuse; nullptr: not in there

  friend void PrintTo(const RuleCase& rule, std::ostream* out) { *out << rule.name; }
};

constexpr RuleCase kCases[] = {
    {"shared-command-buffer", "metal-encoder-already-encoding-agxg15x"},
    {"foreign-command-buffer", nullptr},
    {"shared-kernel", nullptr},
    {"second-encoder", "metal-encoder-already-encoding-agxg13x"},
    {"commit-open-encoder", "metal-commit-uncommitted-encoder"},
    {"double-commit", "metal-already-committed"},
    {"encoder-after-commit", "metal-status-committed-from-several-threads"},
    {"scheduled-handler-after-commit", "metal-scheduled-handler"},
    {"completed-handler-after-commit", "metal-completed-handler"},
    {"wait-before-commit", nullptr},
    {"encode-after-end", nullptr},
    {"end-twice", "metal-debug-end-encoding-twice"},
    {"release-without-end", "metal-encoder-released"},
    {"foreign-encoder", nullptr},
    {"no-function", "metal-compute-function-nil"},
    {"dispatch-without-pipeline", "pipeline-state-nil"},
    {"unbound-buffer", "metal-debug-missing-binding"},
    {"dispatch-after-end", nullptr},
    {"shared-encoder", nullptr},
    {"fill-beyond-buffer", nullptr},
    {"copy-beyond-buffer", nullptr},
    {"array-beyond-buffer", nullptr},
    {"unfed-placeholder", nullptr},
};

class MetalRule : public testing::TestWithParam<RuleCase> {};

TEST_P(MetalRule, WhoBreaksItAbortsWithItsTextAndNothingElse) {
  const CommandResult ended = run_rules({"break", GetParam().name});
  EXPECT_EQ(ended.termination, Termination(Signaled{SIGABRT, false})) << ended.err;
  EXPECT_EQ(ended.err, kBanner + listed_rules().at(GetParam().name).text + "\n");
  EXPECT_EQ(ended.out, "");
}

TEST_P(MetalRule, TheRunnerRecognisesTheText) {
  const Listed rule = listed_rules().at(GetParam().name);
  const std::vector<Finding> findings = find_failures(kBanner + rule.text + "\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].text_class, TextClass::assertion);
  EXPECT_TRUE(ends_the_process(findings[0].text_class));
  // What Apple says is in the table of known bugs, and has the title of the recorded text.
  EXPECT_EQ(findings[0].known, rule.apples_text) << findings[0].title;
  if (GetParam().golden == nullptr) return;
  EXPECT_TRUE(rule.apples_text);
  EXPECT_EQ(findings[0].title, recorded_title(GetParam().golden));
}

TEST_P(MetalRule, ItsLegalTwinPassesAHundredTimes) {
  const CommandResult ended = run_rules({"keep", GetParam().name, "100"});
  EXPECT_EQ(ended.termination, Termination(Exited{0})) << ended.err;
  EXPECT_EQ(ended.out, std::string(GetParam().name) + ": kept 100 of 100 times, results right\n");
  EXPECT_EQ(ended.err, kBanner);
}

TEST_P(MetalRule, ItsLegalTwinPassesInEveryFreshProcess) {
  for (int i = 0; i < 5; ++i) {
    const CommandResult ended = run_rules({"keep", GetParam().name});
    EXPECT_EQ(ended.termination, Termination(Exited{0})) << ended.err;
    EXPECT_EQ(ended.err, kBanner);
  }
}

std::string test_name(const testing::TestParamInfo<RuleCase>& info) {
  std::string name = info.param.name;
  for (char& each : name) {
    if (each == '-') each = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, MetalRule, testing::ValuesIn(kCases), test_name);

TEST(MetalRules, EveryRuleOfTheTableIsTestedHere) {
  const std::map<std::string, Listed> rules = listed_rules();
  EXPECT_GE(rules.size(), 12U);
  EXPECT_EQ(rules.size(), std::size(kCases));
  for (const RuleCase& rule : kCases) EXPECT_TRUE(rules.contains(rule.name)) << rule.name;
}

TEST(MetalRules, AnArrayBeyondItsBufferHasTheTitleOfAppleOwnWordsInOlderReleases) {
  const std::string older =
      "MPSCore/Types/MPSNDArray.mm:782: failed assertion `[MPSNDArray, initWithBuffer:descriptor:] "
      "Error: buffer is not large enough. Must be 20480 bytes\n'\n";
  const std::vector<Finding> findings = find_failures(older);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(find_failures(listed_rules().at("array-beyond-buffer").text).at(0).title,
            findings[0].title);
}

TEST(MetalRules, WrongUsageIsRefusedWithTheRemedy) {
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"list", "more"},
                                                       {"break"},
                                                       {"break", "double-commit", "2"},
                                                       {"keep", "double-commit", "0"},
                                                       {"keep", "double-commit", "ten"}};
  for (const std::vector<std::string>& arguments : wrong) {
    const CommandResult ended = run_rules(arguments);
    EXPECT_EQ(ended.termination, Termination(Exited{2}));
    EXPECT_THAT(ended.err, HasSubstr("Usage: metal_rules"));
  }
  const CommandResult unknown = run_rules({"break", "no-such-rule"});
  EXPECT_EQ(unknown.termination, Termination(Exited{2}));
  EXPECT_THAT(unknown.err, HasSubstr("no rule 'no-such-rule'. See: metal_rules list"));
}

TEST(MetalRules, TheTableInTheDocumentationIsTheProgramsOwn) {
  const std::string table = "\n\n" + run_rules({"list"}).out + "\n";
  EXPECT_TRUE(contents("docs/sim.md").find(table) != std::string::npos)
      << "Put the output of 'metal_rules list' there";
}

}  // namespace
}  // namespace mpsprobe

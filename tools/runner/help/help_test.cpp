// What the program says of itself: help, completions, the manual page.
#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

#include "tools/runner/command.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;

class Help : public ProgramTest {
 protected:
  static std::vector<std::string> commands() {
    std::vector<std::string> names;
    for (const Command& command : mpsprobe::commands()) names.emplace_back(command.name);
    return names;
  }

  /// What bash would offer for the last of these words.
  std::string offered(const std::string& words) const {
    return shell(
               "bash -c 'PATH=\"$(dirname \"$0\"):$PATH\"; eval \"$(mpsprobe completions bash)\"; "
               "COMP_WORDS=(" +
               words +
               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mpsprobe mpsprobe; echo "
               "\"${COMPREPLY[@]}\"' \"$mpsprobe\"")
        .out;
  }
};

TEST_F(Help, FitsIntoEightyColumns) {
  for (const std::string& command : commands()) {
    std::istringstream lines(mpsprobe({command, "--help"}).out);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  mpsprobe")) continue;  // a command to paste
      EXPECT_LE(line.size(), 80U) << line;
    }
  }
}

TEST_F(Help, OfTheWholeNamesEveryCommand) {
  const std::string help = mpsprobe({}).out;
  for (const std::string& command : commands()) EXPECT_THAT(help, HasSubstr("\n  " + command));
  for (const Command& command : mpsprobe::commands()) {
    EXPECT_THAT(help, HasSubstr("\n" + std::string(command.group) + ":\n"));
    EXPECT_THAT(mpsprobe({std::string(command.name), "--help"}).out,
                HasSubstr(std::string(command.summary).substr(0, 40)));
  }
}

// One that the program did not know would run another in its place.
TEST_F(Help, EveryCommandComplainsOfItsOwnOptions) {
  for (const std::string& command : commands()) {
    const Run run = mpsprobe({command, "--no-such-option"});
    EXPECT_EQ(run.exit_code, 2) << command;
    EXPECT_THAT(run.err, HasSubstr(command)) << run.err;
  }
}

TEST_F(Help, OfRunIsGrouped) {
  const std::string help = mpsprobe({"run", "--help"}).out;
  for (const char* group :
       {"What runs:", "How much, and how long:", "On what it runs:", "Axes: "}) {
    EXPECT_THAT(help, HasSubstr(group));
  }
}

TEST_F(Help, BashCompletesCommandsOptionsAndValues) {
  EXPECT_EQ(offered("mpsprobe fe"), "feedback\n");
  EXPECT_EQ(offered("mpsprobe run --tri"), "--trials\n");
  EXPECT_EQ(offered("mpsprobe run --known-good a"), "auto always\n");
  EXPECT_EQ(offered("mpsprobe run --backend mps,cu"), "mps,cuda\n");
  EXPECT_EQ(offered("mpsprobe list ma"), "matrices\n");
}

TEST_F(Help, BashCompletesFilesOfOnesOwn) {
  write("only_one.py", "");
  for (const char* option : {"--python", "--pytest"}) {
    EXPECT_EQ(offered(std::string("mpsprobe run ") + option + " only"), "only_one.py\n");
  }
}

// A line of a paragraph to which the next one's first word could have been added was wrapped twice.
TEST_F(Help, IsWrappedOnce) {
  for (const std::string& command : commands()) {
    std::istringstream lines(mpsprobe({command, "--help"}).out);
    size_t before = 0;  // of a paragraph of exit codes
    for (std::string line; std::getline(lines, line);) {
      const bool begins = line.starts_with("Exit codes: ");
      if (before > 0 && !line.empty()) {
        EXPECT_GT(before + 1 + line.find(' '), 80U) << command << ": " << line;
      }
      before = begins || before > 0 ? line.size() : 0;
    }
  }
}

TEST_F(Help, BashAsksForWhatIsInstalled) {
  EXPECT_EQ(offered("mpsprobe run --matrix selftest-"), "selftest-cuda\n");
  EXPECT_THAT(offered("mpsprobe run --profile c"), HasSubstr("clean"));
}

TEST_F(Help, FishCompletesCommandsOptionsAndValues) {
  if (shell("command -v fish").exit_code != 0) GTEST_SKIP() << "no fish here";
  const auto in_fish = [this](const std::string& line) {
    return shell(
               "PATH=$(dirname $mpsprobe):$PATH; mpsprobe completions fish > fish; "
               "fish --no-config -c 'source fish; complete -C \"" +
               line + "\"' | cut -f1")
        .out;
  };
  EXPECT_EQ(in_fish("mpsprobe fe"), "feedback\n");
  EXPECT_EQ(in_fish("mpsprobe run --tri"), "--trials\n");
  EXPECT_EQ(in_fish("mpsprobe run --known-good a"), "always\nauto\n");
  EXPECT_EQ(in_fish("mpsprobe run --matrix selftest-"), "selftest-cuda\n");
}

// As a person sees it: zsh itself, on a terminal of its own.
TEST_F(Help, ZshCompletesNamesOfMatrices) {
  if (shell("command -v zsh").exit_code != 0) GTEST_SKIP() << "no zsh here";
  write("ask",
        "zmodload zsh/zpty\n"
        "zpty z zsh -f -i\n"
        "zpty -w z 'PS1=; unsetopt prompt_cr; fpath=($PWD $fpath); autoload -Uz compinit; "
        "compinit -u -D; print rea\"\"dy'\n"
        "zpty -r -m z text '*ready*'\n"
        "zpty -w -n z $'mpsprobe run --matrix selftest-\\t'\n"
        "zpty -r -m z text '*selftest-cuda*' && print -r -- completed\n"
        "zpty -d z\n");
  const Run run =
      shell("PATH=$(dirname $mpsprobe):$PATH; mpsprobe completions zsh > _mpsprobe; zsh -f ask");
  EXPECT_THAT(run.out, HasSubstr("completed")) << run.err;
}

TEST_F(Help, EveryShellIsToldEveryCommandAndTheOptionsOfEach) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(mpsprobe({"completions", shell}).out,
                HasSubstr("completions " + std::string(shell)));
    const Run all = mpsprobe({"completions", shell, "--", ""});
    EXPECT_EQ(all.exit_code, 0);
    for (const std::string& command : commands()) EXPECT_THAT(all.out, HasSubstr(command + "\t"));
    const Run run = mpsprobe({"completions", shell, "--", "run", "--"});
    for (const char* option : {"--expect-torch\t", "--threads\t", "--fail-on\t"}) {
      EXPECT_THAT(run.out, HasSubstr(option)) << shell;
    }
  }
  EXPECT_EQ(mpsprobe({"completions", "bash", "--", "no-such-command", ""}).out, "");
}

TEST_F(Help, ThePageHasEveryCommandAndNoLineThatManWouldTakeForARequest) {
  const std::string page = mpsprobe({"man"}).out;
  for (const std::string& command : commands()) {
    EXPECT_THAT(page, HasSubstr("\n.SH \"mpsprobe " + command + "\"\n"));
  }
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-expect\\-torch\\fR"));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('.')) continue;
    const std::string macro = line.substr(0, line.find(' '));
    EXPECT_THAT(macro, testing::AnyOf(".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi")) << line;
  }
}

}  // namespace
}  // namespace mpsprobe

#include "reproducers/tracker/issue_text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "harness/test_series.h"
#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kPython = "import torch\nx = torch.ones(2, device=\"mps\")\n";
constexpr const char* kTitledCell = "mps/linear/nograph/threads=3";

class IssueText : public testing::Test {
 protected:
  IssueText() {
    sample_.journal.header.machine = {{"os", "macOS 15.7.9"},
                                      {"os_build", "24G830"},
                                      {"model", "Mac16,5"},
                                      {"chip", "Apple M4 Max"},
                                      {"architecture", "arm64"}};
    for (auto& [id, provenance] : sample_.journal.provenances)
      provenance["device"] = "Apple M4 Max";
    facts_.signature = SampleJournal::segfault().signature;
    facts_.cell = parse_cell(kTitledCell);
    facts_.python = kPython;
    facts_.command = "mpsprobe run --cell mps/linear/nograph/threads=3 --trials 10";
  }

  /// Two versions by threads and iterations, beside cells that are no rows of it.
  void two_versions() {
    sample_.journal.header.workers.push_back({"fork", "/opt/fork/bin/mpsprobe-worker", {}});
    const auto both = [this](const std::string& cell, int stock, int fork) {
      sample_.provenance = "build-a";
      sample_.plan(cell).ran(10, stock);
      sample_.provenance = "build-b";
      sample_.ran(10, fork, SampleJournal::segfault(), "fork");
    };
    both("mps/linear/nograph/threads=1", 0, 0);
    both("mps/linear/nograph/threads=2", 3, 0);
    both("mps/linear/nograph/threads=3", 10, 7);
    both("mps/linear/nograph/threads=3/iterations=50", 10, 9);
    both("mps/linear/graph/threads=3", 10, 10);
    both("mps/linear/nograph/threads=3/lock=forward", 0, 0);
    sample_.provenance = "build-a";
    sample_.plan("mps/linear/nograph/threads=4").ran(10, 4, SampleJournal::hang());
  }

  std::string text() {
    analysis_ = analyse(sample_.journal);
    facts_.analysis = &analysis_;
    return issue_text(facts_);
  }

  SampleJournal sample_;
  Analysis analysis_;
  IssueFacts facts_;
};

TEST_F(IssueText, TheTableIsRightToTheDigit) {
  two_versions();
  const std::string issue = text();
  EXPECT_THAT(issue,
              HasSubstr("| torch | threads | iterations | crashed / total | failed otherwise |\n"
                        "| --- | --- | --- | --- | --- |\n"
                        "| 2.15.0+cpu | 1 | 10 | 0 / 10 | 0 |\n"
                        "| 2.15.0+cpu | 2 | 10 | 3 / 10 | 0 |\n"
                        "| 2.15.0+cpu | 3 | 10 | 10 / 10 | 0 |\n"
                        "| 2.15.0+cpu | 3 | 50 | 10 / 10 | 0 |\n"
                        "| 2.15.0+cpu | 4 | 10 | 0 / 10 | 4 |\n"
                        "| 2.9.1a0 | 1 | 10 | 0 / 10 | 0 |\n"
                        "| 2.9.1a0 | 2 | 10 | 0 / 10 | 0 |\n"
                        "| 2.9.1a0 | 3 | 10 | 7 / 10 | 0 |\n"
                        "| 2.9.1a0 | 3 | 50 | 9 / 10 | 0 |\n"));
  // The other path and the lock are other cells; nothing of them is in these numbers.
  EXPECT_THAT(issue, Not(HasSubstr("20 /")));
  EXPECT_THAT(issue, HasSubstr("LibTorch 2.15.0+cpu: 10 of 10 failed: above 69%"));
  EXPECT_THAT(issue, HasSubstr("LibTorch 2.9.1a0: 7 of 10 failed"));
}

TEST_F(IssueText, TwoBuildsOfOneVersionAreRowsOfTheirOwn) {
  sample_.journal.provenances["build-b"]["torch"]["version"] = "2.15.0+cpu";
  two_versions();
  EXPECT_THAT(text(), HasSubstr("| 2.15.0+cpu, build aa11 (stock) | 3 | 10 | 10 / 10 |"));
  EXPECT_THAT(text(), HasSubstr("| 2.15.0+cpu, build bb22 (fork) | 3 | 10 | 7 / 10 |"));
}

TEST_F(IssueText, OfACommandSaysThatItIsTheReportersOwnAndHowItWasRun) {
  sample_.plan("command/linear/default/threads=1").ran(10, 4);
  facts_.generic = true;
  facts_.cell = parse_cell("command/linear/default/threads=1");
  facts_.python.clear();
  facts_.why_no_python = "The command was not packed.";
  facts_.command = "mpsprobe run --cell command/command/default/threads=1 -- COMMAND";
  const std::string issue = text();
  EXPECT_THAT(issue, HasSubstr("Running a command of the reporter's own kills the process: "));
  EXPECT_THAT(issue, HasSubstr("4 of 10 failed"));
  EXPECT_THAT(issue, HasSubstr("was not packed. It was run with mpsprobe"));
  EXPECT_THAT(issue, HasSubstr("-- COMMAND\n"));
  EXPECT_THAT(issue, Not(HasSubstr("Python program")));
  EXPECT_THAT(issue, Not(HasSubstr("iterations")));
  EXPECT_THAT(issue_title(facts_),
              StartsWith("A command of the reporter's own kills the process: "));
}

TEST_F(IssueText, SaysOfAWrongResultWhatSawIt) {
  const Judgement wrong{Outcome::wrong_result, "", "wrong result: test_it"};
  facts_.signature = wrong.signature;
  sample_.plan("cpu/test_it/default/threads=1").ran(2, 2, wrong);
  sample_.plan("command/pl/default/threads=1").ran(2, 2, wrong);
  facts_.cell = parse_cell("cpu/test_it/default/threads=1");
  EXPECT_THAT(text(), HasSubstr(" computes wrong numbers: "));
  sample_.journal.header.environment = {"MPSPROBE_PYTEST=/x/test_a.py"};
  EXPECT_THAT(text(), HasSubstr(" fails an assertion: "));
  EXPECT_THAT(issue_title(facts_), StartsWith("test_it fails an assertion with 1 thread: "));
  facts_.cell = parse_cell("command/pl/default/threads=1");
  EXPECT_THAT(text(), HasSubstr("command of the reporter's own has a wrong output: "));
}

TEST_F(IssueText, HasTheFormOfTheTrackersTemplate) {
  two_versions();
  const std::string issue = text();
  EXPECT_THAT(
      issue,
      StartsWith(
          "### \xF0\x9F\x90\x9B Describe the bug\n\nRunning `torch.nn.functional.linear` on MPS"));
  EXPECT_THAT(issue, HasSubstr("\n```python\nimport torch\n"));
  EXPECT_THAT(issue, HasSubstr("\n### Versions\n\n```text\nPyTorch version: 2.15.0+cpu\n"));
  EXPECT_THAT(issue, HasSubstr("PyTorch version: 2.9.1a0\n"));
  EXPECT_THAT(issue, HasSubstr("OS: macOS 15.7.9 (arm64)\nOS build: 24G830\nModel: Mac16,5\n"));
  EXPECT_THAT(issue, HasSubstr("Device: Apple M4 Max\n"));
  EXPECT_THAT(issue, Not(HasSubstr("Python version")));  // nobody measured it
  EXPECT_THAT(issue,
              HasSubstr("LibTorch 2.15.0+cpu: 10 of 10 failed: above 69% with 95% confidence; with "
                        "1 thread, 0 of 10 failed: below 31%"));
  EXPECT_THAT(issue,
              HasSubstr("LibTorch 2.9.1a0: 7 of 10 failed: 34% to 94% with 95% confidence; with "
                        "2 threads, 0 of 10 failed"));
  EXPECT_THAT(issue, Not(HasSubstr("SIMULATED")));
  EXPECT_THAT(issue_title(facts_),
              StartsWith("[MPS] torch.nn.functional.linear kills the process with 3 threads: "));
}

TEST_F(IssueText, HasNoAttachmentAndNoLink) {
  two_versions();
  const std::string issue = text();
  for (const char* sign : {"http", "](", "<img", "attach", ".zip", ".ips", ".tar", "file:"}) {
    EXPECT_THAT(issue, Not(HasSubstr(sign))) << sign;
  }
}

TEST_F(IssueText, HasTheProgramAsItIs) {
  two_versions();
  const std::string issue = text();
  const size_t begin = issue.find("```python\n") + 10;
  const std::string program = issue.substr(begin, issue.find("```", begin) - begin);
  EXPECT_EQ(program, kPython);
}

TEST_F(IssueText, WithoutAProgramTheCommandStandsThereWithTheReason) {
  two_versions();
  facts_.python.clear();
  facts_.why_no_python = "Python cannot say processes=2.";
  EXPECT_THAT(text(), HasSubstr("no Python program for this: Python cannot say processes=2. "));
}

TEST_F(IssueText, WhatIsSimulatedSaysSoFirst) {
  sample_.plan("sim/linear/nograph/threads=3").ran(10, 10);
  facts_.cell = parse_cell("sim/linear/nograph/threads=3");
  EXPECT_THAT(text(), StartsWith("> **SIMULATED.**"));
  EXPECT_THAT(issue_title(facts_), StartsWith("SIMULATED: torch.nn.functional.linear"));
}

TEST_F(IssueText, ConditionsAreThoseOfTheMinimisation) {
  two_versions();
  Minimum minimum;
  minimum.cell = parse_cell("mps/linear/nograph/threads=3/iterations=5");
  minimum.reliability = {19, 20, 0, 0};
  Condition fewer;
  fewer.change = "threads 3 -> 2";
  fewer.tally = {0, 20, 0, 0};
  fewer.rarer = true;
  fewer.p = fewer.corrected_p = 0.0001;
  Condition warm;
  warm.change = "warmup none -> main";
  warm.tally = {18, 20, 0, 0};
  Condition skipped;
  skipped.change = "processes 1 -> 0";
  skipped.skipped = "makes no sense";
  minimum.conditions = {fewer, warm, skipped};
  facts_.minimum = &minimum;
  facts_.cell = minimum.cell;
  const std::string issue = text();
  EXPECT_THAT(issue, HasSubstr("Reduced to `mps/linear/nograph/threads=3/iterations=5`; in fresh "
                               "runs of that, 19 of 20 failed"));
  EXPECT_THAT(issue,
              HasSubstr("| `threads 3 -> 2` | 0/20 | below 0.001 | below 0.001 | none in 20"));
  EXPECT_THAT(
      issue,
      HasSubstr("| `warmup none -> main` | 18/20 | 1.000 | 1.000 | no difference shown |\n"));
  EXPECT_THAT(issue, HasSubstr("| `processes 1 -> 0` | | | | not run: makes no sense |\n"));
}

TEST_F(IssueText, AMinimalCellThatTheRunHasNotHasTheTableOfTheOneItCameFrom) {
  two_versions();
  facts_.cell = parse_cell("mps/linear/nograph/threads=2/shape=1x1x1");
  const std::string issue = text();
  EXPECT_THAT(issue, HasSubstr("| 2.15.0+cpu | 3 | 10 | 10 / 10 | 0 |"));
  EXPECT_THAT(issue, Not(HasSubstr("0 / 0")));
}

TEST_F(IssueText, WhatAnotherLayerDidIsSaid) {
  sample_.plan(kTitledCell).ran(20, 20);
  sample_.plan("cpu/linear/nograph/threads=3").ran(20, 0);
  const std::string issue = text();
  EXPECT_THAT(issue, HasSubstr("Other layers and builds"));
  EXPECT_THAT(issue, HasSubstr("`cpu/linear/nograph/threads=3`"));
}

/// What GitHub would act on outside of code: the text without its code blocks and spans.
std::string outside_code(const std::string& markdown) {
  std::string rest;
  std::string fence;
  size_t at = 0;
  while (at < markdown.size()) {
    const size_t end = std::min(markdown.find('\n', at), markdown.size());
    const std::string line = markdown.substr(at, end - at);
    at = end + 1;
    const size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (fence.empty() && ticks >= 3) {
      fence = std::string(ticks, '`');
    } else if (!fence.empty()) {
      if (line == fence) fence.clear();
    } else {
      rest += std::regex_replace(line, std::regex("(`+)[^`].*?[^`]?\\1(?!`)"), "CODE") + "\n";
    }
  }
  EXPECT_EQ(fence, "") << "a block is not closed";
  return rest;
}

TEST_F(IssueText, MlxsFormNamesTheDevice) {
  sample_.plan(kTitledCell).ran(5, 5, SampleJournal::segfault());
  text();
  EXPECT_THAT(mlx_issue_text(facts_, "", ""), HasSubstr("\n - Device Apple M4 Max\n"));
}

TEST_F(IssueText, HostileTextStaysInItsPlace) {
  const std::string hostile =
      "```\n# Heading\n@octocat #123 pytorch/pytorch#1 GH-12 <script>alert(1)</script> "
      "[x](http://example.org) ![y](z) ````` | `a` \x1b[2J\xff\xe2\x80\xae";
  sample_.journal.header.machine = {{"os", hostile}, {"chip", hostile}, {"model", hostile}};
  for (auto& [id, provenance] : sample_.journal.provenances) {
    provenance["device"] = hostile;
    provenance["torch"]["version"] = hostile;
  }
  Judgement how = SampleJournal::segfault();
  how.signature = hostile;
  sample_.plan(kTitledCell).ran(5, 5, how);
  sample_.last().processes[0].err.head = hostile;
  sample_.last().processes[0].err.bytes = hostile.size();
  for (TrialRecord& trial : sample_.journal.trials) {
    trial.processes[0].err.head = hostile;
    trial.processes[0].err.bytes = hostile.size();
    trial.processes[0].failures.push_back({"exception", hostile, "run", 1, 2, hostile});
  }
  Minimum minimum;
  minimum.reliability = {5, 5, 0, 0};
  Condition condition;
  condition.change = hostile;
  condition.skipped = hostile;
  minimum.conditions = {condition};
  facts_.minimum = &minimum;
  facts_.signature = hostile;
  facts_.not_expressed = {hostile};
  facts_.proof = hostile;
  const std::string issue = text();
  for (const std::string& each : {issue, mlx_issue_text(facts_, hostile, "cpp")}) {
    const std::string acted_on = outside_code(each);
    EXPECT_THAT(acted_on, Not(HasSubstr("@octocat"))) << acted_on;
    EXPECT_THAT(acted_on, Not(HasSubstr(" #123")));
    EXPECT_THAT(acted_on, Not(HasSubstr("pytorch#1")));
    EXPECT_THAT(acted_on, Not(HasSubstr("<script>")));
    EXPECT_THAT(acted_on, Not(HasSubstr("](http")));
    EXPECT_THAT(acted_on, Not(HasSubstr("\n# Heading")));
  }
  EXPECT_THAT(issue, Not(HasSubstr("\x1b")));
  EXPECT_THAT(issue, Not(HasSubstr("\xe2\x80\xae")));
  const std::string title = issue_title(facts_);
  EXPECT_EQ(title.find('\n'), std::string::npos);
  EXPECT_LE(title.size(), kMostIssueTitle);
}

TEST_F(IssueText, HasABoundedSize) {
  const std::string flood(100'000, 'x');
  Judgement how = SampleJournal::segfault();
  how.signature = flood;
  for (int threads = 3; threads <= 200; ++threads) {
    sample_.plan("mps/linear/nograph/threads=" + std::to_string(threads)).ran(1, 1, how);
  }
  facts_.signature = flood;
  facts_.proof = flood;
  facts_.not_expressed = std::vector<std::string>(series(500, 300), flood);
  const std::string issue = text();
  EXPECT_LE(issue.size(), kMostIssueBytes);
  EXPECT_THAT(issue, HasSubstr("### Versions"));
  EXPECT_THAT(issue, HasSubstr("left out here, for want of room"));
}

TEST_F(IssueText, ASignatureThatTheRunHasNotIsAMistakeOfTheCaller) {
  two_versions();
  facts_.signature = "something else";
  EXPECT_THROW(text(), std::invalid_argument);
}

}  // namespace
}  // namespace mpsprobe

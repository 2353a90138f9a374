#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/hostile_text_for_tests.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string markdown_of(const Journal& journal) {
  return report_markdown(analyse(journal));
}

TEST(Markdown, HasReport000sTables) {
  const std::string text = markdown_of(report_000().journal);
  EXPECT_THAT(text,
              HasSubstr("| threads | 1 | 2 | 3 | 4 | 5 | 8 |\n"
                        "|---|---|---|---|---|---|---|\n"
                        "| raw | pass 0/10 | pass 0/10 | pass 0/10 | pass 0/10 | pass 0/10 | pass "
                        "0/10 |\n"
                        "| linear nograph | pass 0/10 | pass 0/10 | **FAIL** 10/10 SIGSEGV |"));
  EXPECT_THAT(text, HasSubstr("| processes | 1 | 2 | 4 | 6 | 8 |\n|---|---|---|---|---|---|\n| "
                              "linear, in processes | pass 0/10 |"));
  EXPECT_THAT(text, HasSubstr("\n\nPath observed: linear nograph: nograph"));
}

TEST(Markdown, NamesTheRowsThatTheAnswerHasNoRoomFor) {
  SampleJournal sample;
  for (int iterations = 1; iterations <= 20; ++iterations) {
    const std::string count = std::to_string(iterations);
    sample.plan("cpu/add/default/iterations=" + count + "/threads=" + count).ran(10);
  }
  const std::string text = markdown_of(sample.journal);
  EXPECT_THAT(text, HasSubstr("\nand 8 more rows below\n"));
  EXPECT_THAT(text, HasSubstr("| add, iterations=20 | – | – |"));
}

TEST(Markdown, EachBlockShowsAllOfItsCells) {
  SampleJournal sample;
  sample.block("threads");
  sample.plan("cpu/add/default/threads=1").ran(10);
  sample.plan("cpu/add/default/threads=2").ran(10, 4);
  sample.block("another operation");
  sample.plan("cpu/mm/default/threads=1").ran(10);
  sample.journal.header.cells.push_back(CellGrid{
      "a boundary",
      {{"backend", {"cpu"}}, {"op", {"add"}}, {"iterations", {"10"}}, {"threads", {"1", "2", "3"}}},
      {{2, 1}},
      {{0, 2}}});
  const std::string text = markdown_of(sample.journal);
  EXPECT_THAT(text, HasSubstr("### threads\n\n| threads | 1 | 2 |\n"));
  EXPECT_THAT(text, HasSubstr("### another operation\n\n| threads | 1 |\n|---|---|\n| mm | pass "
                              "0/10 |\n"));
  EXPECT_THAT(text, HasSubstr("### a boundary\n\n| threads | 1 | 2 | 3 |\n|---|---|---|---|\n"
                              "| add | pass 0/10 | intermittent 4/10 SIGSEGV | not run |\n"));
}

TEST(Markdown, WorkersAreRows) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  sample.plan("cpu/add/default/threads=2").ran(1).ran(1, 1, SampleJournal::segfault(), "fork");
  EXPECT_THAT(markdown_of(sample.journal),
              HasSubstr("| add (stock) | pass 0/1 (9 not run) |\n| add (fork) | **FAIL** 1/1 "));
}

// Nobody calls their function by the name of a worker.
TEST(Markdown, OfOwnCodeThePageNamesWhatItIsAndWhatItHadLoaded) {
  SampleJournal sample;
  sample.plan("cpu/infer/default/threads=2").ran(10);
  sample.journal.provenances["build-a"] = {
      {"python", {{"implementation", "cpython"}, {"version", "3.11.7"}}}};
  nlohmann::json described = sample.journal.provenances["build-a"];
  described["python"]["packages"] = {{"duckdb", "1.4.2"}, {"a", "1"}, {"b", "1"}, {"c", "1"}};
  sample.journal.header.workers[0].describe = {
      {"provenance", described},
      {"operations",
       {{{"name", "infer"}, {"own_function", "app.py::infer"}, {"summary", "infer of app.py"}},
        1,
        {{"name", "other"}}}}};
  const std::string text = markdown_of(sample.journal);
  EXPECT_THAT(
      text,
      StartsWith(
          "# mpsprobe report: infer of app.py on a 1, b 1, c 1 and 1 more in cpython 3.11.7\n"));
  EXPECT_THAT(text, HasSubstr("Packages that were loaded: a 1, b 1, c 1, duckdb 1.4.2.\n"));
}

TEST(Markdown, OfAWholeSuiteThePageNamesOneTestAndHowManyThereAre) {
  SampleJournal sample;
  nlohmann::json tests = nlohmann::json::array();
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    sample.plan(std::string("cpu/") + name + "/default/threads=2").ran(10);
    tests.push_back(
        {{"name", name}, {"own_test", "x"}, {"summary", std::string("the test ") + name}});
  }
  sample.journal.header.workers[0].describe = {{"operations", tests}};
  EXPECT_THAT(markdown_of(sample.journal), StartsWith("# mpsprobe report: the test a, 4 more on "));
}

TEST(Markdown, WhatFailsWithOneThreadIsSaidToBeNothingOfThreads) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(10, 3);
  sample.plan("cpu/add/default/threads=2").ran(10, 4);
  sample.plan("cpu/mm/default/processes=2").ran(10, 5);
  EXPECT_THAT(
      markdown_of(sample.journal),
      HasSubstr(
          "## Not about threads\n\nThese fail with one calling thread, and nothing beside it: "
          "`cpu/add/default/threads=1` 3 of 10.\n"));
  EXPECT_THAT(markdown_of(report_000().journal), Not(HasSubstr("Not about threads")));
}

TEST(Markdown, BeginsWithASentenceForEachBuildAndATable) {
  const std::string text = markdown_of(report_000().journal);
  const size_t answer = text.find(
      "- SIMULATED: **LibTorch 2.15.0+cpu**: linear nograph, 3 threads: of 10 trials **10");
  const size_t table = text.find(
      "| linear nograph | 10 crashes in 10 each at 3 to 5, 8; none at 1, 2 (0/20, each &lt; 31%), "
      "2 at "
      "once |");
  ASSERT_NE(answer, std::string::npos);
  ASSERT_NE(table, std::string::npos);
  EXPECT_LT(answer, table);
  EXPECT_LT(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(table), '\n'), 25);
}

TEST(Markdown, WhatIsTooLongIsInTheDetails) {
  SampleJournal sample;
  sample.plan("cpu/mm/default/threads=2").ran(10, 10);
  sample.plan("cpu/add/default/threads=2").ran(10, 9, SampleJournal::hang());
  const Analysis analysis = analyse(sample.journal);
  EXPECT_THAT(report_markdown(analysis), HasSubstr("<summary>Failure 1: one of 10</summary>"));
  EXPECT_THAT(report_markdown(analysis), Not(HasSubstr("<summary>Failure 2")));
  const std::string details = details_markdown(analysis);
  EXPECT_THAT(details, StartsWith("# mpsprobe details"));
  for (const char* part : {"Failure 1: one of 10<", "Failure 2: one of 9<", "## The machine\n"}) {
    EXPECT_THAT(details, HasSubstr(part));
  }
}

TEST(Markdown, NamesTheStackThatThreadsHaveWhereACellDoesNotSay) {
  SampleJournal sample;
  sample.plan("mps/linear/default/threads=4").ran(10);
  EXPECT_THAT(markdown_of(sample.journal), Not(HasSubstr("Stack of a thread")));
  sample.journal.provenances["build-a"]["thread_stack"] = 512 * 1024U;
  EXPECT_THAT(markdown_of(sample.journal),
              HasSubstr("\nStack of a thread where a cell does not say: 512 KiB.\n"));
  sample.journal.provenances["build-a"]["thread_stack"] = "much";
  EXPECT_THAT(markdown_of(sample.journal), Not(HasSubstr("Stack of a thread")));
}

TEST(Markdown, NamesTheRuleThatALibraryRefusesBy) {
  SampleJournal sample;
  sample.plan("mlx/chain/default/threads=2").came_to(2, Outcome::refused);
  for (TrialRecord& trial : sample.journal.trials) {
    trial.judgement.detail = "arrays and streams of another thread";
  }
  EXPECT_THAT(
      markdown_of(sample.journal),
      HasSubstr("## Refused by the library\n\n- arrays and streams of another thread (a rule "
                "of MLX since 0.31.2: <https://github.com/ml-explore/mlx/issues/3727>): 2 "
                "trials in 1 cell, `mlx/chain/default/threads=2`\n"));
}

TEST(Markdown, NamesWhatAWorkerCouldNotDoBesideWhatThePlanLeftOut) {
  SampleJournal sample;
  sample.plan("mps/mm/default/threads=1").unsupported("2 sizes where 3 are needed");
  sample.left_out("mps/add/graph/threads=1", "no such path").ended();
  EXPECT_THAT(markdown_of(sample.journal),
              HasSubstr("## Not tested\n\n- no such path: 1 cell, `mps/add/graph/threads=1`\n"
                        "- unsupported: 2 sizes where 3 are needed: 1 cell, "
                        "`mps/mm/default/threads=1`\n"));
}

TEST(Markdown, SimulatedIsInTheTitle) {
  EXPECT_THAT(markdown_of(report_000().journal), StartsWith("# SIMULATED: mpsprobe report"));
  SampleJournal real;
  real.plan("cpu/add/default/threads=1").ran(10);
  EXPECT_THAT(markdown_of(real.journal), Not(HasSubstr("SIMULATED")));
}

TEST(Markdown, AParavirtualGpuIsInTheTitleAndOverWhatFollows) {
  SampleJournal hosted;
  hosted.plan("mps/linear/nograph/threads=2").ran(10);
  hosted.plan("mps/linear/nograph/threads=3").ran(10, 10);
  hosted.plan("mps/linear/nograph/threads=3/lock=forward").ran(10);
  EXPECT_THAT(markdown_of(hosted.journal), Not(HasSubstr("PARAVIRTUAL")));
  hosted.journal.header.machine["chip"] = "Apple M1 (Virtual)";
  const std::string text = markdown_of(hosted.journal);
  EXPECT_THAT(text, StartsWith("# PARAVIRTUAL GPU: mpsprobe report"));
  EXPECT_THAT(text, HasSubstr("> **Paravirtual GPU"));
  EXPECT_THAT(text, HasSubstr("## PARAVIRTUAL GPU: What each setting changed"));
}

TEST(Markdown, ShowsWhereEachThreadWasAndHowToRunTheCell) {
  const std::string text = markdown_of(report_000().journal);
  EXPECT_THAT(text, HasSubstr("SIGSEGV in the phase run in thread 2, at address 0x18."));
  EXPECT_THAT(text, HasSubstr("| 2 **crashed** | `linear` | 3 | launching |"));
  EXPECT_THAT(text, HasSubstr(" 0  libmpsprobe_sim.so  + 0x1a2b\n"));
  EXPECT_THAT(text, HasSubstr("mpsprobe run --cell sim/linear/nograph/threads=3 --trials 10 --seed "
                              "42 --timeout 60 --stall 10\n"));
}

TEST(Markdown, ShowsThroughputOfWhatPassed) {
  SampleJournal sample;
  sample.operations_per_second = 17135;
  sample.plan("sim/raw/default/threads=8").ran(3);
  EXPECT_THAT(details_markdown(analyse(sample.journal)),
              HasSubstr("| raw | 17306 (17135-17478) |\n"));
}

TEST(Markdown, EveryKindOfCellIsTold) {
  SampleJournal sample;
  sample.plan("sim/add/default/threads=1").ran(7).came_to(3, Outcome::not_run);
  sample.plan("sim/add/default/threads=2").ran(10, 3);
  sample.plan("sim/add/default/threads=3").came_to(10, Outcome::unsupported);
  sample.plan("sim/add/default/threads=4").came_to(10, Outcome::setup_failed);
  sample.plan("sim/add/default/threads=5");
  sample.overlap = false;
  sample.plan("sim/add/default/threads=6").ran(10);
  sample.plan("sim/add/default/threads=7")
      .expect({Verdict::fail, std::nullopt, ""})
      .ran(10, 1, {Outcome::exit, "11", "exit 11"});
  const std::string text = markdown_of(sample.journal);
  EXPECT_THAT(text, HasSubstr("| add | pass 0/7 (3 not run) | intermittent 3/10 SIGSEGV | "
                              "unsupported | setup failed | not run | pass 0/10, no overlap | "
                              "**unexpected** intermittent 1/10 exit 11, expected fail |"));
}

TEST(Markdown, CountsEachKindOfFailureOnce) {
  const auto exception = [](const std::string& title) {
    Judgement judgement;
    judgement.outcome = Outcome::exception;
    judgement.detail = judgement.signature = title;
    return judgement;
  };
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=2").ran(10, 9);
  for (size_t i = 3; i < 9; ++i) {
    sample.journal.trials[i].judgement = exception(i < 5 ? "exception: one" : "exception: another");
  }
  EXPECT_THAT(markdown_of(sample.journal),
              HasSubstr("| add | intermittent 9/10 exception 6, SIGSEGV 3 |"));
}

// What is left of a report when the code in it is taken away may hold no markup but the report's.
std::string without_code(const std::string& markdown) {
  std::string text;
  std::string fence;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    const size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (fence.empty() && ticks >= 3 && line.find('`', ticks) == std::string::npos) {
      fence = line.substr(0, ticks);
      continue;
    }
    if (!fence.empty()) {
      if (line.size() >= fence.size() && line.find_first_not_of('`') == std::string::npos) {
        fence.clear();
      }
      continue;
    }
    for (size_t at = 0; at < line.size();) {
      if (line[at] == '\\' && at + 1 < line.size()) {
        at += 2;
      } else if (line[at] == '`') {
        const size_t end = line.find_first_not_of('`', at);
        const std::string run = line.substr(at, end - at);
        size_t close = line.find(run, at + run.size());
        while (close != std::string::npos && close + run.size() < line.size() &&
               line[close + run.size()] == '`') {
          close = line.find(run, line.find_first_not_of('`', close));
        }
        EXPECT_NE(close, std::string::npos) << "a code span is left open";
        at = close == std::string::npos ? line.size() : close + run.size();
      } else {
        text += line[at++];
      }
    }
    text += '\n';
  }
  EXPECT_EQ(fence, "") << "a code block is left open";
  return text;
}

TEST(Markdown, HostileTextIsHarmless) {
  for (const std::string& hostile : hostile_texts()) {
    const std::string text = markdown_of(journal_with(hostile));
    SCOPED_TRACE(hostile.substr(0, 40));
    EXPECT_TRUE(is_harmless(text));
    const std::string markup = without_code(text);
    EXPECT_THAT(markup, Not(HasSubstr("<script")));
    EXPECT_THAT(markup, Not(HasSubstr("<img")));
    EXPECT_THAT(markup, Not(HasSubstr("<h1")));
    EXPECT_THAT(markup, Not(HasSubstr("@everyone")));
    EXPECT_THAT(markup, Not(HasSubstr("![")));
    EXPECT_EQ(markup.find("\n# heading"), std::string::npos);
    EXPECT_LT(text.size(), 400000u);
    // As many as the report itself opens: nothing closed one early.
    EXPECT_EQ(markup.find("</details>"), markup.rfind("</details>"));
  }
}

TEST(Markdown, HostileTextBreaksNoTable) {
  const std::string text = markdown_of(journal_with("a | b | c\n| d | e |"));
  std::istringstream lines(text);
  size_t fields = 0;
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) == 0) code = !code;
    if (code) continue;
    if (line.rfind("| ", 0) != 0 && line.rfind("|-", 0) != 0) {
      fields = 0;
      continue;
    }
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++bars;
    }
    if (fields != 0) {
      EXPECT_EQ(bars, fields) << line;
    }
    fields = bars;
  }
}

TEST(Markdown, SameJournalSameBytes) {
  EXPECT_EQ(markdown_of(report_000().journal), markdown_of(report_000().journal));
}

TEST(Markdown, AnEmptyJournalSaysThatNothingCounts) {
  EXPECT_THAT(markdown_of(Journal{}), HasSubstr("not green"));
}

}  // namespace
}  // namespace mpsprobe

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reports/hostile_text_for_tests.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string terminal_of(const Journal& journal, bool colour = false) {
  return report_terminal(analyse(journal), {colour});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Two builds, and axes that no row of 80 columns has room for.
SampleJournal two_wide_workers() {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"mlx-0.31.1", "/opt/old/worker", {}});
  for (const char* op : {"transformer_layer", "chain"}) {
    for (const char* threads : {"2", "4"}) {
      sample.plan(std::string("cpu/") + op + "/default/threads=" + threads +
                  "/iterations=30/shape=128x512x512/dtype=bfloat16/model=per-thread/sync=end");
      sample.provenance = "build-a";
      sample.ran(10);
      sample.provenance = "build-b";
      sample.ran(10, 10, SampleJournal::segfault(), "mlx-0.31.1");
    }
  }
  return sample;
}

TEST(Terminal, FitsInto80ColumnsWithoutCuttingALabel) {
  const std::string text = terminal_of(two_wide_workers().journal);
  EXPECT_THAT(text, HasSubstr("iterations=30"));
  SampleJournal several = two_wide_workers();
  several.plan("cpu/mm/default/threads=2/iterations=30").ran(10);
  std::string table = terminal_of(several.journal);
  table = table.substr(table.find("\n\ncells") + 2);
  table = table.substr(0, table.find("\n\n"));
  size_t rows = 0;
  for (const std::string& line : lines_of(table)) {
    EXPECT_LE(line.size(), 80u) << line;
    if (line.find("transformer_layer") == 0 || line.find("chain") == 0) ++rows;
  }
  EXPECT_EQ(rows, 1u);  // operations that came out alike share a row
}

TEST(Terminal, BeginsWithTheAnswer) {
  EXPECT_EQ(
      lines_of(terminal_of(report_000().journal))
          .front()
          .find("SIMULATED: LibTorch 2.15.0+cpu: linear nograph, 3 threads: of 10 trials 10 "),
      0u);
}

TEST(Terminal, ShowsEachKindOfCellByItsCounts) {
  const std::string text = terminal_of(report_000().journal);
  EXPECT_THAT(text,
              HasSubstr("\ncells (backend sim):\nlinear nograph: 10 crashes in 10 each at 3"));
  EXPECT_THAT(text, HasSubstr("\nraw: no failure at 1 to 5, 8 (0/60, each < 31%), 8 at once\n"));
}

TEST(Terminal, ShowsTheTwelveWorstKindsOfCell) {
  SampleJournal sample;
  for (int iterations = 1; iterations <= 20; ++iterations) {
    const std::string count = std::to_string(iterations);
    sample.plan("cpu/add/default/iterations=" + count + "/threads=" + count).ran(10);
  }
  sample.plan("cpu/add/default/iterations=50/threads=2").ran(10, 1);
  const std::string text = terminal_of(sample.journal);
  EXPECT_THAT(text, HasSubstr("\nadd, iterations=50: 1 crash in 10 at 2\n"));
  EXPECT_THAT(text, HasSubstr("\nand 9 more rows in report.md\n"));
}

TEST(Terminal, SaysWhatAWorkerCouldNotDoAndNotWhatThePlanLeftOut) {
  SampleJournal sample;
  sample.plan("mps/mm/default/threads=1/shape=4x4").unsupported("2 sizes where 3 are needed");
  sample.left_out("mps/add/graph/threads=1", "no such path").ended();
  const std::string text = terminal_of(sample.journal);
  EXPECT_THAT(text, HasSubstr("\nnot tested: 1 cell, unsupported: 2 sizes where 3 are needed\n"));
  EXPECT_THAT(text, Not(HasSubstr("no such path")));
}

TEST(Terminal, SaysHowLongTrialsTook) {
  SampleJournal sample;
  sample.plan("cpu/mm/default/threads=1").ran(4);
  sample.last().seconds = 9;
  EXPECT_THAT(terminal_of(sample.journal), HasSubstr("\ntrials took 9.0 s\n"));
}

TEST(Terminal, BreaksSentencesOnATerminalOnly) {
  const Analysis analysis = analyse(report_000().journal);
  size_t longest = 0;
  for (const std::string& line : lines_of(report_terminal(analysis, {false, 70}))) {
    if (line.find("mpsprobe run") == std::string::npos && line.find("FAIL") != 0) {
      longest = std::max(longest, line.size());
    }
  }
  EXPECT_LE(longest, 70u);
}

TEST(Terminal, NamesTheCommandThatRerunsAFailure) {
  EXPECT_THAT(
      terminal_of(report_000().journal),
      HasSubstr("FAIL SIGSEGV in linear while launching: 70 trials in 7 cells\n    mpsprobe "
                "run --cell sim/linear/nograph/threads=3 --trials 10 --seed 42 --timeout 60 "
                "--stall 10\n"));
}

TEST(Terminal, SaysSimulatedFirstAndLast) {
  const std::string text = terminal_of(report_000().journal);
  EXPECT_EQ(text.find("SIMULATED: "), 0u);
  EXPECT_THAT(text, HasSubstr("\nSIMULATED: 23 cells, 230 of 230 trials run"));
}

TEST(Terminal, SaysParavirtualFirstAndLast) {
  SampleJournal hosted;
  hosted.plan("mps/add/default/threads=1").ran(10);
  hosted.journal.header.machine["chip"] = "Apple M1 (Virtual)";
  const std::string text = terminal_of(hosted.journal);
  EXPECT_EQ(text.find("PARAVIRTUAL GPU: "), 0u);
  EXPECT_THAT(text, HasSubstr("\nPARAVIRTUAL GPU: 1 cell, 10 of 10 trials run"));
}

TEST(Terminal, CountsTrialsWithoutAPlanWhereTheyFollowedFromResults) {
  SampleJournal minimisation;
  minimisation.plan("sim/linear/default/threads=2").ran(3);
  minimisation.journal.header.trials = 1;
  EXPECT_THAT(terminal_of(minimisation.journal), HasSubstr("\nSIMULATED: 1 cell, 3 trials run, 3"));
}

TEST(Terminal, UnmetExpectationsAreNamed) {
  SampleJournal sample;
  sample.plan("sim/add/default/threads=1").expect({Verdict::fail, std::nullopt, ""}).ran(10);
  EXPECT_THAT(terminal_of(sample.journal),
              HasSubstr("UNEXPECTED sim/add/default/threads=1: pass 0/10, expected fail\n"));
}

TEST(Terminal, ColourOnlyWhereAsked) {
  EXPECT_THAT(terminal_of(report_000().journal, false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(terminal_of(report_000().journal, true), HasSubstr("\x1b[31mFAIL\x1b[0m"));
}

TEST(Terminal, HostileTextIsHarmless) {
  for (const std::string& hostile : hostile_texts()) {
    SCOPED_TRACE(hostile.substr(0, 40));
    EXPECT_TRUE(is_harmless(terminal_of(journal_with(hostile))));
  }
}

}  // namespace
}  // namespace mpsprobe

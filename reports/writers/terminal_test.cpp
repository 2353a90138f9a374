#include "reports/writers/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/hostile_text.h"
#include "reports/sample_journal.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string terminal_of(const Journal& journal, bool colour = false) {
  return report_terminal(analyse(journal), {colour});
}

TEST(Terminal, ShowsTheBoundaryTable) {
  const std::string text = terminal_of(report_000().journal);
  EXPECT_THAT(text,
              HasSubstr("sim linear nograph, by threads  2 (0/10)          3 (10/10)      rate "
                        "at 2 below 26%, at 3 above 74%\n"));
  EXPECT_THAT(text, HasSubstr("sim raw, by threads             8 (0/10)          none "));
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
  EXPECT_EQ(text.find("warning: SIMULATED"), 0u);
  EXPECT_THAT(text, HasSubstr("\nSIMULATED: 23 cells, 230 of 230 trials run"));
}

TEST(Terminal, SaysParavirtualFirstAndLast) {
  SampleJournal hosted;
  hosted.plan("mps/add/default/threads=1").ran(10);
  hosted.journal.header.machine["chip"] = "Apple M1 (Virtual)";
  const std::string text = terminal_of(hosted.journal);
  EXPECT_EQ(text.find("warning: Paravirtual GPU"), 0u);
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

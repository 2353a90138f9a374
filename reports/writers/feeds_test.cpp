// What programs and services read: each format by a reader of its own kind, and whatever a dying
// worker may have printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/input/input_error.h"
#include "reports/evidence_for_tests.h"
#include "reports/hostile_text_for_tests.h"
#include "reports/writers/write.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_as(std::string_view file, const Journal& journal) {
  for (const Writer& writer : writers()) {
    if (writer.file != file) continue;
    std::string text;
    writer.write(journal, analyse(journal), {}, [&text](std::string_view more) { text += more; });
    return text;
  }
  ADD_FAILURE() << "no writer makes " << file;
  return "";
}

std::vector<std::string> rows_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// What a Python program, given as text, prints about a file with these bytes.
std::string python_says(const std::string& program, const std::string& bytes) {
  const auto folder = std::filesystem::path(::testing::TempDir()) /
                      ("mpsprobe-feeds-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "program.py") << program;
  std::ofstream(folder / "feed", std::ios::binary) << bytes;
  const std::string command = "PYTHONPATH='" MPSPROBE_SOURCE_DIR "/.deps/junitparser' python3 '" +
                              (folder / "program.py").string() + "' '" +
                              (folder / "feed").string() + "' > '" + (folder / "said").string() +
                              "' 2>&1";
  const int status = std::system(command.c_str());
  std::ostringstream said;
  said << std::ifstream(folder / "said").rdbuf();
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << said.str() << " (tools/setup --tests installs junitparser)";
  return said.str();
}

/// junitparser reads it, and says for each case: k, n, its result, and of how many more failures
/// there is a stack.
constexpr const char* kReadJunit = R"(
import sys
from junitparser import JUnitXml
from junitparser.xunit2 import TestCase
for suite in JUnitXml.fromfile(sys.argv[1]):
    known = {p.name: p.value for p in suite.properties()}
    for case in suite:
        case = TestCase.fromelem(case)
        result = ','.join(f'{type(r).__name__} {r.type}: {r.message}' for r in case.result) or 'passed'
        reruns = [r for r in case.rerun_failures() if r.stack_trace and r.type and r.message]
        assert len(reruns) == len(case.rerun_failures())
        print(known['k'], known['n'], case.name, result, len(reruns), sep='|')
)";

TEST(Junit, IsReadByAnIndependentReader) {
  SampleJournal sample;
  sample.plan("sim/linear/nograph/threads=2").ran(10);
  sample.plan("sim/linear/nograph/threads=3").ran(10, 4);
  sample.plan("sim/linear/nograph/threads=4").came_to(1, Outcome::unsupported);
  EXPECT_EQ(python_says(kReadJunit, text_as("junit.xml", sample.journal)),
            "0|10|sim/linear/nograph/threads=2|passed|0\n"
            "4|10|sim/linear/nograph/threads=3|Failure SIGSEGV in linear while launching: 4 of 10: "
            "SIGSEGV in linear while launching|3\n"
            "0|0|sim/linear/nograph/threads=4|Skipped None: not run|0\n");
}

TEST(Junit, WhatCannotBeSetUpIsAnError) {
  SampleJournal sample;
  sample.journal.header.trials = 3;
  sample.plan("cpu/bad/default/threads=1").came_to(3, Outcome::setup_failed);
  sample.plan("cpu/bad/default/threads=2").ran(2).came_to(1, Outcome::setup_failed);
  sample.plan("cpu/bad/default/threads=3")
      .expect({{}, Outcome::setup_failed, ""})
      .came_to(3, Outcome::setup_failed);
  const std::string xml = text_as("junit.xml", sample.journal);
  EXPECT_THAT(xml, HasSubstr("failures=\"0\" errors=\"1\">\n"));
  EXPECT_EQ(python_says(kReadJunit, xml),
            "0|0|cpu/bad/default/threads=1|Error setup_failed: |0\n"
            "0|2|cpu/bad/default/threads=2|passed|0\n"
            "0|0|cpu/bad/default/threads=3|Skipped None: setup failed|0\n");
}

TEST(Junit, AnExpectedFailureIsNoFailureAndAnUnmetExpectationIs) {
  SampleJournal sample;
  sample.plan("sim/linear/nograph/threads=2").expect({Verdict::fail, {}, ""}).ran(2, 2);
  sample.plan("sim/linear/nograph/threads=3").expect({Verdict::fail, {}, ""}).ran(2, 0);
  EXPECT_EQ(
      python_says(kReadJunit, text_as("junit.xml", sample.journal)),
      "2|2|sim/linear/nograph/threads=2|Skipped None: fails as expected: FAIL 2/2 SIGSEGV (8 not "
      "run)|0\n"
      "0|2|sim/linear/nograph/threads=3|Failure unexpected: pass 0/2 (8 not run), expected "
      "fail|0\n");
}

TEST(Junit, StaysWellFormedWhateverAWorkerPrinted) {
  for (const std::string& text : hostile_texts()) {
    const std::string xml = text_as("junit.xml", journal_with(text + "]]>\xEF\xBF\xBF"));
    EXPECT_TRUE(is_harmless(xml));
    EXPECT_THAT(xml, Not(HasSubstr("]]>")));
    EXPECT_THAT(python_says(kReadJunit, xml), HasSubstr("1|2|"));
  }
}

TEST(Csv, HasARowForEachCellAndDefusesFormulas) {
  SampleJournal sample;
  sample.block("=HYPERLINK(\"http://x\",\"y\")").plan("sim/linear/nograph/threads=3").ran(10, 4);
  const std::string said = python_says(
      "import csv, sys\n"
      "for r in csv.DictReader(open(sys.argv[1], newline='')):\n"
      "    print(r['device_class'], r['cell'], r['threads'], r['failures'], r['counted'], "
      "r['block'], r['signatures'], sep='|')\n",
      text_as("cells.csv", sample.journal));
  EXPECT_EQ(said,
            "SIMULATED|sim/linear/nograph/threads=3|3|4|10|'=HYPERLINK(\"http://x\",\"y\")|"
            "SIGSEGV in linear while launching\n");
}

TEST(Github, PutsWhatIsUnexpectedFirstAndCutsAtARow) {
  SampleJournal sample;
  for (int i = 1; i <= 14000; ++i) {
    sample.plan("sim/linear/nograph/threads=2/iterations=" + std::to_string(i)).ran(1);
  }
  sample.plan("sim/linear/graph/threads=9").expect({Verdict::pass, {}, ""}).ran(1, 1);
  const std::string text = text_as("github-summary.md", sample.journal);
  EXPECT_LT(text.size(), 1u << 20);
  EXPECT_LT(text.find("sim/linear/graph/threads=9`"), text.find("iterations=1`"));
  EXPECT_THAT(text, HasSubstr("## SIMULATED: "));
  const std::vector<std::string> lines = rows_of(text);
  EXPECT_THAT(lines.back(), HasSubstr("more rows do not fit"));
  EXPECT_TRUE(lines[lines.size() - 3].ends_with("|")) << lines[lines.size() - 3];
}

TEST(Github, AnnotatesTenAtMostAndUnexpectedOnesAsErrors) {
  SampleJournal sample;
  sample.journal.header.trials = 2;
  for (int i = 2; i <= 20; ++i) {
    sample.plan("sim/linear/nograph/threads=" + std::to_string(i)).ran(2, 1);
  }
  sample.plan("sim/linear/graph/threads=9").expect({Verdict::pass, {}, ""}).ran(2, 1);
  const std::vector<std::string> lines = rows_of(text_as("github-annotations.txt", sample.journal));
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_THAT(lines[1], HasSubstr("::error title=SIMULATED%3A sim/linear/graph/threads=9::"));
  EXPECT_THAT(lines[2], HasSubstr("::notice "));
  EXPECT_THAT(lines[10], HasSubstr("11 more"));
}

TEST(Github, ATextBeginsNoCommandAndEndsNone) {
  for (const std::string& text : hostile_texts()) {
    const std::string evil = "\n::error::x\n##[error]y%0A::stop-commands::z" + text;
    Journal cut = journal_with(evil);
    cut.header.follow.clear();  // which leaves open how many trials there are
    const std::string lines = text_as("github-annotations.txt", cut);
    EXPECT_TRUE(is_harmless(lines));
    EXPECT_EQ(rows_of(lines).size(), 3u) << lines;
    EXPECT_THAT(lines, Not(HasSubstr("##[")));
    EXPECT_THAT(lines, Not(HasSubstr("y%0A")));
    const std::string summary = text_as("github-summary.md", journal_with(evil));
    EXPECT_TRUE(is_harmless(summary));
    EXPECT_THAT(summary, Not(HasSubstr("\n::")));
  }
}

TEST(Svg, DrawsBoundariesAndSaysThatTheyAreSimulated) {
  const std::string svg = text_as("boundaries.svg", report_000().journal);
  EXPECT_EQ(python_says("import sys, xml.etree.ElementTree as e\n"
                        "t = e.parse(sys.argv[1]).getroot()\n"
                        "n = '{http://www.w3.org/2000/svg}'\n"
                        "print(len(t.findall(n + 'svg')), t.find(n + 'text').text)\n",
                        svg),
            "4 SIMULATED: failure rates with 95% intervals\n");
  for (const std::string& text : hostile_texts()) {
    const std::string drawn = text_as("boundaries.svg", journal_with(text));
    EXPECT_TRUE(is_harmless(drawn));
    EXPECT_THAT(drawn, Not(HasSubstr("<script")));
  }
}

TEST(Formats, AreNamedAndAMistypedOneIsRefused) {
  EXPECT_EQ(formats_named("csv,junit").size(), 2u);
  EXPECT_EQ(formats_named("github").size(), 2u);
  EXPECT_EQ(default_formats().size(), 3u);  // report.md, details.md, report.json
  try {
    formats_named("html,junt");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"junit\"?"));
  }
}

}  // namespace
}  // namespace mpsprobe

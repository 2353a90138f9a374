// What a reader must find in the first 25 lines, and how numbers stand beside nouns in all formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "reports/claims/answer.h"
#include "reports/html/html.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// Two releases as the first command runs them: one crashes, both give wrong numbers, the newer
// refuses; a lock and processes were tried, and one cell could not be.
Journal two_releases() {
  SampleJournal sample;
  sample.journal.header.command_line = {"tools/mpsprobe", "run", "--matrix"};
  sample.journal.header.workers.push_back({"mlx-0.31.1", "/opt/old/worker", {}});
  for (auto& [id, provenance] : sample.journal.provenances) {
    provenance = {{"mlx", {{"version", id == "build-a" ? "0.32.4" : "0.31.1"}, {"build_id", id}}}};
  }
  const auto cell = [&sample](const std::string& id, int newer, int older) {
    sample.plan(id);
    sample.provenance = "build-b";
    sample.ran(10, older, SampleJournal::segfault(), "mlx-0.31.1");
    sample.provenance = "build-a";
    if (newer < 0) {
      sample.came_to(10, Outcome::refused);
      for (size_t i = sample.journal.trials.size() - 10; i < sample.journal.trials.size(); ++i) {
        sample.journal.trials[i].judgement.detail = "arrays and streams of another thread";
      }
    } else {
      sample.ran(10, newer);
    }
  };
  cell("mlx/chain/default/threads=1", 0, 0);
  cell("mlx/chain/default/threads=4", 0, 10);
  cell("mlx/chain/default/threads=4/lock=forward", 0, 0);
  cell("mlx/chain/default/threads=1/processes=4", 0, 0);
  cell("mlx/lazy/default/threads=1", 0, 0);
  cell("mlx/lazy/default/threads=2", 0, 8);
  cell("mlx/lazy/default/threads=4", -1, 9);
  sample.left_out("mlx/raw/default/threads=1", "no such path");
  return sample.journal;
}

std::string first_lines(const std::string& text, size_t most) {
  std::istringstream stream(text);
  std::string first;
  std::string line;
  for (size_t i = 0; i < most && std::getline(stream, line); ++i) first += line + "\n";
  return first;
}

std::string joined_lines(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

void expect_ten_answers(const std::string& shown) {
  const std::string screen = std::regex_replace(shown, std::regex("\\*\\*"), "");
  SCOPED_TRACE(screen);
  // Is my release safe? How sure?
  EXPECT_THAT(screen, ContainsRegex("no failure .*; (all )?below [0-9]+% \\(95%\\)"));
  // From how many threads not? What happens then?
  EXPECT_THAT(screen,
              ContainsRegex("of 10 trials .*10 crashes.*fewest: lazy, 2 threads \\(8 of 10\\)"));
  EXPECT_THAT(screen, HasSubstr("refuses arrays and streams of another thread"));
  // Does a lock help, and what does it cost? Do processes?
  EXPECT_THAT(
      screen,
      ContainsRegex("With a lock none failed: chain, 4 threads: 0 of 10, without it 10 of 10"));
  EXPECT_THAT(screen, ContainsRegex("price|times the operations per second"));
  EXPECT_THAT(screen, ContainsRegex("With processes none failed"));
  // Which release mends it?
  EXPECT_THAT(screen, ContainsRegex("\\(newer\\) fails less often than mlx-0.31.1"));
  // What was not tested?
  EXPECT_THAT(screen, ContainsRegex("Tried .*to 4 threads; to 4 processes. Not tried: the main "
                                    "thread alone, 1 cell of the plan"));
  // How do I see it again? Whom do I tell?
  EXPECT_THAT(screen, HasSubstr("tools/mpsprobe run --failed RUN"));
  EXPECT_THAT(screen, HasSubstr("tools/mpsprobe feedback RUN --for mlx"));
}

TEST(FirstScreen, OfATerminalAnswersTheTenQuestions) {
  expect_ten_answers(
      joined_lines(first_lines(report_terminal(analyse(two_releases()), {false, 80}), 25)));
}

TEST(FirstScreen, OfTheMarkdownReportAnswersTheTenQuestions) {
  expect_ten_answers(first_lines(report_markdown(analyse(two_releases())), 25));
}

TEST(FirstScreen, OfTheSummaryOnGithubAnswersTheTenQuestions) {
  expect_ten_answers(first_lines(report_github(analyse(two_releases())), 25));
}

TEST(FirstScreen, NothingIsInBoldButTheBuildAndItsWorstWord) {
  const std::string text = first_lines(report_markdown(analyse(two_releases())), 25);
  EXPECT_THAT(text, HasSubstr("- **mlx-0.31.1**: chain, 4 threads: of 10 trials **10 crashes**;"));
}

TEST(FirstScreen, OfThePageAnswersTheTenQuestions) {
  const std::string page = report_html(analyse(two_releases()), {});
  const size_t begin = page.find("<ul class=\"answer\">");
  ASSERT_NE(begin, std::string::npos);
  // A line a build, then the picture, then the answer, and all else below.
  const size_t lines = page.find("<ul class=\"builds\">");
  const std::string answer = page.substr(lines, page.find("</ul>", lines) - lines) +
                             page.substr(begin, page.find("</ul>", begin) - begin);
  expect_ten_answers(std::regex_replace(std::regex_replace(answer, std::regex("<br>"), " "),
                                        std::regex("<[^>]*>"), ""));
  const size_t picture = page.find("<table class=\"map\">");
  EXPECT_LT(lines, picture);
  EXPECT_LT(picture, begin);
  EXPECT_NE(page.find("<h2>", begin), std::string::npos);
}

// In sentences of every kind, of cells that differ in many axes.
TEST(AllFormats, NoSentenceOfTheAnswerHasMoreThanThirtyWords) {
  std::vector<Journal> journals{two_releases()};
  for (const int failures : {0, 3, 9}) {
    SampleJournal sample;
    sample.journal.header.workers.push_back({"mlx-0.31.1", "/opt/old/worker", {}});
    sample.journal.header.settle_rate = failures == 3 ? 0.1 : 0;
    for (const char* axes : {"", "/iterations=30/stream=per-thread/sync=end/model=per-thread",
                             "/iterations=40/stream=per-thread/sync=end/model=per-thread"}) {
      for (const char* what : {"", "/lock=forward", "/warmup=main"}) {
        for (const char* threads : {"1", "2", "4", "8"}) {
          sample.plan(std::string("mlx/chain/default/threads=") + threads + what + axes);
          sample.provenance = "build-b";
          sample.ran(10, *threads == '2' ? 0 : failures, SampleJournal::hang(), "mlx-0.31.1");
          sample.provenance = failures == 9 ? "build-b" : "build-a";
          sample.ran(6, *threads == '4' ? 5 : 0).came_to(4, Outcome::refused);
        }
      }
      sample.plan(std::string("mlx/chain/default/threads=1/processes=8") + axes).ran(10, 2);
    }
    sample.came_to(1, Outcome::timeout);
    journals.push_back(sample.journal);
  }
  for (const Journal& journal : journals) {
    const Answer answer = analyse(journal).answer;
    std::vector<std::string> said = answer.sentences;
    said.insert(said.end(), answer.next.begin(), answer.next.end());
    EXPECT_GT(said.size(), 6U);
    for (const std::string& line : said) {
      size_t words = 0;
      std::istringstream stream(line);
      for (std::string word; stream >> word;) {
        EXPECT_LE(++words, 30U) << line;
        if (word.ends_with('.') && word != "....") words = 0;
      }
    }
  }
}

// Everything once, so that every number beside a noun is 1 somewhere.
std::vector<Journal> single_things() {
  std::vector<Journal> journals;
  for (const bool settles : {false, true}) {
    for (const int failures : {0, 1}) {
      SampleJournal sample;
      sample.journal.header.trials = 1;
      if (settles) sample.journal.header.settle_rate = 0.05;
      sample.plan("mps/mm/default/threads=2").ran(1, failures);
      journals.push_back(sample.journal);
      sample.plan("mps/mm/default/threads=2/lock=forward").ran(1);
      sample.plan("mps/mm/default/threads=1/processes=2").came_to(1, Outcome::refused);
      sample.plan("mps/add/default/threads=1/shape=4x4").unsupported("2 sizes");
      sample.plan("mps/add/default/threads=8");
      sample.left_out("mps/add/graph/threads=1", "no such path");
      journals.push_back(sample.journal);
      sample.journal.header.workers.push_back({"old", "/opt/old/worker", {}});
      sample.provenance = "build-b";
      sample.ran(1, 1, SampleJournal::hang(), "old");
      journals.push_back(sample.journal);
    }
  }
  return journals;
}

TEST(AllFormats, SayOneOfAThingInTheSingular) {
  const std::regex plural(
      "(^|[ (\"])1 (of 1 )?(more |planned )?(trials|cells|boundaries|boundarie|threads|processes|"
      "processe|comparisons|pairs|kinds|failures|changes|rows|builds|others|signatures|nights|"
      "runs|series|serie|sery|workers|files|lines)\\b");
  for (const Journal& journal : single_things()) {
    const Analysis analysis = analyse(journal);
    for (const std::string& text :
         {report_terminal(analysis, {}), report_markdown(analysis), details_markdown(analysis),
          report_html(analysis, {}), report_github(analysis), report_annotations(analysis),
          report_junit(journal, analysis), analysis.answer.text}) {
      std::smatch found;
      EXPECT_FALSE(std::regex_search(text, found, plural))
          << "\"" << found.str() << "\" in: "
          << found.prefix().str().substr(
                 found.prefix().length() > 120 ? found.prefix().length() - 120 : 0)
          << found.str();
    }
  }
}

}  // namespace
}  // namespace mpsprobe

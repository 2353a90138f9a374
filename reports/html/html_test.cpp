#include "reports/html/html.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/test_series.h"
#include "reports/evidence_for_tests.h"
#include "reports/hostile_text_for_tests.h"
#include "reports/html/html_assets.h"
#include "reports/html/markup.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Html, ShowsMatrixRatesFailuresAndStacks) {
  const std::string page = report_html(analyse(journal_with_evidence().journal));
  for (const char* part : {"SIMULATED: no GPU", "<title>SIMULATED: ", "class=\"map\"", "SIGSEGV",
                           "pthread_mutex_lock", "id=\"text\""}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(Html, BeginsWithALineABuildATableOfAllCellsAndAChart) {
  const std::string page = report_html(analyse(report_000().journal));
  const size_t line = page.find(
      "<li class=\"h4\"><strong>SIMULATED: LibTorch 2.15.0+cpu</strong>: linear nograph, 3 "
      "threads: "
      "of 10");
  const size_t heat = page.find("<table class=\"map\">");
  const size_t chart = page.find("<svg class=\"chart\"");
  const size_t answer = page.find("<ul class=\"answer\">");
  ASSERT_NE(line, std::string::npos);
  EXPECT_LT(line, heat);
  EXPECT_LT(heat, chart);
  EXPECT_LT(chart, answer);
  EXPECT_LT(answer, page.find("<h2>"));
  EXPECT_THAT(page.substr(heat, chart - heat), HasSubstr("\xE2\x9C\x95 10/10</a></td>"));
}

// Two builds, of which the newer one computes wrong numbers and the older one passes.
Journal two_builds() {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"torch-2.14.0", "/opt/old/worker", {}});
  for (int threads : {1, 2, 4}) {
    sample.plan(fmt::format("sim/linear/nograph/threads={}", threads));
    sample.provenance = "build-a";
    sample.ran(10, threads > 2 ? 4 : 0);
    sample.provenance = "build-b";
    if (threads > 1) sample.ran(10, 0, {}, "torch-2.14.0");
  }
  return sample.journal;
}

TEST(Html, EachBuildHasItsColourItsCountsAndItsRates) {
  const std::string page = report_html(analyse(two_builds()));
  EXPECT_THAT(page, HasSubstr("<li class=\"h4\"><strong>SIMULATED: stock"));
  EXPECT_THAT(page, HasSubstr("<li class=\"h0\"><strong>SIMULATED: torch-2.14.0"));
  // No column without a value: the older one was not asked for one thread.
  EXPECT_THAT(page, HasSubstr("colspan=\"3\">stock"));
  EXPECT_THAT(page, HasSubstr("colspan=\"2\">torch-2.14.0"));
  for (const char* part : {"<g class=\"b0\">", "<g class=\"b1\">", ">torch-2.14.0</text>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

/// What Chromium makes of a page: is_in(SELECTOR) of the first screen, colour(SELECTOR).
std::string in_browser(std::string page, int width, bool dark, const std::string& asked) {
  const size_t policy = page.find("<meta http-equiv");
  page.erase(policy, page.find(">", policy) + 1 - policy);  // it lets no script but its own run
  page +=
      "<script>const at=s=>document.querySelector(s).getBoundingClientRect();"
      "const is_in=s=>at(s).height>0&&at(s).bottom<=innerHeight&&at(s).left>=0;"
      "const colour=s=>getComputedStyle(document.querySelector(s)).backgroundColor;"
      "parent.document.title='says '+innerWidth+': '+(" +
      asked + ")</script>";
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / fmt::format("mpsprobe-page-{}", ::getpid());
  std::filesystem::create_directories(folder);
  // In a frame: a window of Chromium's is at least 500 wide.
  std::ofstream(folder / "page.html", std::ios::binary)
      << fmt::format("<iframe width={} height=800 style=\"border:0\" srcdoc=\"{}\"></iframe>",
                     width, markup(page, std::string::npos, Lines::keep));
  const std::string command = fmt::format(
      "chromium --headless --no-sandbox --disable-gpu --user-data-dir='{0}/profile' "
      "--window-size=1400,900 {1} --dump-dom 'file://{0}/page.html' 2> '{0}/err' | sed -n "
      "'s/.*<title>\\(says [^<]*\\)<.*/\\1/p'",
      folder.string(), dark ? "--blink-settings=preferredColorScheme=0" : "");
  std::FILE* said = ::popen(command.c_str(), "r");
  char text[500] = {};
  const size_t length = std::fread(text, 1, sizeof text - 1, said);
  ::pclose(said);
  std::filesystem::remove_all(folder);
  return {text, length};
}

TEST(Html, ItsFirstScreenHoldsTheAnswerColoursAndTheTable) {
  if (std::system("command -v chromium > /dev/null") != 0) GTEST_SKIP() << "no Chromium here";
  const std::string page = report_html(analyse(two_builds()));
  const std::string asked =
      "[is_in('.builds li:last-child'),is_in('.map thead'),is_in('svg.chart'),"
      "document.documentElement.scrollWidth<=innerWidth,colour('.builds .h4'),colour('.map .h2')]";
  for (const int width : {1280, 400}) {
    const std::string begins = fmt::format("says {}: true,true,true,true,", width);
    EXPECT_EQ(in_browser(page, width, false, asked),
              begins + "rgb(255, 148, 146),rgb(255, 217, 168)\n");
    EXPECT_EQ(in_browser(page, width, true, asked), begins + "rgb(125, 28, 34),rgb(92, 53, 16)\n");
  }
}

TEST(Html, ShowsWhatWasRefused) {
  SampleJournal sample;
  sample.plan("mlx/chain/default/threads=1").ran(10);
  sample.plan("mlx/chain/default/threads=2").came_to(10, Outcome::refused);
  EXPECT_THAT(report_html(analyse(sample.journal)),
              HasSubstr("<td class=\"refused\"><a href=\"#c1\">&ndash; refused</a></td>"));
}

TEST(Html, AsksNothingFromAnywhere) {
  const std::string page = report_html(analyse(report_000().journal));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("<svg class=\"chart\""));
  for (const char* way : {"src=\"", "url(", "@import", "fetch(", "href=\"http", "XMLHttp"}) {
    EXPECT_THAT(page, Not(HasSubstr(way)));
  }
}

TEST(Html, ATextOfAWorkerIsText) {
  for (const std::string& text : hostile_texts()) {
    const std::string page = report_html(analyse(journal_with(text)));
    EXPECT_TRUE(is_harmless(page));
    for (const char* markup : {"<script>alert", "<img", "<h1>pwned", "onerror=alert(2)>"}) {
      EXPECT_THAT(page, Not(HasSubstr(markup)));
    }
  }
}

/// A run of two cells, of which the second fails, `day` nights on.
RunFacts night_on(int day, int failures) {
  SampleJournal sample;
  sample.plan("sim/linear/nograph/threads=1").ran(20);
  sample.plan("sim/linear/nograph/threads=3").ran(20, failures);
  RunFacts facts = run_facts("night-" + std::to_string(day), analyse(sample.journal));
  facts.started = "2026-11-0" + std::to_string(day) + "T01:17:00.000Z";
  facts.arms.at("stock").library = day < 4 ? "LibTorch 2.15.0" : "LibTorch 2.16.0 <b>";
  return facts;
}

Beside beside_nights() {
  Beside beside;
  std::vector<RunFacts> nights;
  for (int day = 1; day < 7; ++day) nights.push_back(night_on(day, day < 4 ? 1 : 19));
  const RunFacts run = night_on(7, 20);
  beside.nights = nights_of_cells(run, nights);
  beside.baseline = {nights[0], run, compare_runs(nights[0], run)};
  std::vector<KnownFailure> known = parse_expectations(
      R"({"mpsprobe_expectations": 1, "known": [{"where": {"simulated": true}, "outcome": "hang",
          "issue": "https://example.org/<i>1"}]})",
      "e.json");
  Findings findings = judge_expectations(known, run, nights);
  beside.known = {std::move(known), run, std::move(findings)};
  return beside;
}

TEST(Html, ShowsARunBesideWhatIsKnownABaselineAndItsNights) {
  const std::string page = report_html(analyse(report_000().journal), beside_nights());
  for (const char* part :
       {"SIMULATED: Known failures", "no entry knows 1 failure of a cell", "not seen",
        "https://example.org/&lt;i&gt;1", "SIMULATED: Changes", "Compared with night-1",
        "<td>more often</td>", "<td>1/20</td><td>20/20</td>", "SIMULATED: Nights",
        "since 2026-11-04 fails more often (", "stroke-dasharray", "2.16.0 &lt;b&gt;"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("href=\"http")));
}

TEST(Html, ACellThatNeverFailedHasNoNights) {
  const Beside beside = beside_nights();
  ASSERT_EQ(beside.nights.size(), 1u);
  EXPECT_EQ(beside.nights[0].cell, "sim/linear/nograph/threads=3");
  EXPECT_EQ(beside.nights[0].nights.size(), 7u);
}

TEST(Html, ItsPolicyNamesItsOwnScript) {
  const std::string file = (std::filesystem::path(::testing::TempDir()) / "script.js").string();
  std::ofstream(file, std::ios::binary) << kHtmlScript;
  const std::string command =
      "python3 -c \"import base64,hashlib,sys;print('sha256-'+base64.b64encode(hashlib.sha256("
      "open(sys.argv[1],'rb').read()).digest()).decode(),end='')\" '" +
      file + "'";
  std::FILE* said = ::popen(command.c_str(), "r");
  ASSERT_NE(said, nullptr);
  char hash[100] = {};
  EXPECT_GT(std::fread(hash, 1, sizeof hash - 1, said), 0u);
  ::pclose(said);
  EXPECT_EQ(kHtmlScriptHash, hash);
}

TEST(Html, TenThousandCellsStayBelowTenMegabytes) {
  SampleJournal sample;
  for (int i = 1; i <= series(1000, 100); ++i) {
    for (int threads = 1; threads <= 10; ++threads) {
      sample.plan("sim/linear/nograph/threads=" + std::to_string(threads) +
                  "/iterations=" + std::to_string(i));
      sample.ran(1, threads > 3 ? 1 : 0);
    }
  }
  EXPECT_LT(report_html(analyse(sample.journal)).size(), 10u << 20);
}

}  // namespace
}  // namespace mpsprobe

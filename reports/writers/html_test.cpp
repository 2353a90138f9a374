#include "reports/writers/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "reports/hostile_text.h"
#include "reports/sample_evidence.h"
#include "reports/writers/html_assets.h"

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

TEST(Html, ItsPolicyNamesItsOwnScript) {
  const std::string file = (std::filesystem::path(::testing::TempDir()) / "script.js").string();
  std::ofstream(file, std::ios::binary) << html_script();
  const std::string command =
      "python3 -c \"import base64,hashlib,sys;print('sha256-'+base64.b64encode(hashlib.sha256("
      "open(sys.argv[1],'rb').read()).digest()).decode(),end='')\" '" +
      file + "'";
  std::FILE* said = ::popen(command.c_str(), "r");
  ASSERT_NE(said, nullptr);
  char hash[100] = {};
  EXPECT_GT(std::fread(hash, 1, sizeof hash - 1, said), 0u);
  ::pclose(said);
  EXPECT_EQ(html_script_hash(), hash);
}

TEST(Html, TenThousandCellsStayBelowTenMegabytes) {
  SampleJournal sample;
  for (int i = 1; i <= 1000; ++i) {
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

// Known failures, as a person uses them.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Expect : public ProgramTest {
 protected:
  Expect() {
    write("m.json", R"({"mpsprobe_matrix": 1, "name": "two", "blocks": [{"title": "cells",
      "axes": {"backend": ["cpu"], "op": ["selftest.pass", "selftest.exit_eleven"]}}]})");
  }
  Run run(const std::string& name, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"run",      "--matrix", path("m.json"), "--trials", "3",
                                   "--worker", selftest_,  "--out",        path(name)};
    words.insert(words.end(), more.begin(), more.end());
    return mpsprobe(words);
  }
  Run expect(std::vector<std::string> words) const {
    words.insert(words.begin(), "expect");
    words.insert(words.end(), {"--expectations", path("known.json")});
    return mpsprobe(words);
  }
};

TEST_F(Expect, WhatWasRecordedIsKnownFromThenOn) {
  ASSERT_EQ(run("one").exit_code, 0);
  const Run recorded = expect({"update", "--from", path("one")});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("+ cpu/selftest.exit_eleven/default/threads=1 (stock): "));

  const Run same = run("two", {"--expectations", path("known.json")});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("as known (1)"));
  EXPECT_EQ(run("three", {"--expectations", path("known.json"), "--fail-on", "any"}).exit_code, 1);

  write("known.json", R"({"mpsprobe_expectations": 1})");
  const Run unknown = run("four", {"--expectations", path("known.json")});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.out, HasSubstr("new: no entry knows them (1)"));
  EXPECT_EQ(run("five", {"--expectations", path("known.json"), "--fail-on", "never"}).exit_code, 0);
  EXPECT_EQ(run("six", {"--expectations", path("known.json"), "--fail-on", "expired"}).exit_code,
            0);
}

TEST_F(Expect, ALinkStaysOneAndAFileKeepsItsPermissions) {
  namespace fs = std::filesystem;
  ASSERT_EQ(run("one").exit_code, 0);
  const std::string file = write("real.json", R"({"mpsprobe_expectations": 1})");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, path("known.json"));
  const Run recorded = expect({"update", "--from", path("one")});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_TRUE(fs::is_symlink(path("known.json")));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_GT(fs::file_size(file), 100U);
  // One that leads to where no file is yet makes it there.
  fs::create_directory(path("elsewhere"));
  fs::create_symlink("elsewhere/second.json", path("second.json"));
  EXPECT_EQ(
      mpsprobe({"expect", "update", "--from", path("one"), "--expectations", path("second.json")})
          .exit_code,
      0);
  EXPECT_TRUE(fs::is_symlink(path("second.json")));
  EXPECT_THAT(read("elsewhere/second.json"), HasSubstr("exit_eleven"));
  fs::create_symlink("third.json", path("third.json"));
  EXPECT_THAT(
      mpsprobe({"expect", "update", "--from", path("one"), "--expectations", path("third.json")})
          .err,
      HasSubstr("leads back to itself"));
}

TEST_F(Expect, EarlierNightsAreEvidence) {
  write("known.json", R"({"mpsprobe_expectations": 1, "known": [{"where": {"cells": ["cpu/*"]},
    "outcome": "exit", "failures": 250, "trials": 1000}]})");
  ASSERT_EQ(run("a").exit_code, 0);  // 3 of 6 each
  ASSERT_EQ(run("b").exit_code, 0);
  ASSERT_EQ(run("c").exit_code, 0);
  for (const char* night : {"a", "b", "c"}) {
    EXPECT_EQ(mpsprobe({"history", "add", path(night), "--db", path("h.ndjson")}).exit_code, 0);
  }
  const auto further = [this](const std::vector<std::string>& words) {
    const Run checked = expect(words);
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    return nlohmann::json::parse(checked.out)[0].at("entries")[0].at("further").at("trials");
  };
  EXPECT_EQ(further({"check", path("c"), "--json"}), 6);
  EXPECT_EQ(further({"check", path("c"), "--json", "--db", path("h.ndjson")}), 18);
  EXPECT_EQ(further({"check", path("a"), "--json", "--db", path("h.ndjson")}), 6);
}

TEST_F(Expect, ThePageOfARunShowsItBesideWhatIsKnown) {
  ASSERT_EQ(run("one").exit_code, 0);
  ASSERT_EQ(run("two").exit_code, 0);
  ASSERT_EQ(expect({"update", "--from", path("one")}).exit_code, 0);
  ASSERT_EQ(mpsprobe({"history", "add", path("one"), "--db", path("h.ndjson")}).exit_code, 0);
  const Run written =
      mpsprobe({"report", path("two"), "--format", "html", "--baseline", path("one"),
                "--expectations", path("known.json"), "--db", path("h.ndjson")});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  const std::string page = read("two/report.html");
  for (const char* part : {"Known failures", "as known", "Compared with", "Nights", "2 nights"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  const Run refused = mpsprobe({"report", path("two"), "--baseline", path("one")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--format html"));
  EXPECT_EQ(mpsprobe({"report", path("two"), "--format", "html", "--db", path("x")}).exit_code, 0);
}

TEST_F(Expect, SaysWhatIsMissing) {
  EXPECT_THAT(expect({"check"}).err, HasSubstr("nothing says which run"));
  EXPECT_THAT(expect({"update"}).err, HasSubstr("--from RUN"));
  EXPECT_THAT(expect({"chekc", "x"}).err, HasSubstr("did you mean \"check\"?"));
  ASSERT_EQ(run("one").exit_code, 0);
  EXPECT_THAT(expect({"check", path("one")}).err, HasSubstr("known.json: cannot be read"));
  EXPECT_THAT(run("two", {"--fail-on", "new"}).err, HasSubstr("--expectations FILE"));
  EXPECT_THAT(run("two", {"--fail-on", "any,nwe"}).err, HasSubstr("did you mean \"new\"?"));
  const Run no_history = expect({"update", "--from", path("one"), "--db", path("new/h.ndjson")});
  EXPECT_EQ(no_history.exit_code, 0) << no_history.err;
  EXPECT_THAT(no_history.err, HasSubstr("begun; it holds no earlier night"));
  EXPECT_TRUE(std::filesystem::exists(path("new/h.ndjson")));
  EXPECT_EQ(mpsprobe({"expect", "update", "--from", path("one"), "--expectations",
                      path("no/folder.json")})
                .exit_code,
            5);
}

}  // namespace
}  // namespace mpsprobe

// tools/nightly with the built mpsprobe and the self-test worker: two machines' nights, and what is
// made of them.
#include <gmock/gmock.h>

#include <filesystem>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;

class Nightly : public ProgramTest {
 protected:
  Nightly() {
    write("night.json", R"({"mpsprobe_matrix": 1, "name": "night", "run": {"trials": 3}, "blocks": [
      {"title": "cells", "axes": {"backend": ["cpu"], "threads": [1, 2],
       "op": ["selftest.pass", "selftest.exit_eleven"]}}]})");
    // doctor and the self-test take minutes, and have tests of their own.
    script("mpsprobe",
           "case $1:$3 in doctor:*) echo '{}'; exit 0 ;; run:selftest) exit 0 ;; esac\n"
           "exec '" +
               program_ + "' \"$@\"\n");
  }
  void script(const std::string& name, const std::string& text) const {
    std::filesystem::permissions(write(name, "#!/bin/sh\n" + text),
                                 std::filesystem::perms::owner_all);
  }
  Run night(const std::string& machine, const std::string& more = "") const {
    return nightly("run", "--out " + path("sent/" + machine) + " --matrix " + path("night.json") +
                              " --minutes 1 " + more + " -- --worker \"$worker\"");
  }
  Run merge(const std::string& more) const {
    return nightly("merge", path("sent") + " --out " + path("night") + " --history " +
                                path("h.ndjson") + " " + more);
  }
  Run nightly(const std::string& action, const std::string& words = "") const {
    return shell(std::string(MPSPROBE_SOURCE_DIR) + "/tools/nightly " + action + " --mpsprobe " +
                 path("mpsprobe") + " " + words);
  }
};

TEST_F(Nightly, MergesWhatMachinesSentAndAlarmsOfOneThatSentNothing) {
  EXPECT_EQ(night("mini").exit_code, 0);
  EXPECT_EQ(merge("--machines mini").exit_code, 0) << read("night/alarms.txt");
  EXPECT_THAT(read("night/summary.md"), HasSubstr("selftest.exit_eleven"));
  EXPECT_THAT(read("night/mini-night/report.html"), HasSubstr("<html"));
  EXPECT_THAT(read("night/trend.txt"), HasSubstr("4 series looked at"));

  const Run missing = merge("--machines mini,studio");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(read("night/alarms.txt"), HasSubstr("studio sent nothing"));
  EXPECT_THAT(read("night/summary.md"), HasSubstr("studio sent nothing"));
}

TEST_F(Nightly, ShardsOfMachinesThatAreAlikeAreOneRun) {
  EXPECT_EQ(night("a", "--shard 1/2").exit_code, 0);
  const Run half = merge("--shared");
  EXPECT_EQ(half.exit_code, 6) << half.err;
  EXPECT_THAT(read("night/alarms.txt"), HasSubstr("no run of shard 2 is here"));
  EXPECT_EQ(night("b", "--shard 2/2").exit_code, 0);
  EXPECT_EQ(merge("--shared").exit_code, 0) << read("night/alarms.txt");
  EXPECT_THAT(read("night/night/report.json"), HasSubstr("\"recorded\": 12"));
}

TEST_F(Nightly, APartThatFailsIsToldAndTheOthersGoOn) {
  script("mpsprobe", "case $1:$3 in doctor:*) exit 3 ;; run:selftest) exit 1 ;; esac\nexec '" +
                         program_ + "' \"$@\"\n");
  EXPECT_EQ(night("mini").exit_code, 3);
  EXPECT_EQ(merge("--machines mini").exit_code, 3);
  EXPECT_THAT(read("night/alarms.txt"), HasSubstr("mini: doctor ended with 3"));
  EXPECT_THAT(read("night/alarms.txt"), HasSubstr("mini: selftest ended with 1"));
  EXPECT_THAT(read("night/summary.md"), HasSubstr("selftest.exit_eleven"));
}

TEST_F(Nightly, WhatIsKnownIsNoAlarmAndWhatIsNotIs) {
  EXPECT_EQ(night("mini").exit_code, 0);
  EXPECT_EQ(mpsprobe({"expect", "update", "--from", path("sent/mini/night"), "--expectations",
                      path("known.json")})
                .exit_code,
            0);
  EXPECT_EQ(merge("--expectations " + path("known.json")).exit_code, 0);
  EXPECT_THAT(read("night/summary.md"), HasSubstr("as known (2)"));
  EXPECT_THAT(read("night/mini-night/report.html"), HasSubstr("Nothing failed that is not known"));
  EXPECT_EQ(read("night/alarms.txt"), "");

  write("known.json", R"({"mpsprobe_expectations": 1})");
  EXPECT_EQ(merge("--expectations " + path("known.json")).exit_code, 1);
  EXPECT_THAT(read("night/alarms.txt"), HasSubstr("mini-night: failures that are new"));
  EXPECT_THAT(read("night/summary.md"), HasSubstr("new: no entry knows them (2)"));

  write("known.json", "{}");
  EXPECT_EQ(merge("--expectations " + path("known.json")).exit_code, 3);
  EXPECT_THAT(read("night/alarms.txt"), HasSubstr("mpsprobe_expectations"));
}

TEST_F(Nightly, RemovesNothingThatIsNotItsOwn) {
  std::filesystem::create_directories(path("sent/mini"));
  write("sent/mini/thesis.tex", "years of work");
  EXPECT_EQ(night("mini").exit_code, 2);
  EXPECT_EQ(read("sent/mini/thesis.tex"), "years of work");
  EXPECT_EQ(nightly("rum").exit_code, 2);
}

}  // namespace
}  // namespace mpsprobe

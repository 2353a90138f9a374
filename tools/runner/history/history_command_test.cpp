// The history of several nights, as a person sees it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;

class History : public ProgramTest {
 protected:
  /// A night of a cell, which passes or fails in all trials: the worker takes the other operation.
  void night(const std::string& name, bool fails, const char* trials = "10") const {
    const std::string worker = selftest_.substr(selftest_.find('=') + 1);
    const std::string pass = "[ \"$1\" = describe ] && exec '" + worker + "' describe\n" +
                             "for a; do shift; set -- \"$@\" \"$(printf %s \"$a\" | sed "
                             "s/selftest.exit_eleven/selftest.pass/g)\"; done\n";
    const std::string text =
        "#!/bin/sh\n" + (fails ? std::string() : pass) + "exec '" + worker + "' \"$@\"\n";
    const std::string file = write("worker-" + name, text);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    const Run run = mpsprobe({"run", "--cell", kNightCell, "--trials", trials, "--worker",
                              "stock=" + file, "--out", path(name)});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
  Run history(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "history");
    arguments.insert(arguments.end(), {"--db", path("kept/h.ndjson")});
    return mpsprobe(arguments);
  }

  /// The runs that the file holds, oldest first.
  std::vector<nlohmann::json> kept() const {
    std::vector<nlohmann::json> runs;
    std::ifstream file(path("kept/h.ndjson"));
    for (std::string line; std::getline(file, line);) runs.push_back(nlohmann::json::parse(line));
    return runs;
  }

  static constexpr const char* kNightCell = "cpu/selftest.exit_eleven/default";
};

TEST_F(History, SaysSinceWhichNight) {
  std::vector<std::string> all{"add"};
  for (int i = 0; i < 8; ++i) {
    night("n" + std::to_string(i), i < 4);
    all.push_back(path("n" + std::to_string(i)));
  }
  const Run added = history(all);
  EXPECT_EQ(added.exit_code, 0) << added.err;
  EXPECT_THAT(added.err, HasSubstr("n7: added"));
  EXPECT_THAT(history(all).err, HasSubstr("n7: was there, and is replaced"));

  const std::vector<nlohmann::json> runs = kept();
  ASSERT_EQ(runs.size(), 8U);
  EXPECT_EQ(runs[0].at("cells")[0].at("failures"), 10);
  EXPECT_EQ(runs[7].at("cells")[0].at("failures"), 0);
  EXPECT_EQ(runs[7].at("cells")[0].at("trials"), 10);

  const Run trend = history({"trend"});
  EXPECT_EQ(trend.exit_code, 0) << trend.err;
  EXPECT_THAT(trend.out, HasSubstr(" fails less often ("));
  EXPECT_THAT(trend.out, HasSubstr("1 series looked at: 1 change of a rate\n"));
  const nlohmann::json told = nlohmann::json::parse(history({"trend", "--json"}).out);
  EXPECT_EQ(told.at("changes")[0].at("since"), runs[4].at("started"));
  EXPECT_EQ(history({"trend", "--cell", "mps/*"}).exit_code, 4);
  EXPECT_THAT(history({"trend", "--cell", "*exit_eleven*"}).out, HasSubstr("1 series looked at"));
}

TEST_F(History, CountsNoTrialTwice) {
  for (const char* shard : {"1/2", "2/2"}) {
    EXPECT_EQ(mpsprobe({"run", "--matrix",
                        write("m.json", R"({"mpsprobe_matrix": 1, "name": "two", "blocks": [
                          {"title": "cells", "axes": {"backend": ["cpu"],
                           "op": ["selftest.pass", "selftest.exit_eleven"]}}]})"),
                        "--trials", "3", "--shard", shard, "--worker", selftest_, "--out",
                        path(std::string("shards/") + shard[0])})
                  .exit_code,
              0);
  }
  EXPECT_EQ(history({"add", path("shards/1")}).exit_code, 0);
  EXPECT_EQ(mpsprobe({"merge", path("shards"), "--out", path("all")}).exit_code, 0);
  EXPECT_THAT(history({"add", path("all")}).err, HasSubstr("all: added"));
  EXPECT_THAT(history({"add", path("shards/2")}).err, HasSubstr("is part of a merged run"));
  const std::vector<nlohmann::json> runs = kept();
  ASSERT_EQ(runs.size(), 1U);
  int trials = 0;
  int failures = 0;
  for (const nlohmann::json& cell : runs[0].at("cells")) {
    trials += cell.at("trials").get<int>();
    failures += cell.at("failures").get<int>();
  }
  EXPECT_EQ(trials, 6);
  EXPECT_EQ(failures, 3);
}

TEST_F(History, RunsThatAreAddedAtOnceAreAllKept) {
  std::string all;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "n" + std::to_string(i);
    night(name, true, "1");
    all += "\"$mpsprobe\" history add " + name + " --db h.ndjson & ";
  }
  EXPECT_EQ(shell(all + "wait").exit_code, 0);
  const Run trend = mpsprobe({"history", "trend", "--db", path("h.ndjson"), "--json"});
  EXPECT_EQ(trend.exit_code, 0) << trend.err;
  EXPECT_EQ(shell("wc -l < h.ndjson").out, "6\n");
}

TEST_F(History, NoFlippedByteChangesWhatItSaysInSilence) {
  night("n0", true);
  night("n1", false);
  ASSERT_EQ(history({"add", path("n0"), path("n1")}).exit_code, 0);
  const std::string whole = history({"trend", "--json"}).out;
  const std::string file = path("kept/h.ndjson");
  std::string bytes;
  {
    std::ifstream stream(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  }
  int told = 0;
  constexpr size_t kFlips = 60;
  for (size_t i = 0; i < kFlips; ++i) {
    std::string flipped = bytes;
    const size_t at = bytes.size() - 1 - i * 977 % bytes.size();
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << i % 8));
    std::ofstream(file, std::ios::binary) << flipped;
    const Run trend = history({"trend", "--json"});
    if (trend.exit_code != 0) {
      EXPECT_THAT(trend.err, HasSubstr("h.ndjson"));
      ++told;
      continue;
    }
    EXPECT_EQ(trend.out, whole) << "byte " << at;
  }
  EXPECT_EQ(told, static_cast<int>(kFlips));
}

TEST_F(History, RefusesWhatIsNoHistory) {
  EXPECT_THAT(history({"trend"}).err, HasSubstr("does not exist"));
  EXPECT_EQ(history({"trend"}).exit_code, 2);
  const Run text = mpsprobe({"history", "trend", "--db", write("x.sqlite", "SQLite format 3")});
  EXPECT_EQ(text.exit_code, 3) << text.err;
  EXPECT_THAT(text.err, HasSubstr("x.sqlite: line 1 is damaged, or of another version"));
  EXPECT_EQ(mpsprobe({"history", "trend", "--db", "/dev/zero"}).exit_code, 3);
  EXPECT_THAT(history({"add"}).err, HasSubstr("nothing says which run"));
  EXPECT_THAT(history({"add", path("none")}).err, HasSubstr("does not exist"));
}

}  // namespace
}  // namespace mpsprobe

// The history of several nights, as a person sees it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture.h"

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
    arguments.insert(arguments.end(), {"--db", path("kept/h.sqlite")});
    return mpsprobe(arguments);
  }

  static constexpr const char* kNightCell = "cpu/selftest.exit_eleven/default";
};

TEST_F(History, SaysSinceWhichNightAndWhatIsGone) {
  std::vector<std::string> all{"add"};
  for (int i = 0; i < 8; ++i) {
    night("n" + std::to_string(i), i < 4);
    all.push_back(path("n" + std::to_string(i)));
  }
  const Run added = history(all);
  EXPECT_EQ(added.exit_code, 0) << added.err;
  EXPECT_THAT(added.err, HasSubstr("n7: added"));
  EXPECT_THAT(history(all).err, HasSubstr("n7: was there, and is replaced"));

  const nlohmann::json runs = nlohmann::json::parse(history({"show", "--json"}).out).at("rows");
  ASSERT_EQ(runs.size(), 8U);
  EXPECT_EQ(runs[0].at("failures"), 10);
  EXPECT_EQ(runs[7].at("failures"), 0);
  EXPECT_EQ(runs[7].at("trials"), 10);

  const Run trend = history({"trend"});
  EXPECT_EQ(trend.exit_code, 0) << trend.err;
  EXPECT_THAT(trend.out, HasSubstr(" fails less often ("));
  EXPECT_THAT(trend.out, HasSubstr(" is gone ("));
  EXPECT_THAT(trend.out, HasSubstr("1 change of a rate, 1 signature gone"));
  const nlohmann::json told = nlohmann::json::parse(history({"trend", "--json"}).out);
  EXPECT_EQ(told.at("changes")[0].at("since"), runs[4].at("started"));
  EXPECT_EQ(history({"trend", "--cell", "mps/*"}).exit_code, 4);
  EXPECT_THAT(history({"show", "--cell", "*exit_eleven*"}).out, HasSubstr("  10/10  "));
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
  const nlohmann::json runs = nlohmann::json::parse(history({"show", "--json"}).out).at("rows");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].at("trials"), 6);
  EXPECT_EQ(runs[0].at("failures"), 3);
}

TEST_F(History, NoFlippedByteChangesWhatItSaysInSilence) {
  night("n0", true);
  night("n1", false);
  ASSERT_EQ(history({"add", path("n0"), path("n1")}).exit_code, 0);
  const std::string whole = history({"show", "--json"}).out + history({"show", "--cell", "*"}).out;
  const std::string file = path("kept/h.sqlite");
  std::string bytes;
  {
    std::ifstream stream(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  }
  int told = 0;
  constexpr size_t kFlips = 60;
  for (size_t i = 0; i < kFlips; ++i) {
    std::string flipped = bytes;
    // Of what is written at the ends of its pages, where the rows are.
    const size_t at = bytes.size() - 1 - i * 977 % bytes.size();
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << i % 8));
    std::ofstream(file, std::ios::binary) << flipped;
    const Run show = history({"show", "--json"});
    if (show.exit_code != 0) {
      EXPECT_THAT(show.err, HasSubstr("h.sqlite"));
      ++told;
      continue;
    }
    EXPECT_EQ(show.out + history({"show", "--cell", "*"}).out, whole) << "byte " << at;
  }
  EXPECT_GT(told, 0);
}

TEST_F(History, RefusesWhatIsNoHistory) {
  EXPECT_THAT(history({"show"}).err, HasSubstr("does not exist"));
  EXPECT_EQ(history({"show"}).exit_code, 2);
  const Run text = mpsprobe({"history", "show", "--db", write("x.sqlite", "no database at all")});
  EXPECT_EQ(text.exit_code, 3) << text.err;
  EXPECT_THAT(text.err, HasSubstr("x.sqlite"));
  EXPECT_THAT(history({"add"}).err, HasSubstr("nothing says which run"));
  EXPECT_THAT(history({"add", path("none")}).err, HasSubstr("does not exist"));
}

}  // namespace
}  // namespace mpsprobe

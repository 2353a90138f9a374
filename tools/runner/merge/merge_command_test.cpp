// Shards, what is merged of them, and how two runs differ, as a person sees it.
#include <gmock/gmock.h>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

class Night : public ProgramTest {
 protected:
  Run shard(const std::string& which, const std::string& out) const {
    return mpsprobe({"run", "--matrix", write("m.json", kMatrix), "--trials", "3", "--shard", which,
                     "--worker", selftest_, "--out", path(out)});
  }

  static constexpr const char* kMatrix = R"({"mpsprobe_matrix": 1, "name": "night", "blocks": [
    {"title": "cells", "axes": {"backend": ["cpu"], "threads": [1, 2],
     "op": ["selftest.pass", "selftest.exit_eleven", "selftest.null_dereference"]}}]})";
};

TEST_F(Night, ShardsThatAreMergedGiveTheWholeAndTwiceTheSame) {
  EXPECT_EQ(shard("1/2", "shards/1").exit_code, 0);
  const Run half = mpsprobe({"merge", path("shards"), "--out", path("half")});
  EXPECT_EQ(half.exit_code, 6) << half.err;
  EXPECT_THAT(half.err, HasSubstr("no run of shard 2 is here"));
  EXPECT_THAT(half.err, HasSubstr("incomplete: 12 of 18 planned trials came to a result"));

  EXPECT_EQ(shard("2/2", "shards/2").exit_code, 0);
  const Run merged = mpsprobe({"merge", path("shards"), "--out", path("shards/all")});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  const std::string journal = read("shards/all/journal.ndjson");
  const std::string report = read("shards/all/report.json");
  EXPECT_THAT(report, HasSubstr("\"recorded\": 18"));
  EXPECT_EQ(mpsprobe({"merge", path("shards"), "--out", path("shards/all")}).exit_code, 0);
  EXPECT_EQ(read("shards/all/journal.ndjson"), journal);
  EXPECT_EQ(read("shards/all/report.json"), report);

  const Run same = mpsprobe({"diff", path("shards/all"), path("shards"), "--fail-on", "new,worse"});
  EXPECT_EQ(same.exit_code, 0) << same.err << same.out;
  EXPECT_THAT(same.out, HasSubstr("6 cells compared, 0 changes claimed"));
}

TEST_F(Night, AShardsOwnJournalIsNotReplaced) {
  EXPECT_EQ(shard("1/2", "one").exit_code, 0);
  const Run run = mpsprobe({"merge", path("one"), "--out", path("one")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("holds the journal of a run"));
}

TEST_F(Night, DiffFailsOnWhatIsNewAndRefusesAnotherLibrary) {
  const auto run = [this](const char* trials, const std::string& out) {
    EXPECT_EQ(mpsprobe({"run", "--cell", "cpu/selftest.exit_eleven/default", "--trials", trials,
                        "--worker", selftest_, "--out", path(out)})
                  .exit_code,
              0);
  };
  run("9", "a");
  run("9", "b");
  // The same cell without a failure: as a night before the defect.
  std::string before = read("a/report.json");
  const std::string failed = "\"failures\": 9";
  for (size_t at = before.find(failed); at != std::string::npos; at = before.find(failed)) {
    before.replace(at, failed.size(), "\"failures\": 0");
  }
  const std::string file = write("before.json", before);
  const Run worse = mpsprobe({"diff", file, path("b"), "--fail-on", "new"});
  EXPECT_EQ(worse.exit_code, 1) << worse.err << worse.out;
  EXPECT_THAT(worse.out, HasSubstr("0/9 -> 9/9"));
  EXPECT_EQ(mpsprobe({"diff", path("b"), file, "--fail-on", "new,worse"}).exit_code, 0);

  const size_t at = before.find("\"version\": \"");
  ASSERT_NE(at, std::string::npos);
  before.insert(at + 12, "9.");
  const std::string other = write("other.json", before);
  const Run refused = mpsprobe({"diff", other, path("b")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--across library"));
  EXPECT_EQ(mpsprobe({"diff", other, path("b"), "--across", "library"}).exit_code, 0);
}

}  // namespace
}  // namespace mpsprobe

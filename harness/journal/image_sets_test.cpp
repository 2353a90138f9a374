#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/journal/journal.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

class ImageSets : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/mpsprobe-images-XXXXXX";
    folder_ = mkdtemp(pattern);
    file_ = folder_ / "journal.ndjson";
    header_.trials = 1;
    header_.workers = {{"stock", "/bin/worker", {{"mpsprobe_worker", 2}}}};
  }
  void TearDown() override { fs::remove_all(folder_); }

  static TrialRecord trial(std::vector<ImageSeen> images) {
    TrialRecord record;
    record.cell = parse_cell("cpu/mm/default/threads=1");
    record.processes.emplace_back();
    record.processes[0].recorder.images = std::move(images);
    return record;
  }

  fs::path folder_;
  fs::path file_;
  CampaignHeader header_;
};

TEST_F(ImageSets, EachListIsStoredOnceAlsoWhenTheRunGoesOn) {
  const std::vector<ImageSeen> stock{{"/torch/libtorch_cpu.so", ""}, {"/lib/libc.so.6", "ab12"}};
  const std::vector<ImageSeen> fork{{"/fork/libtorch_cpu.so", ""}, {"/lib/libc.so.6", "ab12"}};
  {
    JournalWriter writer(file_, header_);
    for (int i = 0; i < 3; ++i) writer.append(trial(stock));
    writer.append(trial(fork));
    writer.append(trial({}));
  }
  {
    JournalWriter writer(file_);
    writer.append(trial(stock));
  }
  const Journal journal = read_journal(file_);
  EXPECT_EQ(journal.image_sets.size(), 2U);
  ASSERT_EQ(journal.trials.size(), 6U);
  const auto images = [&](size_t number) {
    return journal.image_sets.at(journal.trials[number].processes[0].image_set);
  };
  EXPECT_EQ(images(0), stock);
  EXPECT_EQ(images(3), fork);
  EXPECT_EQ(images(5), stock);
  EXPECT_EQ(journal.trials[4].processes[0].image_set, "");
  std::ifstream stream(file_);
  int records = 0;
  for (std::string line; std::getline(stream, line);) {
    records += line.find("\"record\":\"images\"") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(records, 2);
}

TEST_F(ImageSets, PathsThatAreNoTextAndABannerThatWasSeenComeBack) {
  TrialRecord record = trial({{"/tmp/\xff\n.so", "\""}});
  record.processes[0].api_validation_seen = true;
  record.processes[0].observation = {7, {"a suspicion"}};
  {
    JournalWriter writer(file_, header_);
    writer.append(record);
  }
  const Journal journal = read_journal(file_);
  const ProcessRecord& process = journal.trials.at(0).processes.at(0);
  EXPECT_EQ(journal.image_sets.at(process.image_set)[0].path, "/tmp/\xef\xbf\xbd\n.so");
  EXPECT_TRUE(process.api_validation_seen);
  EXPECT_FALSE(process.shader_validation_seen);
  ASSERT_TRUE(process.observation.has_value());
  EXPECT_EQ(process.observation->calls, 7U);
  EXPECT_EQ(process.observation->suspicions, std::vector<std::string>{"a suspicion"});
}

}  // namespace
}  // namespace mpsprobe

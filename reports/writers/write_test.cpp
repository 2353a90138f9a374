#include "reports/writers/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/campaign/merge.h"
#include "harness/campaign/shard.h"
#include "reports/evidence_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;

std::string text_by(const Writer& writer, const Journal& journal, const Analysis& analysis) {
  std::string text;
  writer.write(journal, analysis, {}, [&text](std::string_view more) { text += more; });
  return text;
}

class WriteTest : public ::testing::Test {
 protected:
  WriteTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("mpsprobe-write-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~WriteTest() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }

  std::filesystem::path folder_;
};

TEST_F(WriteTest, ReplacesAFileAndLeavesNothingElse) {
  write_atomically(folder_ / "a", "old");
  write_atomically(folder_ / "a", "new");
  EXPECT_EQ(read(folder_ / "a"), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteTest, WritesBothReportsTheSameEachTime) {
  const Journal journal = report_000().journal;
  const Analysis analysis = analyse(journal);
  const auto first = write_reports(folder_ / "deep/er", journal, analysis);
  const std::string json = read(first.back());
  const std::string markdown = read(first.front());
  EXPECT_FALSE(json.empty());
  EXPECT_FALSE(markdown.empty());
  write_reports(folder_ / "deep/er", journal, analyse(journal));
  EXPECT_EQ(read(first.back()), json);
  EXPECT_EQ(read(first.front()), markdown);
}

TEST_F(WriteTest, NamesFileReasonAndRemedyAndKeepsTheOldFile) {
  std::filesystem::create_directories(folder_ / "taken/inside");
  try {
    write_atomically(folder_ / "taken", "text");
    FAIL() << "a folder was replaced by a file";
  } catch (const ReportError& error) {
    EXPECT_THAT(error.what(), HasSubstr((folder_ / "taken").string()));
    EXPECT_THAT(error.what(), HasSubstr("directory"));
    EXPECT_THAT(error.what(), HasSubstr("mpsprobe report"));
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "taken/inside"));
  EXPECT_EQ(files(), 1u) << "a temporary file was left behind";
}

TEST_F(WriteTest, AFolderThatCannotBeMadeIsAnError) {
  write_atomically(folder_ / "file", "text");
  EXPECT_THROW(write_reports(folder_ / "file/below", Journal{}, analyse(Journal{})), ReportError);
}

// A limit on the size of files stands for the full disk.
TEST_F(WriteTest, WhatDoesNotFitLeavesTheOldFileAndNothingElse) {
  write_atomically(folder_ / "a", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(write_atomically(folder_ / "a", std::string(100000, 'x')), ReportError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(read(folder_ / "a"), "old");
  EXPECT_EQ(files(), 1u);
}

// The journal of one run, as four machines would have written it.
std::vector<NamedJournal> in_shards(const Journal& whole, size_t count) {
  std::vector<NamedJournal> shards;
  for (size_t index = 0; index < count; ++index) {
    Journal shard = whole;
    shard.run = "shard" + std::to_string(index);
    keep_shard(shard.header, {index, count});
    std::set<std::string> own;
    for (const PlannedCell planned : shard.header.cells) own.insert(to_string(planned.cell));
    std::erase_if(shard.trials, [&own](const TrialRecord& trial) {
      return !own.contains(to_string(trial.cell));
    });
    shards.push_back({shard.run, std::move(shard)});
  }
  return shards;
}

TEST(Write, AMergedRunHasTheReportsOfOneRun) {
  Journal whole = report_000().journal;
  int second = 0;
  for (TrialRecord& trial : whole.trials) {
    trial.started = "2026-01-31T12:" + std::to_string(10 + second / 60) + ":" +
                    std::to_string(100 + second % 60).substr(1) + ".000Z";
    ++second;
  }
  const Journal merged = merge_journals(in_shards(whole, 4));
  for (const Writer& writer : writers()) {
    EXPECT_EQ(text_by(writer, merged, analyse(merged)), text_by(writer, whole, analyse(whole)))
        << writer.file;
  }
}

TEST_F(WriteTest, TrialsThatStayInTheFileHaveTheSameReports) {
  Journal journal = journal_with_evidence().journal;
  const std::filesystem::path file = folder_ / "journal.ndjson";
  {
    JournalWriter writer(file, journal.header);
    for (TrialRecord& trial : journal.trials) {
      for (ProcessRecord& process : trial.processes) {
        process.hello->provenance = journal.provenances.at(process.hello->provenance).dump();
        process.err.head += "\u00e4\u65e5\U0001f600\x7f\t\"\\";
        process.out.head = trial.sequence == 1 ? "no \xff UTF-8" : "";
        process.err.bytes = process.err.head.size();
        process.out.bytes = process.out.head.size();
      }
      writer.append(trial);
    }
    // One is told of in a line of its own, and another stands there twice.
    writer.append(journal.trials[1].sequence, {"sim/mm/default/threads=1", 3, Outcome::hang});
    writer.append(journal.trials[2]);
    writer.append(CampaignEnd{"complete", "2026-01-31T12:05:00.000Z", ""});
  }
  const Journal whole = read_journal(file);
  const auto [stored, analysis] = analyse_file(file);
  EXPECT_TRUE(stored.trials.empty());
  for (const Writer& writer : writers()) {
    EXPECT_EQ(text_by(writer, stored, analysis), text_by(writer, whole, analyse(whole)))
        << writer.file;
  }
  write_journal(folder_ / "of-files", merge_journals({named_journal("a", file)}));
  write_journal(folder_ / "of-memory", merge_journals({{"a", whole, nullptr}}));
  EXPECT_EQ(read(folder_ / "of-files"), read(folder_ / "of-memory"));
}

TEST_F(WriteTest, AFileThatIsAnotherOneNowIsNotReported) {
  const std::filesystem::path file = folder_ / "journal.ndjson";
  SampleJournal sample;
  sample.provenance = sample.journal.provenances.at("build-a").dump();
  sample.plan("sim/linear/nograph/threads=3").ran(2, 1);
  {
    JournalWriter writer(file, sample.journal.header);
    for (const TrialRecord& trial : sample.journal.trials) writer.append(trial);
  }
  const auto [stored, analysis] = analyse_file(file);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_THROW(write_reports(folder_ / "out", stored, analysis), JournalError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/report.json"));
}

}  // namespace
}  // namespace mpsprobe

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "harness/journal/journal.h"
#include "harness/journal/journal_line.h"
#include "harness/test_series.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kTrials = 40;
/// Lines that follow the first one and hold what all trials share.
constexpr size_t kShared = 2;

class JournalDamage : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/mpsprobe-journal-XXXXXX";
    folder_ = mkdtemp(pattern);
    file_ = folder_ / "journal.ndjson";
    header_.trials = kTrials;
    header_.workers = {{"stock", "/bin/worker", {{"mpsprobe_worker", 2}}}};
    header_.cells.push_back(PlannedCell{parse_cell("cpu/mm/default"), "block", std::nullopt});
    lines_ = write(file_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static TrialRecord trial(int number) {
    TrialRecord trial;
    trial.worker = "stock";
    trial.cell = parse_cell("cpu/mm/default");
    trial.trial = number;
    trial.sequence = static_cast<uint64_t>(number);
    trial.started = "2026-01-31T12:34:56.789Z";
    trial.judgement.outcome = Outcome::pass;
    ProcessRecord process;
    process.hello = HelloEvent{2, R"({"torch":{"version":"2.15.0"}})"};
    process.recorder.images = {{"/lib/x.so", "ab"}};
    trial.processes = {process};
    return trial;
  }

  /// A journal of kTrials trials, and its lines.
  std::vector<std::string> write(const fs::path& file) const {
    {
      JournalWriter writer(file, header_);
      for (int i = 0; i < kTrials; ++i) writer.append(trial(i));
      writer.append(CampaignEnd{"complete", "2026-01-31T13:00:00.000Z", ""});
    }
    std::ifstream stream(file, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  void put(const std::vector<std::string>& lines) const {
    std::ofstream stream(file_, std::ios::binary | std::ios::trunc);
    for (const std::string& line : lines) stream << line << '\n';
  }

  static std::set<int> numbers(const Journal& journal) {
    std::set<int> numbers;
    for (const TrialRecord& each : journal.trials) numbers.insert(each.trial);
    return numbers;
  }

  /// What a resumed run does: runs what is not there.
  void resume() const {
    JournalWriter writer(file_);
    const std::set<int> there = numbers(writer.existing());
    for (int i = 0; i < kTrials; ++i) {
      if (!there.contains(i)) writer.append(trial(i));
    }
  }

  void expect_whole() const {
    const Journal journal = read_journal(file_);
    EXPECT_TRUE(journal.damaged.empty());
    EXPECT_EQ(journal.trials.size(), static_cast<size_t>(kTrials));
    EXPECT_EQ(numbers(journal).size(), static_cast<size_t>(kTrials));
    EXPECT_EQ(journal.provenances.size(), 1U);
    EXPECT_EQ(journal.image_sets.size(), 1U);
  }

  fs::path folder_;
  fs::path file_;
  CampaignHeader header_;
  std::vector<std::string> lines_;
};

TEST_F(JournalDamage, AFlippedBitAnywhereIsFoundNamedSkippedAndRunAgain) {
  std::mt19937 random(1);
  constexpr int kFlips = series(260, 40);
  int found = 0;
  for (int i = 0; i < kFlips; ++i) {
    std::vector<std::string> lines = lines_;
    const size_t line = 1 + random() % (lines.size() - 1);
    const size_t at = random() % lines[line].size();
    const auto flipped = static_cast<char>(lines[line][at] ^ (1 << random() % 7));
    if (flipped == '\n') {  // makes two lines of one: both are named
      --i;
      continue;
    }
    lines[line][at] = flipped;
    put(lines);
    const Journal journal = read_journal(file_);
    ASSERT_FALSE(journal.damaged.empty()) << "line " << line + 1 << ", byte " << at;
    EXPECT_EQ(journal.damaged[0].line, line + 1);
    ++found;
    if (i % 10 != 0) continue;  // each waits for the disk
    resume();
    if (line > kShared) expect_whole();
  }
  EXPECT_EQ(found, kFlips);
}

TEST_F(JournalDamage, ATrialStaysWhereWhatItRefersToIsDamagedAndFindsItAgain) {
  std::vector<std::string> lines = lines_;
  for (size_t i = 1; i <= kShared; ++i) lines[i][40] ^= 1;
  put(lines);
  const Journal journal = read_journal(file_);
  EXPECT_EQ(journal.damaged.size(), kShared);
  EXPECT_EQ(numbers(journal).size(), static_cast<size_t>(kTrials));
  EXPECT_TRUE(journal.provenances.empty());
  EXPECT_TRUE(journal.image_sets.empty());
  // The next trial that has them writes them again, under the name that their content gives.
  JournalWriter(file_).append(trial(kTrials));
  const Journal again = read_journal(file_);
  EXPECT_EQ(again.trials.size(), static_cast<size_t>(kTrials) + 1);
  for (const TrialRecord& each : again.trials) {
    EXPECT_TRUE(again.provenances.contains(each.processes[0].hello->provenance)) << each.trial;
    EXPECT_TRUE(again.image_sets.contains(each.processes[0].image_set)) << each.trial;
  }
}

TEST_F(JournalDamage, DigitsThatStayDigitsAreFound) {
  std::vector<std::string> lines = lines_;
  const size_t at = lines[5].find("\"trial\":") + 8;
  const size_t digit = lines[5].find_first_of("0123456789", at);
  lines[5][digit] = lines[5][digit] == '7' ? '8' : '7';
  put(lines);
  ASSERT_EQ(read_journal(file_).damaged.size(), 1U);
}

TEST_F(JournalDamage, LinesOfAnotherRunAndLinesThatStandTwiceAreFound) {
  const std::vector<std::string> other = write(folder_ / "other.ndjson");
  std::mt19937 random(2);
  constexpr int kLines = series(100, 20);
  int found = 0;
  for (int i = 0; i < kLines; ++i) {
    std::vector<std::string> lines = lines_;
    const std::vector<std::string>& source = i % 2 == 0 ? other : lines_;
    const size_t from = 1 + random() % (source.size() - 1);
    const size_t to = from + 1 + random() % (lines.size() - from);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), source[from]);
    put(lines);
    const Journal journal = read_journal(file_);
    ASSERT_EQ(journal.damaged.size(), 1U) << "line " << from << " put before " << to;
    EXPECT_EQ(journal.damaged[0].line, to + 1);
    EXPECT_EQ(journal.trials.size(), static_cast<size_t>(kTrials));
    ++found;
    if (i % 10 != 0) continue;  // each waits for the disk
    resume();
    expect_whole();
  }
  EXPECT_EQ(found, kLines);
}

// Lines are read in batches, whose room is used again.
TEST_F(JournalDamage, OfOneLineWithoutAChecksumIsNoneOfALaterOne) {
  constexpr size_t kMany = 1500;
  std::vector<std::string> lines = lines_;
  const std::string three = "\"journal_version\":3";
  lines[0].replace(lines[0].find(three), three.size(), "\"journal_version\":2");
  const std::string trial = *std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("\"record\":\"trial\"") != std::string::npos;
  });
  const size_t before = numbers(read_journal(file_)).size();
  lines.insert(lines.end() - 1, "no record");
  lines.insert(lines.end(), kMany, trial);
  put(lines);
  const Journal journal = read_journal(file_);
  EXPECT_EQ(journal.damaged.size(), 1U);
  EXPECT_EQ(journal.trials.size(), before + kMany);
}

TEST_F(JournalDamage, ALineThatNeverEndsIsRefusedByItsNumber) {
  fs::resize_file(file_, fs::file_size(file_) + 2 * kMostLineBytes);  // takes no room on the disk
  try {
    read_journal(file_);
    FAIL();
  } catch (const JournalError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr(file_.string() + ":" + std::to_string(lines_.size() + 1) +
                          ": the line is longer than any record: no end of it in 256 MiB"));
  }
}

TEST_F(JournalDamage, WhatIsTakenOutIsKeptBesideIt) {
  std::vector<std::string> lines = lines_;
  lines[4] += "x";
  put(lines);
  resume();
  std::ifstream aside(file_.string() + ".damaged");
  std::string kept;
  std::getline(aside, kept);
  EXPECT_EQ(kept, lines[4]);
}

TEST_F(JournalDamage, OfTheFirstRecordIsAnErrorThatSaysSo) {
  std::vector<std::string> lines = lines_;
  lines[0].replace(lines[0].find("\"trials\":40"), 11, "\"trials\":41");
  put(lines);
  try {
    read_journal(file_);
    FAIL();
  } catch (const JournalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("journal.ndjson:1: the record that says what the run is"));
  }
}

TEST_F(JournalDamage, AFirstRecordThatWasCutOffIsNoRun) {
  std::ofstream(file_, std::ios::trunc) << lines_[0].substr(0, 100);
  EXPECT_FALSE(has_first_record(file_));
  EXPECT_THROW(read_journal(file_), JournalError);
}

TEST_F(JournalDamage, AJournalThatIsBeingWrittenIsToldFromOneThatIsNot) {
  EXPECT_FALSE(is_being_written(file_));
  const JournalWriter writer(file_);
  EXPECT_TRUE(is_being_written(file_));
}

TEST(JournalLine, RunsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(new_run_name());
  EXPECT_EQ(names.size(), 1000U);
}

}  // namespace
}  // namespace mpsprobe

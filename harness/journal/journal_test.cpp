#include "harness/journal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/input/input_error.h"
#include "harness/journal/header_json.h"
#include "harness/journal/journal_line.h"
#include "harness/journal/trial_json.h"
#include "harness/test_series.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TrialRecord sample_trial(int number) {
  TrialRecord trial;
  trial.cell = parse_cell("sim/linear/nograph/threads=3");
  trial.trial = number;
  trial.before = "sim/raw/default/threads=2";
  trial.started = "2026-01-31T12:34:56.789Z";
  trial.judgement.outcome = Outcome::signal;
  trial.judgement.detail = "SIGSEGV";
  trial.judgement.signature = "bad access in x";
  trial.judgement.basis = Basis::frames;
  trial.judgement.also = {{"assertion: y", false}};
  trial.judgement.phase = Phase::run;
  ProcessRecord process;
  process.pid = 4711;
  process.start = StartProcess::exec;
  process.start_remark = "the fork server was ended by SIGKILL";
  process.ready_seconds = 0.25;
  process.termination = Signaled{11, true};
  process.ended_by = EndedBy::nobody;
  process.hello = HelloEvent{1, R"({"torch":{"version":"2.15.0"}})"};
  process.result = ResultEvent{3, 0.5, 2, 1, "nograph"};
  process.failures = {{"exception", "text", "run", 1, 2, "linear"}};
  process.err.head = "broken \xff bytes";
  process.err.bytes = 14 + 1000;
  process.err.tail = "the end";
  process.recorder.threads = {{0, "linear", 7, Step::launching}};
  process.recorder.crash.signal = 11;
  process.recorder.crash.code = 1;
  process.recorder.crash.address = 0x5c8;
  process.recorder.crash.thread = 0;
  process.recorder.crash.frames = {{"/opt/lib.so", "ab12", 0x1234}, {"", "", 0xffffffffffffffff}};
  ThreadStack stack;
  stack.thread = 0;
  stack.faulting = true;
  stack.wait = {Wait::Kind::lock, 0x7f00, 12, true};
  stack.frames = {{"lib.so", "ab12", 0x1234, "f(int)", "f.cpp:3", false}};
  process.stacks = {{stack}, {12, 13}};
  process.stop_signals = "TERM";
  trial.processes = {process};
  trial.known_good = KnownGood{"sim/mm/default/threads=1", 2, Outcome::pass};
  trial.path_probe = PathProbe{"mps/mm/graph/threads=1", "not observed", "it hung"};
  return trial;
}

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/mpsprobe-journal-XXXXXX";
    folder_ = mkdtemp(pattern);
    file_ = folder_ / "journal.ndjson";
    header_.trials = 10;
    header_.seed = 99;
    header_.matrix_name = "m";
    header_.workers = {{"stock", "/bin/worker", {{"mpsprobe_worker", 1}}}};
    PlannedCell planned{parse_cell("sim/linear/nograph/threads=3"), "block", std::nullopt};
    planned.expectation = Expectation{std::nullopt, Outcome::signal, "SIGSEGV"};
    header_.cells.push_back(planned);
    header_.left_out = {{"sim/raw/graph/threads=1", "no such path"}};
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string bytes() const {
    std::ifstream stream(file_, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  fs::path folder_;
  fs::path file_;
  CampaignHeader header_;
};

TEST_F(JournalTest, EverythingComesBack) {
  {
    JournalWriter writer(file_, header_);
    writer.append(sample_trial(0));
    writer.append(sample_trial(1));
    KnownGood known_good{"sim/mm/default/threads=1", 2, Outcome::pass};
    writer.append(sample_trial(1).sequence, known_good);
    writer.append(CampaignEnd{"complete", "2026-01-31T13:00:00.000Z", "note"});
  }
  const Journal journal = read_journal(file_);
  EXPECT_FALSE(journal.torn);
  EXPECT_EQ(journal.header.seed, 99U);
  EXPECT_EQ(journal.header.cells[0].expectation->text(), "signal SIGSEGV");
  EXPECT_EQ(journal.header.left_out[0].reason, "no such path");
  ASSERT_EQ(journal.trials.size(), 2U);
  EXPECT_EQ(journal.provenances.size(), 1U);  // the same one is stored once
  EXPECT_EQ(journal.ends[0].reason, "complete");
  const TrialRecord& trial = journal.trials[1];
  const ProcessRecord& process = trial.processes[0];
  EXPECT_EQ(trial.trial, 1);
  EXPECT_EQ(process.termination, Termination(Signaled{11, true}));
  EXPECT_EQ(process.recorder.crash.frames[1].offset, 0xffffffffffffffffU);
  EXPECT_EQ(process.err.head, "broken \xef\xbf\xbd bytes");
  EXPECT_EQ(process.err.dropped(), 1000U - 7U);
  EXPECT_EQ(process.start_remark, "the fork server was ended by SIGKILL");
  EXPECT_EQ(process.ready_seconds, 0.25);
  EXPECT_EQ(trial.known_good->attempts, 2);
  ASSERT_TRUE(trial.path_probe);
  EXPECT_EQ(trial.path_probe->cell, "mps/mm/graph/threads=1");
  EXPECT_EQ(trial.path_probe->path, "not observed");
  EXPECT_EQ(trial.path_probe->why, "it hung");
  // What was read and is written again is the same.
  TrialRecord again = trial_from_json(trial_to_json(trial));
  EXPECT_EQ(trial_to_json(again), trial_to_json(trial));
}

TEST_F(JournalTest, HowProcessesWereStartedComesBackAndInOldOnesEveryOneWasExecuted) {
  using Chosen = std::optional<StartProcess>;
  for (const Chosen& chosen : {Chosen(), Chosen(StartProcess::exec), Chosen(StartProcess::standby),
                               Chosen(StartProcess::fork)}) {
    header_.start_process = chosen;
    EXPECT_EQ(header_from_json(header_to_json(header_)).start_process, chosen);
  }
  nlohmann::json header = header_to_json(header_);
  header.erase("start_process");
  EXPECT_EQ(header_from_json(header).start_process, StartProcess::exec);
  header["start_process"] = "teleport";
  EXPECT_THROW(header_from_json(header), InputError);
  TrialRecord forked = sample_trial(0);
  forked.processes[0].start = StartProcess::fork;
  nlohmann::json trial = trial_to_json(forked);
  EXPECT_EQ(trial_from_json(trial).processes[0].start, StartProcess::fork);
  for (const char* key : {"start", "start_remark", "ready_seconds"}) {
    trial["processes"][0].erase(key);
  }
  EXPECT_EQ(trial_from_json(trial).processes[0].start, StartProcess::exec);
  EXPECT_EQ(trial_from_json(trial).processes[0].start_remark, "");
}

TEST_F(JournalTest, CutOffAtAnyByteItLosesAtMostTheLastRecord) {
  {
    JournalWriter writer(file_, header_);
    for (int i = 0; i < 3; ++i) writer.append(sample_trial(i));
  }
  const std::string whole = bytes();
  const size_t first_trial = whole.find("\"record\":\"trial\"");
  for (size_t cut = first_trial; cut < whole.size(); cut += series(97, 397)) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << whole.substr(0, cut);
    const Journal journal = read_journal(file_);
    const size_t complete = static_cast<size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<long>(cut), '\n'));
    EXPECT_EQ(journal.trials.size(), complete < 2 ? 0 : complete - 2);
    {
      JournalWriter writer(file_);
      EXPECT_EQ(writer.existing().trials.size(), journal.trials.size());
      writer.append(sample_trial(9));
    }
    const Journal resumed = read_journal(file_);
    EXPECT_FALSE(resumed.torn);
    EXPECT_EQ(resumed.trials.size(), journal.trials.size() + 1);
  }
}

TEST_F(JournalTest, AFullDiskIsAnErrorThatNamesTheFileAndLeavesWholeRecords) {
  const pid_t child = fork();
  if (child == 0) {
    JournalWriter writer(file_, header_);
    writer.append(sample_trial(0));
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{fs::file_size(file_) + 500, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      writer.append(sample_trial(1));
    } catch (const JournalError& error) {
      const std::string text = error.what();
      _exit(text.find("journal.ndjson") != std::string::npos &&
                    text.find("--resume") != std::string::npos
                ? 0
                : 2);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Journal journal = read_journal(file_);
  EXPECT_FALSE(journal.torn);
  EXPECT_EQ(journal.trials.size(), 1U);
}

TEST_F(JournalTest, AJournalThatMayNotBeWrittenSaysWhereTheRunCanGoOn) {
  JournalWriter(file_, header_).append(sample_trial(0));
  fs::permissions(file_, fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                               fs::perms::others_exec);
  const bool root = geteuid() == 0;  // who may write everywhere
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  std::string said;
  try {
    JournalWriter writer{file_};
  } catch (const JournalError& error) {
    said = error.what();
  }
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_THAT(said, HasSubstr("journal.ndjson: cannot be opened: Permission denied"));
  EXPECT_THAT(said, HasSubstr("a copy of its folder as well (--trust-run)"));
}

TEST_F(JournalTest, TwoWritersOfOneJournalAreRefused) {
  JournalWriter first(file_, header_);
  EXPECT_THROW(JournalWriter{file_}, JournalError);
  EXPECT_THROW(JournalWriter(file_, header_), JournalError);
}

// Without checksums, as journals of an older version: what cannot be read is skipped as well.
TEST_F(JournalTest, ADamagedRecordIsNamedByItsLineAndTheRestIsRead) {
  {
    JournalWriter writer(file_, header_);
    writer.append(sample_trial(0));
    writer.append(sample_trial(1));
  }
  std::string whole = bytes();
  whole.replace(whole.find("\"journal_version\":3"), 19, "\"journal_version\":2");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"kind\":\"signaled\"", "\"kind\":\"vanished\""},
           {"\"outcome\":\"signal\",\"phase\"", "\"outcome\":\"sunshine\",\"phase\""},
           {"\"judged_process\":0", "\"judged_process\":70"},
           {"\"trial\":{", "\"trial\":[{"}}) {
    std::string damaged = whole;
    damaged.replace(damaged.find(from), from.size(), to);
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << damaged;
    const Journal journal = read_journal(file_);
    ASSERT_EQ(journal.damaged.size(), 1U) << to;
    EXPECT_EQ(journal.damaged[0].line, 3U) << to;
    ASSERT_EQ(journal.trials.size(), 1U) << to;
    EXPECT_EQ(journal.trials[0].trial, 1);
  }
}

TEST_F(JournalTest, WhatIsNestedTooDeepIsNotHandedOn) {
  {
    JournalWriter writer(file_, header_);
    writer.append(sample_trial(0));
  }
  const std::string run = read_journal(file_).run;
  std::istringstream lines(bytes());
  std::string changed;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view trial = sealed_value(line, "trial");
    if (trial.empty()) {
      changed += line + "\n";
      continue;
    }
    const std::string deep = "{\"deep\":" + std::string(100'000, '[') + std::string(100'000, ']') +
                             "," + std::string(trial.substr(1));
    changed += sealed_line("trial", deep, nlohmann::json::parse(line).at("n"), run);
  }
  std::ofstream(file_, std::ios::binary | std::ios::trunc) << changed;
  const Journal journal = read_journal(file_, [](const TrialRecord&) {});
  ASSERT_EQ(journal.damaged.size(), 1U);
  EXPECT_THAT(journal.damaged[0].why, HasSubstr("nested deeper than any record"));
  EXPECT_EQ(journal.stored->size(), 0U);
}

TEST_F(JournalTest, NoFileIsAClearError) {
  try {
    read_journal(folder_ / "missing");
    FAIL();
  } catch (const JournalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing"));
  }
}

}  // namespace
}  // namespace mpsprobe

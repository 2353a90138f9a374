#include "harness/crash_report/find_report.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "harness/crash_report/fixture_for_tests.h"
#include "harness/outcome/departed.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Of the fixture null-dereference-in-agx.ips.
constexpr int64_t kPid = 4242;
constexpr double kLaunched = 1740826801.25;
constexpr double kDied = 1740826803.6;
const char* const kIncident = "0A0B0C0D-0000-4000-8000-000000000001";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

class CrashReportsTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/mpsprobe-reports-XXXXXX";
    root_ = mkdtemp(pattern);
    options_.folders = {root_ / "reports", root_ / "reports" / "Retired", root_ / "nowhere"};
    options_.run_folder = root_ / "run";
    options_.wait = milliseconds(1000);
    // No time passes; each look counts as one poll.
    options_.pause = [this](milliseconds) {
      ++pauses_;
      return true;
    };
    fs::create_directories(root_ / "reports" / "Retired");
    fs::create_directories(options_.run_folder);
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& name, const std::string& content) {
    std::ofstream(root_ / "reports" / name, std::ios::binary) << content;
  }

  static ProcessRecord died(int64_t pid = kPid) {
    ProcessRecord record;
    record.pid = pid;
    record.termination = Signaled{SIGSEGV};
    return record;
  }

  void attach(CrashReports& reports, ProcessRecord& record, double launched = kLaunched,
              double died_at = kDied) {
    const std::vector<Departed> processes{departed(record, launched, died_at)};
    reports.attach("t7", processes);
  }

  ProcessRecord attached_to(ProcessRecord record, double launched = kLaunched,
                            double died_at = kDied, std::set<std::string> taken = {}) {
    CrashReports reports(options_, std::move(taken));
    attach(reports, record, launched, died_at);
    return record;
  }

  fs::path root_;
  CrashReportOptions options_;
  int pauses_ = 0;
  const std::string crash_ = fixture("null-dereference-in-agx.ips");
};

TEST_F(CrashReportsTest, TheReportOfADeadProcessIsAttachedAndKept) {
  put("mpsprobe-worker-2025-03-01-120005.ips", crash_);
  const ProcessRecord record = attached_to(died());
  ASSERT_TRUE(record.crash_report.has_value());
  EXPECT_EQ(record.crash_report->incident, kIncident);
  EXPECT_EQ(record.crash_report->threads.size(), 3U);
  EXPECT_EQ(record.crash_report->file, std::string("evidence/t7-0-") + kIncident + ".ips");
  fs::remove_all(root_ / "reports");  // as the system prunes
  std::ifstream kept(options_.run_folder / record.crash_report->file, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), crash_);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(CrashReportsTest, ARetiredReportIsFound) {
  put("Retired/x.ips", crash_);
  EXPECT_TRUE(attached_to(died()).crash_report.has_value());
}

TEST_F(CrashReportsTest, AStaleReportOfTheSamePidIsNotAttached) {
  put("x.ips", crash_);
  EXPECT_FALSE(attached_to(died(), kLaunched + 3600, kDied + 3600).crash_report.has_value());
  EXPECT_FALSE(attached_to(died(), kLaunched + 2.5, kDied + 2.5).crash_report.has_value());
  EXPECT_FALSE(attached_to(died(), kLaunched - 2.5, kDied).crash_report.has_value());
}

TEST_F(CrashReportsTest, AReportOfAnEarlierProcessWithTheSamePidIsNotAttached) {
  // Launched within the tolerance, but captured before ours began: the pid was used again.
  put("x.ips", replaced(crash_, "12:00:03.5000", "12:00:02.0000"));
  EXPECT_FALSE(attached_to(died(), kLaunched + 1.5, kDied + 60).crash_report.has_value());
  EXPECT_TRUE(attached_to(died(), kLaunched, kDied).crash_report.has_value());
}

TEST_F(CrashReportsTest, AReportOfALaterProcessWithTheSamePidIsNotAttached) {
  put("x.ips", crash_);
  EXPECT_FALSE(attached_to(died(), kLaunched - 1.5, kLaunched - 0.5).crash_report.has_value());
}

TEST_F(CrashReportsTest, AReportOfAProcessOfTheSameNameIsNotAttached) {
  put("mpsprobe-worker.ips", crash_);
  EXPECT_FALSE(attached_to(died(4243)).crash_report.has_value());
}

TEST_F(CrashReportsTest, ACopyOfAnAttachedReportIsNotAttachedAgain) {
  put("a.ips", crash_);
  CrashReports reports(options_);
  ProcessRecord first = died();
  attach(reports, first);
  ASSERT_TRUE(first.crash_report.has_value());
  put("copy of a.ips", crash_);
  ProcessRecord second = died();
  attach(reports, second);
  EXPECT_FALSE(second.crash_report.has_value());
}

TEST_F(CrashReportsTest, ACopyIsKnownOverAResumedRunToo) {
  put("a.ips", crash_);
  TrialRecord trial;
  trial.processes = {attached_to(died())};
  EXPECT_FALSE(
      attached_to(died(), kLaunched, kDied, attached_incidents({trial})).crash_report.has_value());
}

TEST_F(CrashReportsTest, OfTwoReportsEachProcessGetsItsOwn) {
  put("a.ips", crash_);
  put("b.ips", replaced(replaced(crash_, "4242", "77"), kIncident, "OTHER"));
  ProcessRecord one = died();
  ProcessRecord two = died(77);
  CrashReports reports(options_);
  const std::vector<Departed> processes{departed(two, kLaunched, kDied),
                                        departed(one, kLaunched, kDied)};
  reports.attach("t7", processes);
  EXPECT_EQ(one.crash_report->incident, kIncident);
  EXPECT_EQ(two.crash_report->incident, "OTHER");
}

TEST_F(CrashReportsTest, WhatCannotBeProvedIsNobodys) {
  for (const char* key : {"procLaunch", "captureTime", "incident"}) {
    std::string report = replaced(crash_, std::string("\"") + key + "\"", "\"gone\"");
    put("x.ips", replaced(report, "\"incident_id\"", "\"gone_too\""));
    EXPECT_FALSE(attached_to(died()).crash_report.has_value()) << key;
  }
}

TEST_F(CrashReportsTest, AProcessThatLeftByItselfHasNone) {
  put("x.ips", crash_);
  ProcessRecord record = died();
  record.termination = Exited{1};
  EXPECT_FALSE(attached_to(record).crash_report.has_value());
  EXPECT_EQ(pauses_, 0);
}

TEST_F(CrashReportsTest, AProcessThatWeEndedIsNotWaitedFor) {
  ProcessRecord record = died();
  record.ended_by = EndedBy::no_progress;
  EXPECT_FALSE(attached_to(record).crash_report.has_value());
  EXPECT_EQ(pauses_, 0);
}

TEST_F(CrashReportsTest, ALateReportIsFoundWithinTheWait) {
  options_.pause = [this](milliseconds) {
    // The system writes while we wait: from a thread of its own.
    if (++pauses_ == 3) std::thread([this] { put("late.ips", crash_); }).join();
    return true;
  };
  EXPECT_TRUE(attached_to(died()).crash_report.has_value());
  EXPECT_EQ(pauses_, 3);
}

TEST_F(CrashReportsTest, AReportThatIsStillBeingWrittenIsReadWhenItIsWhole) {
  put("growing.ips", crash_.substr(0, 100));
  options_.pause = [this](milliseconds) {
    put("growing.ips", crash_.substr(0, crash_.size() * static_cast<size_t>(++pauses_) / 4));
    return true;
  };
  const ProcessRecord record = attached_to(died());
  ASSERT_TRUE(record.crash_report.has_value());
  EXPECT_EQ(pauses_, 4);
  EXPECT_EQ(fs::file_size(options_.run_folder / record.crash_report->file), crash_.size());
}

TEST_F(CrashReportsTest, TheWaitIsBoundedAndGivenUpWhereNoReportsAreWritten) {
  CrashReports reports(options_);
  for (int trial = 0; trial < 5; ++trial) {
    ProcessRecord record = died();
    attach(reports, record);
  }
  EXPECT_EQ(pauses_, 30);                               // 3 waits of 10 polls
  put("unrelated.ips", replaced(crash_, "4242", "1"));  // reports come after all
  ProcessRecord record = died();
  attach(reports, record);
  EXPECT_EQ(pauses_, 40);
}

TEST_F(CrashReportsTest, AnInterruptEndsTheWait) {
  options_.pause = [this](milliseconds) { return ++pauses_ < 2; };
  attached_to(died());
  EXPECT_EQ(pauses_, 2);
}

TEST_F(CrashReportsTest, SeveralJobsGetEachTheirOwn) {
  constexpr int kJobs = 8;
  for (int i = 0; i < kJobs; ++i) {
    const std::string n = std::to_string(i);
    put(n + ".ips", replaced(replaced(crash_, "4242", "100" + n), kIncident, "JOB" + n));
  }
  CrashReports reports(options_);
  std::vector<ProcessRecord> records(kJobs);
  std::vector<std::thread> jobs;
  for (int i = 0; i < kJobs; ++i) {
    records[i] = died(1000 + i);
    jobs.emplace_back([&, i] { attach(reports, records[i]); });
  }
  for (std::thread& job : jobs) job.join();
  for (int i = 0; i < kJobs; ++i) {
    ASSERT_TRUE(records[i].crash_report.has_value()) << i;
    EXPECT_EQ(records[i].crash_report->incident, "JOB" + std::to_string(i));
  }
}

TEST_F(CrashReportsTest, WhatIsNoFileHurtsNobody) {
  const fs::path reports = root_ / "reports";
  ASSERT_EQ(mkfifo((reports / "pipe.ips").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", reports / "zero.ips");
  fs::create_symlink(reports / "link.ips", reports / "link.ips");
  fs::create_directory(reports / "folder.ips");
  put("secret.ips", crash_);
  fs::permissions(reports / "secret.ips", fs::perms::none);
  put("huge.ips", "");
  fs::resize_file(reports / "huge.ips", uintmax_t{1} << 30);  // sparse
  put("words.ips", "no report");
  put("mine.ips", crash_);
  EXPECT_TRUE(attached_to(died()).crash_report.has_value());
}

TEST_F(CrashReportsTest, ALinkToAReportIsNotFollowed) {
  std::ofstream(root_ / "elsewhere") << crash_;
  fs::create_symlink(root_ / "elsewhere", root_ / "reports" / "link.ips");
  EXPECT_FALSE(attached_to(died()).crash_report.has_value());
}

TEST_F(CrashReportsTest, FilesSeenUnchangedAreNotReadAgain) {
  put("other.ips", replaced(crash_, "4242", "1"));
  ReportIndex index(options_.folders);
  EXPECT_EQ(index.refresh(kLaunched).crashes, 1U);
  EXPECT_EQ(index.refresh(kLaunched).crashes, 0U);
  put("other.ips", replaced(crash_, "4242", "12"));
  EXPECT_EQ(index.refresh(kLaunched).crashes, 1U);
}

TEST_F(CrashReportsTest, ReportsFromBeforeAreLeftUnreadUntilTheirTimeIsAskedFor) {
  put("old.ips", crash_);
  ReportIndex index(options_.folders);
  EXPECT_EQ(index.refresh(kLaunched + 3600).crashes, 0U);
  EXPECT_EQ(index.refresh(kLaunched).crashes, 1U);
}

TEST_F(CrashReportsTest, HostileNamesStayInTheEvidenceFolder) {
  put("x.ips", replaced(crash_, kIncident, "../../../escape\\n"));
  ProcessRecord record = died();
  CrashReports reports(options_);
  const std::vector<Departed> processes{departed(record, kLaunched, kDied)};
  reports.attach("../up/7", processes);
  ASSERT_TRUE(record.crash_report.has_value());
  EXPECT_EQ(record.crash_report->file, "evidence/-..-up-7-0--..-..-..-escape-.ips");
  EXPECT_TRUE(fs::exists(options_.run_folder / record.crash_report->file));
}

TEST_F(CrashReportsTest, AFullDiskCostsTheCopyNotTheReport) {
  put("x.ips", crash_);
  options_.run_folder = "/proc/nowhere";
  const ProcessRecord record = attached_to(died());
  ASSERT_TRUE(record.crash_report.has_value());
  EXPECT_EQ(record.crash_report->file, "");
}

TEST_F(CrashReportsTest, AGpuEventAroundItsTimeIsAttachedAlsoToAProcessThatLived) {
  put("gpuEvent-mpsprobe-worker--2025-03-01-120003.ips", fixture("gpu-event.ips"));
  put("Retired/copy.ips", fixture("gpu-event.ips"));
  ProcessRecord record;
  record.termination = Exited{0};
  record = attached_to(record);
  ASSERT_EQ(record.gpu_events.size(), 1U);
  EXPECT_EQ(record.gpu_events[0].summary,
            "firmware-detected lockup (restart_reason 4, signature 579, guilty_dm 3)");
  EXPECT_TRUE(fs::exists(options_.run_folder / record.gpu_events[0].file));
  EXPECT_EQ(pauses_, 0);
}

TEST_F(CrashReportsTest, AGpuEventOfAnotherTimeIsNotAttached) {
  put("x.ips", fixture("gpu-event.ips"));
  ProcessRecord record;
  record.termination = Exited{0};
  EXPECT_TRUE(attached_to(record, kLaunched + 60, kDied + 60).gpu_events.empty());
  EXPECT_TRUE(attached_to(record, kLaunched - 60, kDied - 60).gpu_events.empty());
}

// Ends with 0 after it told of a command buffer that failed.
ProcessRecord went_on() {
  ProcessRecord record;
  record.termination = Exited{0};
  record.err.head =
      "Execution of the command buffer was aborted due to an error during execution. Insufficient "
      "Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n";
  record.err.bytes = record.err.head.size();
  return record;
}

TEST_F(CrashReportsTest, AGpuEventIsWaitedForAfterAHangAndAFailedCommandBufferOnThatDevice) {
  ProcessRecord hung = died();
  hung.ended_by = EndedBy::no_progress;
  for (ProcessRecord record : {hung, went_on()}) {
    fs::remove(root_ / "reports" / "late.ips");
    pauses_ = 0;
    options_.pause = [this](milliseconds) {
      if (++pauses_ == 3) put("late.ips", fixture("gpu-event.ips"));
      return true;
    };
    CrashReports reports(options_);
    const std::vector<Departed> processes{departed(record, kLaunched, kDied, true)};
    reports.attach("t7", processes);
    EXPECT_EQ(record.gpu_events.size(), 1U);
    EXPECT_EQ(pauses_, 3);
  }
}

TEST_F(CrashReportsTest, TheWaitForGpuEventsIsBoundedAndGivenUpAndHasNoPartInTheOther) {
  CrashReports reports(options_);
  const auto attach_on = [&](ProcessRecord record, bool apple_gpu) {
    const std::vector<Departed> processes{departed(record, kLaunched, kDied, apple_gpu)};
    reports.attach("t7", processes);
  };
  for (int trial = 0; trial < 5; ++trial) attach_on(went_on(), true);
  EXPECT_EQ(pauses_, 30);
  attach_on(died(), true);
  EXPECT_EQ(pauses_, 40);
  // Elsewhere there are none to wait for.
  CrashReports other(options_);
  pauses_ = 0;
  ProcessRecord record = went_on();
  attach(other, record);
  record = died();
  record.ended_by = EndedBy::deadline;
  attach(other, record);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(CrashReportsTest, AnEventOfAnEarlierTrialThatAppearsLateIsKeptOnceWithItsTime) {
  CrashReports reports(options_);
  ProcessRecord first = died();
  first.termination = Exited{0};
  attach(reports, first);
  put("late.ips", fixture("gpu-event.ips"));
  ProcessRecord second = first;
  attach(reports, second, kDied + 10, kDied + 11);
  ASSERT_EQ(second.gpu_events.size(), 1U);
  EXPECT_DOUBLE_EQ(second.gpu_events[0].captured, 1740826803);
  ProcessRecord third = first;
  attach(reports, third, kDied + 12, kDied + 13);
  EXPECT_TRUE(third.gpu_events.empty());
}

TEST_F(CrashReportsTest, OnlyCrashesAreWaitedForInFull) {
  CrashReports reports(options_);
  options_.wait = milliseconds(3000);
  CrashReports patient(options_);
  const auto pauses_for = [&](CrashReports& used, int signal, bool for_memory = false) {
    pauses_ = 0;
    ProcessRecord record = died();
    record.termination = Signaled{signal};
    record.kernel_memory_kill = for_memory;
    attach(used, record);
    return pauses_;
  };
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    EXPECT_EQ(pauses_for(reports, signal), 0) << signal;
  }
  // The kernel kills for a guard, and reports that.
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pauses_for(patient, SIGKILL), 10);
  EXPECT_EQ(pauses_for(patient, SIGKILL, true), 0);
  // None of them has a part in giving up.
  for (int signal : {SIGSEGV, SIGSYS, SIGFPE}) EXPECT_EQ(pauses_for(patient, signal), 30) << signal;
  EXPECT_EQ(pauses_for(patient, SIGABRT), 0);
}

TEST_F(CrashReportsTest, AGpuEventIsNoProcesssCrashReport) {
  put("x.ips", fixture("gpu-event.ips"));
  const ProcessRecord record = attached_to(died());
  EXPECT_FALSE(record.crash_report.has_value());
  EXPECT_EQ(record.gpu_events.size(), 1U);
}

// Where Console shows them, and where older ones are moved to.
TEST(ReportFolders, AreTheUsersThenTheSystemsAndThereAreNoneElsewhere) {
  EXPECT_THAT(report_folders(System::macos, "/Users/me"),
              testing::ElementsAre("/Users/me/Library/Logs/DiagnosticReports",
                                   "/Users/me/Library/Logs/DiagnosticReports/Retired",
                                   "/Library/Logs/DiagnosticReports",
                                   "/Library/Logs/DiagnosticReports/Retired"));
  // Without a home that can be one, as under a service: the system's alone.
  for (const char* home : {"", "relative"}) {
    EXPECT_EQ(report_folders(System::macos, home).size(), 2U) << home;
  }
  EXPECT_TRUE(report_folders(System::other, "/home/me").empty());
  EXPECT_EQ(default_report_wait(System::macos), std::chrono::seconds(8));
  EXPECT_EQ(default_report_wait(System::other), milliseconds(0));
}

}  // namespace
}  // namespace mpsprobe

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "harness/crash_report/fixture_for_tests.h"
#include "harness/crash_report/ips.h"
#include "harness/crash_report/report_limits.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;

CrashReport crash_text(const std::string& name) {
  return std::get<CrashReport>(parse_crash_report(fixture(name)));
}

TEST(CrashText, AnOlderReportTellsTheSame) {
  const CrashReport report = crash_text("older-macos.crash");
  EXPECT_EQ(report.pid, 4242);
  EXPECT_EQ(report.process, "mpsprobe-worker");
  EXPECT_DOUBLE_EQ(report.captured, 1614596403.5);
  EXPECT_EQ(report.launched, 0);
  EXPECT_EQ(report.incident, "");
  EXPECT_EQ(report.os_version, "macOS 11.2 (20D64)");
  EXPECT_EQ(report.exception, "EXC_CRASH");
  EXPECT_EQ(report.signal, "SIGABRT");
  EXPECT_THAT(report.application_info,
              ElementsAre("-[_MTLCommandBuffer addScheduledHandler:]:758: failed assertion "
                          "`Scheduled handler provided\nafter commit call'",
                          "abort() called"));
}

TEST(CrashText, FramesArePlacedInTheImagesAtTheEnd) {
  const CrashReport report = crash_text("older-macos.crash");
  ASSERT_EQ(report.threads.size(), 3U);
  const ThreadStack& faulting = report.threads[0];
  EXPECT_TRUE(faulting.faulting);
  EXPECT_EQ(faulting.name, "com.Metal.CommandQueueDispatch");
  ASSERT_EQ(faulting.frames.size(), 3U);
  const StackFrame expected{"Metal",
                            "45ea2de29b2b3fa88d2c8c04f1e1b9e3",
                            0x12345,
                            "-[_MTLCommandBuffer addScheduledHandler:]",
                            "MTLCommandBuffer.mm:758",
                            false};
  EXPECT_EQ(faulting.frames[1], expected);
  EXPECT_EQ(faulting.frames[2].image, "");
  EXPECT_EQ(faulting.frames[2].offset, 0x18U);
  EXPECT_EQ(report.threads[1].name, "com.apple.main-thread");
  EXPECT_EQ(report.threads[1].frames[1].function, "");
  EXPECT_EQ(report.threads[1].frames[1].offset, 16384U);
  EXPECT_EQ(report.threads[2].name, "worker 0");
}

// As systems before macOS 12 write it.
TEST(CrashText, ATerminationsReasonMayGoWithoutCommas) {
  const ParsedReport parsed = parse_crash_text(
      "Process:               lanes [12]\nException Type:        EXC_BREAKPOINT (SIGTRAP)\n"
      "Termination Reason:    SIGNAL 5 Trace/BPT trap: 5\n\nThread 0 Crashed:\n"
      "0   lanes    0x18f000 take_lane(int) + 8\n\nBinary Images:\n");
  const auto* report = std::get_if<CrashReport>(&parsed);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->termination_namespace, "SIGNAL");
  EXPECT_EQ(report->termination_indicator, "Trace/BPT trap: 5");
}

TEST(CrashText, ATranslatedReportHoldsWhatIdentifiesIt) {
  const CrashReport report = crash_text("translated-report.crash");
  EXPECT_EQ(report.incident, "0A0B0C0D-0000-4000-8000-000000000030");
  EXPECT_DOUBLE_EQ(report.launched, 1740826801.25);
  EXPECT_EQ(report.model, "Mac16,5");
  EXPECT_EQ(report.termination_namespace, "DYLD");
  EXPECT_EQ(report.termination_indicator, "Library missing");
  ASSERT_EQ(report.termination_reasons.size(), 4U);
  EXPECT_EQ(report.termination_reasons[0], "Library not loaded: @rpath/libtorch_cpu.dylib");
}

TEST(CrashText, AHeaderLineMayStandBeforeTheText) {
  const CrashReport report = crash_text("header-before-text.ips");
  EXPECT_EQ(report.bug_type, "109");
  EXPECT_EQ(report.incident, "0A0B0C0D-0000-4000-8000-000000000031");
  EXPECT_EQ(report.pid, 803);
  EXPECT_DOUBLE_EQ(report.launched, 1705874839);
  EXPECT_EQ(report.subtype, "KERN_INVALID_ADDRESS at 0x40000000");
  EXPECT_EQ(report.termination_namespace, "SIGNAL");
  EXPECT_EQ(report.termination_indicator, "");
  EXPECT_TRUE(report.termination_reasons.empty());
  ASSERT_EQ(report.threads.size(), 2U);
  EXPECT_EQ(report.threads[0].name, "worker 0");
  EXPECT_EQ(report.threads[0].frames[0].function, "objc_msgSend");
  ASSERT_EQ(report.last_exception.size(), 1U);
  EXPECT_EQ(report.last_exception[0].function, "objc_exception_throw");
}

TEST(CrashText, ManyFramesOfAnImageWithALongNameStaySmall) {
  std::string text = "Exception Type: EXC_CRASH (SIGABRT)\nCrashed Thread: 511\n\n";
  for (int thread = 0; thread < 512; ++thread) {
    text += "Thread " + std::to_string(thread) + ":\n";
    for (int i = 0; i < (thread == 511 ? 3 : 200); ++i) text += "0 a 0x11 b + 1\n";
    text += '\n';
  }
  text += "Binary Images:\n0x10 - 0x20 x (1) <> /" + std::string(16384, 'x') + "\n";
  const ParsedReport parsed = parse_crash_text(text);
  const auto& report = std::get<CrashReport>(parsed);
  ASSERT_EQ(report.threads.size(), 512U);
  EXPECT_EQ(report.threads[0].frames.size(), 3U);
  EXPECT_EQ(report.threads[0].frames[0].image.size(), report_limits::kMostNameBytes);
  size_t frames = 0;
  for (const ThreadStack& stack : report.threads) frames += stack.frames.size();
  EXPECT_EQ(frames, report_limits::kMostFramesInAll);
}

TEST(CrashText, AStackThatRanOverIsSaidBesideTheSubtype) {
  const ParsedReport parsed = parse_crash_text(
      "Exception Type: EXC_BAD_ACCESS (SIGSEGV)\n"
      "Exception Codes: KERN_PROTECTION_FAILURE at 0x000000016f2d3ff8\n"
      "Exception Message: Thread stack size exceeded\n\n"
      "VM Regions Near 0x16f2d3ff8:\n--> STACK GUARD 000000016f2d0000-000000016f2d4000\n\n"
      "Thread 0 Crashed:\n0 a 0x11 b + 1\n\nBinary Images:\n");
  EXPECT_EQ(std::get<CrashReport>(parsed).subtype,
            "KERN_PROTECTION_FAILURE at 0x000000016f2d3ff8 (stack guard) (Thread stack size "
            "exceeded)");
}

TEST(CrashText, WhatIsCutOffIsNotRead) {
  const std::string whole = fixture("older-macos.crash");
  const std::string cut = whole.substr(0, whole.find("Binary Images:"));
  const ParsedReport parsed = parse_crash_report(cut);
  EXPECT_EQ(std::get<Unreadable>(parsed).reason, "it is cut off before its list of images");
}

TEST(CrashText, OtherTextIsNoReport) {
  for (const char* text : {"Process: x [1]\n", "Thread 0:\n0 a 0x1 b + 1\nBinary Images:\n",
                           "just words\n", "\n\n\n"}) {
    EXPECT_TRUE(std::holds_alternative<Unreadable>(parse_crash_report(text))) << text;
  }
}

}  // namespace
}  // namespace mpsprobe

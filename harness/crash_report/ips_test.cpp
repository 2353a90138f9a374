#include "harness/crash_report/ips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/crash_report/fixture_for_tests.h"
#include "harness/crash_report/report_limits.h"
#include "harness/crash_report/report_value.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CrashReport crash(const std::string& name) {
  ParsedReport parsed = parse_crash_report(fixture(name));
  if (const auto* unreadable = std::get_if<Unreadable>(&parsed)) {
    throw std::runtime_error(name + ": " + unreadable->reason);
  }
  return std::get<CrashReport>(std::move(parsed));
}

std::string why_not(const std::string& content) {
  const ParsedReport parsed = parse_crash_report(content);
  const auto* unreadable = std::get_if<Unreadable>(&parsed);
  return unreadable == nullptr ? "it was read" : unreadable->reason;
}

std::vector<std::string> functions(const std::vector<StackFrame>& frames) {
  std::vector<std::string> names;
  for (const StackFrame& frame : frames) names.push_back(frame.function);
  return names;
}

TEST(Ips, TellsWhoDiedWhenAndOfWhat) {
  const CrashReport report = crash("null-dereference-in-agx.ips");
  EXPECT_EQ(report.incident, "0A0B0C0D-0000-4000-8000-000000000001");
  EXPECT_EQ(report.bug_type, "309");
  EXPECT_EQ(report.pid, 4242);
  EXPECT_EQ(report.process, "mpsprobe-worker");
  EXPECT_DOUBLE_EQ(report.launched, 1740826801.25);
  EXPECT_DOUBLE_EQ(report.captured, 1740826803.5);
  EXPECT_EQ(report.os_version, "macOS 15.3 (24D60)");
  EXPECT_EQ(report.model, "Mac16,5");
  EXPECT_EQ(report.exception, "EXC_BAD_ACCESS");
  EXPECT_EQ(report.signal, "SIGSEGV");
  EXPECT_EQ(report.subtype, "KERN_INVALID_ADDRESS at 0x0000000000000018");
  EXPECT_EQ(report.termination_namespace, "SIGNAL");
  EXPECT_EQ(report.termination_indicator, "Segmentation fault: 11");
  EXPECT_TRUE(report.file.empty());
}

TEST(Ips, TheFaultingThreadComesFirstWithItsFramesPlacedInImages) {
  const CrashReport report = crash("null-dereference-in-agx.ips");
  ASSERT_EQ(report.threads.size(), 3U);
  const ThreadStack& faulting = report.threads[0];
  EXPECT_TRUE(faulting.faulting);
  EXPECT_EQ(faulting.name, "worker 1");
  EXPECT_EQ(faulting.thread_id, 1002U);
  ASSERT_EQ(faulting.frames.size(), 6U);
  const StackFrame expected{"AGXMetalG16X",
                            "a1b2c3d4000030008000"
                            "00000000000e",
                            812345,
                            "-[AGXG16XFamilyComputeContext endEncoding]",
                            "",
                            false};
  EXPECT_EQ(faulting.frames[0], expected);
  EXPECT_EQ(faulting.frames[2].source, "Linear.mm:118");
  EXPECT_TRUE(faulting.frames[2].inlined);
  EXPECT_EQ(faulting.frames[3].source, "Linear.mm:140");
  EXPECT_FALSE(faulting.frames[3].inlined);
  EXPECT_EQ(report.threads[1].name, "com.apple.main-thread");
  EXPECT_FALSE(report.threads[1].faulting);
}

TEST(Ips, ATextSplitOverEntriesIsOneTextAgain) {
  EXPECT_THAT(crash("assertion-split-in-asi.ips").application_info,
              ElementsAre("abort() called",
                          "-[_MTLCommandBuffer addScheduledHandler:]:758: failed assertion "
                          "`Scheduled handler provided\nafter commit call'",
                          "second text"));
}

TEST(Ips, AnExceptionTellsItsReasonAndWhereItWasThrown) {
  const CrashReport report = crash("last-exception-backtrace.ips");
  EXPECT_THAT(report.application_info,
              ElementsAre("*** Terminating app due to uncaught exception 'NSRangeException', "
                          "reason: 'index 3 beyond bounds'",
                          "abort() called", "NSRangeException: index 3 beyond bounds"));
  EXPECT_THAT(functions(report.last_exception),
              ElementsAre("__exceptionPreprocess", "objc_exception_throw",
                          "at::native::mps::MPSGraphCache::LookUp(std::string const&)"));
  EXPECT_EQ(report.last_exception[2].image, "libtorch_cpu.dylib");
}

TEST(Ips, AMissingLibraryIsToldByTheLoader) {
  const CrashReport report = crash("dyld-library-missing.ips");
  EXPECT_EQ(report.termination_namespace, "DYLD");
  EXPECT_EQ(report.termination_indicator, "Library missing");
  ASSERT_EQ(report.termination_reasons.size(), 3U);
  EXPECT_EQ(report.termination_reasons[0], "Library not loaded: @rpath/libtorch_cpu.dylib");
}

TEST(Ips, TheMemoryRegionStandsInForAMissingSubtypeInEitherSpelling) {
  EXPECT_EQ(crash("objc-msgsend.ips").subtype, "0x20 is not in any region.");
}

TEST(Ips, FramesOfUnknownImagesKeepTheirFunctions) {
  const CrashReport report = crash("no-used-images.ips");
  EXPECT_EQ(report.threads[0].frames[0].function, "-[AGXG16XFamilyComputeContext endEncoding]");
  EXPECT_EQ(report.threads[0].frames[0].image, "");
}

TEST(Ips, AddressesInNoImageStayAddresses) {
  const StackFrame frame = crash("translated.ips").threads[0].frames[0];
  EXPECT_EQ(frame.image, "");
  EXPECT_EQ(frame.image_id, "");
  EXPECT_EQ(frame.offset, 140703128616960U);
}

TEST(Ips, FramesWithoutASymbolHaveNoFunction) {
  EXPECT_THAT(
      functions(crash("deduplicated-symbol.ips").threads[0].frames),
      ElementsAre("<deduplicated_symbol>", "", "at::_ops::ones::call(c10::ArrayRef<c10::SymInt>)",
                  "_pthread_start", "thread_start"));
}

TEST(Ips, NothingIsLeftOutAboveTheCulprit) {
  const CrashReport report = crash("faulthandler-frames.ips");
  EXPECT_EQ(report.process, "Python");
  EXPECT_EQ(functions(report.threads[0].frames)[3], "faulthandler_fatal_error");
  EXPECT_EQ(functions(report.threads[0].frames)[5], "-[AGXG16XFamilyComputeContext endEncoding]");
}

TEST(Ips, ATerminationMayBeMissing) {
  const CrashReport report = crash("no-termination.ips");
  EXPECT_EQ(report.termination_namespace, "");
  EXPECT_EQ(report.signal, "SIGBUS");
}

TEST(Ips, WithoutATriggerTheIndexNamesTheFaultingThread) {
  const CrashReport report = crash("thread-without-trigger.ips");
  EXPECT_EQ(report.threads[0].name, "worker 3");
  EXPECT_TRUE(report.threads[0].faulting);
  EXPECT_FALSE(report.threads[1].faulting);
}

TEST(Ips, NumbersOutOfRangeOrInTextAreReadOrPassedOver) {
  const CrashReport report = crash("huge-index.ips");
  EXPECT_EQ(report.pid, 4242);
  ASSERT_EQ(report.threads.size(), 1U);
  EXPECT_FALSE(report.threads[0].faulting);
  EXPECT_EQ(report.threads[0].thread_id, 1001U);
  ASSERT_EQ(report.threads[0].frames.size(), 4U);
  EXPECT_EQ(report.threads[0].frames[0].offset, 0x1F40U);
  EXPECT_EQ(report.threads[0].frames[0].image, "");
  EXPECT_EQ(report.threads[0].frames[2].image, "libtorch_cpu.dylib");
}

TEST(Ips, WrongTypesCostOnlyTheirOwnEntries) {
  const CrashReport report = crash("wrong-types.ips");
  EXPECT_EQ(report.incident, "0A0B0C0D-0000-4000-8000-000000000019");
  EXPECT_EQ(report.pid, 0);
  EXPECT_EQ(report.launched, 0);
  EXPECT_TRUE(report.threads.empty());
  EXPECT_THAT(report.application_info, ElementsAre("7", "text"));
}

TEST(Ips, ALaterVersionIsReadAsFarAsItIsKnown) {
  EXPECT_EQ(crash("unknown-version.ips").threads[0].frames.size(), 6U);
}

TEST(Ips, WhatIsNotWholeSaysWhereItEnds) {
  EXPECT_EQ(why_not(fixture("cut-in-header.ips")), "it is cut off in its header");
  EXPECT_EQ(why_not(fixture("header-only.ips")), "it has a header and no body");
  EXPECT_EQ(why_not(fixture("cut-in-body.ips")), "it is cut off in its body");
  EXPECT_EQ(why_not(""), "it is empty");
}

TEST(Ips, EveryCutOfAReportIsRefusedOrReadWhole) {
  const std::string whole = fixture("null-dereference-in-agx.ips");
  for (size_t size = 0; size + 2 < whole.size(); size += 7) {
    EXPECT_NE(why_not(whole.substr(0, size)), "it was read") << size;
  }
}

TEST(Ips, OtherReportsAreNoCrash) {
  EXPECT_EQ(why_not(fixture("other-bug-type.ips")), "bug_type \"288\" is no crash");
  EXPECT_EQ(why_not(fixture("went-on.ips")), "the process went on (isSimulated)");
  EXPECT_EQ(why_not("{\"bug_type\":\"385\"}\n{\"threads\":[]}"), "bug_type \"385\" is no crash");
}

TEST(Ips, AGpuEventIsOneAndNoCrash) {
  const ParsedReport parsed = parse_crash_report(fixture("gpu-event.ips"));
  const GpuEvent& event = std::get<GpuEvent>(parsed);
  EXPECT_EQ(event.incident, "0A0B0C0D-0000-4000-8000-000000000014");
  EXPECT_EQ(event.process, "mpsprobe-worker-");
  EXPECT_DOUBLE_EQ(event.captured, 1740826803);
  EXPECT_EQ(event.summary,
            "firmware-detected lockup (restart_reason 4, signature 579, guilty_dm 3)");
}

TEST(Ips, AGpuEventThatSaysLittleIsNotFilledUp) {
  const ParsedReport parsed = parse_crash_report(fixture("gpu-event-bare.ips"));
  const GpuEvent& event = std::get<GpuEvent>(parsed);
  EXPECT_EQ(event.summary, "no reason given");
  EXPECT_DOUBLE_EQ(event.captured, 1740826803);
}

TEST(Ips, HostileDocumentsAreRefusedNotFollowed) {
  const std::string header = "{\"bug_type\":\"309\"}\n";
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(why_not(header + "{\"threads\":" + deep + "}"), HasSubstr("nested too deep"));
  std::string many;
  for (size_t i = 0; i <= report_limits::kMostValues; ++i) many += "0,";
  EXPECT_THAT(why_not(header + "{\"threads\":[" + many + "0]}"), HasSubstr("too many values"));
  std::string keys;
  for (size_t i = 0; i <= report_limits::kMostKeys; ++i) {
    keys += "\"" + std::to_string(i) + "\":0,";
  }
  EXPECT_THAT(why_not(header + "{\"threads\":[{" + keys + "\"x\":0}]}"),
              HasSubstr("too many keys"));
  EXPECT_EQ(why_not(std::string(report_limits::kMostBytes + 1, ' ')), "it is larger than 64 MiB");
  EXPECT_THAT(why_not(header + "{\"threads\":[tru]}"), HasSubstr("parse error"));
}

TEST(Ips, LongListsAreCutAndKeepTheFaultingThread) {
  std::string threads;
  for (int i = 0; i < 1000; ++i) {
    threads += i == 900 ? "{\"id\":900,\"triggered\":true}," : "{\"id\":1},";
  }
  const ParsedReport parsed =
      parse_crash_report("{\"bug_type\":\"309\"}\n{\"threads\":[" + threads + "{}]}");
  const auto& report = std::get<CrashReport>(parsed);
  EXPECT_EQ(report.threads.size(), report_limits::kMostThreads);
  EXPECT_EQ(report.threads[0].thread_id, 900U);
}

/// How much of frames a report came to.
struct Read {
  size_t frames = 0;
  size_t longest = 0;
};

Read read(const CrashReport& report) {
  Read read;
  const auto count = [&](const std::vector<StackFrame>& frames) {
    read.frames += frames.size();
    for (const StackFrame& frame : frames) {
      read.longest =
          std::max({read.longest, frame.image.size(), frame.function.size(), frame.source.size()});
    }
  };
  for (const ThreadStack& stack : report.threads) count(stack.frames);
  count(report.last_exception);
  return read;
}

// Every frame names the same image: a small file must not become gigabytes.
TEST(Ips, ManyFramesOfAnImageWithALongNameStaySmall) {
  const std::string name(report_limits::kMostTextBytes, 'x');
  std::string frames;
  for (int i = 0; i < 512; ++i) frames += "{\"imageIndex\":0},";
  std::string threads;
  for (int i = 0; i < 511; ++i) threads += "{\"frames\":[" + frames + "{}]},";
  const ParsedReport parsed = parse_crash_report(
      "{\"bug_type\":\"309\"}\n{\"usedImages\":[{\"path\":\"/" + name + "\"}],\"threads\":[" +
      threads + "{\"triggered\":true,\"name\":\"" + name + "\",\"frames\":[{\"symbol\":\"" + name +
      "\",\"sourceFile\":\"" + name + "\"}]}],\"lastExceptionBacktrace\":[{\"imageIndex\":0}]}");
  const auto& report = std::get<CrashReport>(parsed);
  EXPECT_EQ(read(report).frames, report_limits::kMostFramesInAll);
  EXPECT_LE(read(report).longest, report_limits::kMostFunctionBytes);
  EXPECT_EQ(report.threads.size(), 512U);
  ASSERT_EQ(report.threads[0].frames.size(), 1U);
  EXPECT_EQ(report.threads[0].frames[0].function.size(), report_limits::kMostFunctionBytes);
  EXPECT_EQ(report.threads[0].name.size(), report_limits::kMostNameBytes);
  ASSERT_EQ(report.last_exception.size(), 1U);
  EXPECT_EQ(report.last_exception[0].image.size(), report_limits::kMostNameBytes);
}

TEST(Ips, AStackThatRanOverIsSaidBesideTheSubtype) {
  const ParsedReport parsed = parse_crash_report(
      "{\"bug_type\":\"309\"}\n{\"threads\":[],\"exception\":{\"type\":\"EXC_BAD_ACCESS\","
      "\"subtype\":\"KERN_PROTECTION_FAILURE at 0x16f2d3ff8\",\"message\":\"Thread stack size "
      "exceeded due to excessive recursion\"},\"vmRegionInfo\":\"0x16f2d3ff8 is in 0x16f2d0000\\n"
      "      REGION TYPE\\n      STACK GUARD 1\\n--->  STACK GUARD  16f2d0000-16f2d4000\\n\"}");
  EXPECT_EQ(std::get<CrashReport>(parsed).subtype,
            "KERN_PROTECTION_FAILURE at 0x16f2d3ff8 (stack guard) (Thread stack size exceeded due "
            "to excessive recursion)");
  EXPECT_FALSE(marks_stack_guard("  STACK GUARD  1-2\n---> MALLOC_TINY 2-3\n"));
}

TEST(ReportTime, KnowsZonesAndFractions) {
  EXPECT_DOUBLE_EQ(report_time("2024-11-05 10:11:12.1234 +0100"), 1730797872.1234);
  EXPECT_DOUBLE_EQ(report_time("2024-11-05 10:11:12 -0830"), 1730832072);
  EXPECT_DOUBLE_EQ(report_time("2024-02-29T23:59:59.5Z"), 1709251199.5);
  EXPECT_DOUBLE_EQ(report_time("1970-01-01 00:00:01 +0000"), 1);
}

TEST(ReportTime, IsUnknownWhereATimeDoesNotSayWhenItWas) {
  for (const char* text :
       {"", "2024-11-05 10:11:12", "2024-13-05 10:11:12 +0100", "2024-11-05 25:11:12 +0100",
        "2024-11-05 10:11:12. +0100", "2024-11-05 10:11:12 +0100 x", "2024-11-5 10:11:12 +0100",
        "2024-11-05 10:11:12 +9900", "soon"}) {
    EXPECT_EQ(report_time(text), 0) << text;
  }
}

}  // namespace
}  // namespace mpsprobe

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reports/evidence_for_tests.h"
#include "reports/writers/forms.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string markdown() {
  return details_markdown(analyse(journal_with_evidence().journal));
}

FailureExample example_of(Outcome outcome, const StackEvidence& stacks) {
  FailureExample example;
  example.judgement.outcome = outcome;
  example.stacks = stacks;
  if (outcome == Outcome::signal) example.recorder.crash.signal = 11;
  return example;
}

TEST(MarkdownEvidence, TheTableOfFailuresMarksThinAndNew) {
  const std::string report = report_markdown(analyse(journal_with_evidence().journal));
  EXPECT_THAT(report, HasSubstr("| `bad access in libfoo.so launching zeros (no function known)` "
                                "(new) (thin) | 2 |"));
  EXPECT_THAT(report, HasSubstr("| 1 | `bad access in mpsprobe::sim::Kernel::bind` | 6 |"));
}

TEST(MarkdownEvidence, SaysWhatASignatureRestsOnAndWhatStoodBesideIt) {
  EXPECT_THAT(markdown(),
              HasSubstr("Rests on: frames. Beside it: `Metal: Scheduled handler provided after "
                        "commit call` (6×), `a text that nobody knows` (new) (6×).\n"));
  EXPECT_THAT(markdown(), HasSubstr("Rests on: only the place where the process was. **Thin:**"));
}

TEST(MarkdownEvidence, LinksACrashAndAHangOfOneCellBothWays) {
  const std::string text = markdown();
  const size_t crash = text.find("<summary>Failure 1:");
  const size_t hang = text.find("<summary>Failure 2:");
  const size_t end = text.find("<summary>Failure 3:");
  EXPECT_THAT(text.substr(crash, hang - crash), HasSubstr("Perhaps one bug with failure 2:"));
  EXPECT_THAT(text.substr(hang, end - hang), HasSubstr("Perhaps one bug with failure 1:"));
  EXPECT_THAT(text.substr(end), Not(HasSubstr("Perhaps one bug")));
}

TEST(MarkdownEvidence, ShowsTheNamedStackOfACrash) {
  EXPECT_THAT(markdown(), HasSubstr("Stack of the crashed thread; ~ marks what only passes things "
                                    "on:\n\n```text\n 0  libmpsprobe_sim.so  "
                                    "mpsprobe::sim::Kernel::bind()  (metal.cpp:41)  inlined\n"));
  EXPECT_THAT(markdown(), HasSubstr("Ids of the images without names: `libtorch_cpu.so` `aa11`."));
}

TEST(MarkdownEvidence, WithoutNamesTheRawAddressesAreShown) {
  FailureExample example = example_of(Outcome::signal, {});
  example.recorder.crash.frames = {{"/opt/lib/liba.so", "1d", 0x1a2b}};
  EXPECT_EQ(
      markdown_evidence(example),
      "Stack of the crashed thread, image + offset:\n\n```text\n 0  liba.so  + 0x1a2b\n```\n\n"
      "Ids of the images without names: `liba.so` `1d`.\n\n");
}

TEST(MarkdownEvidence, TheirLinesOfPythonStandBeforeTheNativeStack) {
  FailureExample example = example_of(Outcome::signal, crashed_in_encode());
  example.python_stack = {{"app.py", "", 0, "infer", "/me/app.py:12", false}};
  EXPECT_THAT(
      markdown_evidence(example),
      StartsWith(
          "Where the crashed thread was in Python:\n\n```text\nFile \"/me/app.py\", line 12, in "
          "infer\n```\n\nStack of the crashed thread;"));
}

TEST(MarkdownEvidence, ShowsTheCycleOnceAndIdenticalStacksTogether) {
  const std::string text = markdown();
  EXPECT_THAT(text, HasSubstr("**Lock cycle of 8:** thread 0 waits for a lock that thread 1 holds, "
                              "thread 1 for one that thread 2 holds,"));
  EXPECT_THAT(text, HasSubstr("- the main thread waits for another thread to end\n"));
  EXPECT_THAT(text, HasSubstr("Stack of threads 0-7:\n\n```text\n 0~ libc.so.6"));
  EXPECT_THAT(text, HasSubstr("Stack of the main thread:\n"));
  EXPECT_THAT(text, Not(HasSubstr("Stack of thread 1:")));
}

TEST(MarkdownEvidence, AHangBehindACrashNamesTheEndedHolder) {
  EXPECT_THAT(markdown(), HasSubstr("- thread 0 waits for a lock whose holder (thread id 4711) has "
                                    "ended: it ended while it held the lock\n"));
}

TEST(MarkdownEvidence, TellsWhatTheEvidenceSays) {
  EXPECT_THAT(markdown(), HasSubstr("- a trivial piece of work given to the device completed: the "
                                    "host hangs, not the device\n"));
  EXPECT_THAT(markdown(),
              HasSubstr("did not end in time: the device, or the way to it, hangs too\n"));
  EXPECT_THAT(markdown(), HasSubstr("- bad address null + 0x18\n"));
  FailureExample example = example_of(Outcome::hang, lock_cycle_of_8());
  EXPECT_THAT(markdown_evidence(example), Not(HasSubstr("trivial piece of work")));
}

TEST(MarkdownEvidence, AHangWithoutStacksSaysWhy) {
  FailureExample example = example_of(Outcome::hang, {});
  EXPECT_THAT(markdown_evidence(example), HasSubstr("No stacks: this worker does not offer"));
  example.recorder.inquest = Inquest::offered;
  EXPECT_THAT(markdown_evidence(example), HasSubstr("No stacks: the worker did not begin"));
  example.recorder.inquest = Inquest::stacks;
  EXPECT_THAT(markdown_evidence(example), HasSubstr("did not get to their end"));
  EXPECT_EQ(markdown_evidence(example_of(Outcome::exception, {})), "");
}

TEST(MarkdownEvidence, AHangOfWhichSomeThreadsAreMissingSaysHowMany) {
  FailureExample example = example_of(Outcome::hang, lock_cycle_of_8());
  EXPECT_THAT(markdown_evidence(example), Not(HasSubstr("gave their stacks")));
  const size_t there = example.stacks.threads.size();
  example.recorder.threads_asked = static_cast<uint32_t>(there + 3);
  EXPECT_THAT(markdown_evidence(example),
              HasSubstr(fmt::format("{} of its {} threads gave their stacks.", there, there + 3)));
}

TEST(MarkdownEvidence, ShowsTheFactsOfACrashReport) {
  const std::string text = markdown();
  for (const char* row :
       {"| file | `evidence/3-0-1F2E.ips` |", "| process | `mpsprobe-worker [1000]` |",
        "| captured | `2026-01-31 12:00:03 UTC` |", "| system | `macOS 15.1 (24B83), Mac16,5` |",
        "| exception | `EXC_BAD_ACCESS, SIGSEGV, KERN_INVALID_ADDRESS at 0x00000000000005c8` |",
        "| termination | `SIGNAL, Segmentation fault: 11` |",
        "failed assertion; `Scheduled handler provided after commit call'`` |"}) {
    EXPECT_THAT(text, HasSubstr(row));
  }
  EXPECT_THAT(text, HasSubstr("Its faulting thread:\n\n```text\n 0  AGXMetalG16X  "
                              "-[AGXG16XFamilyComputeContext setComputePipelineState:]\n"));
  EXPECT_THAT(text,
              HasSubstr("Where its last exception was thrown:\n\n```text\n 0~ CoreFoundation"));
}

TEST(MarkdownEvidence, AGpuEventIsNobodysGuilt) {
  EXPECT_THAT(markdown(), HasSubstr("such a report names no process for sure:\n\n- 2026-01-31 "
                                    "12:00:02 UTC: `restart: hang` of `mpsprobe-worker`, "
                                    "`evidence/gpuEvent-1.ips`\n"));
}

TEST(MarkdownEvidence, TimesThatAreNoneAreLeftOut) {
  for (double time : {0.0, -1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    FailureExample example = example_of(Outcome::signal, crashed_in_encode());
    example.crash_report = crash_report_of_encode();
    example.crash_report->captured = time;
    EXPECT_THAT(markdown_evidence(example), Not(HasSubstr("| captured |"))) << time;
  }
}

TEST(MarkdownEvidence, TheTerminalMarksThinSignatures) {
  const std::string text = report_terminal(analyse(journal_with_evidence().journal), {false});
  EXPECT_THAT(text, HasSubstr("FAIL bad access in libfoo.so launching zeros (no function known) "
                              "(thin): 2 trials in 1 cell\n"));
  EXPECT_THAT(text, HasSubstr("FAIL bad access in mpsprobe::sim::Kernel::bind: 6 trials in"));
}

}  // namespace
}  // namespace mpsprobe

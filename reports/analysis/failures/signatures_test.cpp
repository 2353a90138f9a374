#include "reports/analysis/failures/signatures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/evidence_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const SignatureGroup& find(const Analysis& analysis, const std::string& part) {
  for (const SignatureGroup& group : analysis.signatures) {
    if (group.title.find(part) != std::string::npos) return group;
  }
  throw std::runtime_error("no signature holds " + part);
}

TEST(Signatures, ACrashAndAHangOfOneCellAreLinkedBothWaysAndNotMerged) {
  const Analysis analysis = analyse(journal_with_evidence().journal);
  const SignatureGroup& crash = find(analysis, "bad access");
  const SignatureGroup& hang = find(analysis, "lock cycle");
  ASSERT_THAT(crash.related, SizeIs(1));
  ASSERT_THAT(hang.related, SizeIs(1));
  EXPECT_EQ(analysis.signatures[crash.related[0]].title, hang.title);
  EXPECT_EQ(analysis.signatures[hang.related[0]].title, crash.title);
  EXPECT_EQ(crash.failures, 6);
  EXPECT_EQ(hang.failures, 3);
}

TEST(Signatures, OfDifferentCellsAndArmsAreNotLinked) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  sample.plan("sim/add/default/threads=2").ran(10, 10);
  sample.provenance = "build-b";
  sample.ran(10, 10, SampleJournal::hang(), "fork");
  sample.plan("sim/add/default/threads=3");
  sample.ran(10, 10, SampleJournal::hang(), "fork");
  for (const SignatureGroup& group : analyse(sample.journal).signatures) {
    EXPECT_THAT(group.related, IsEmpty()) << group.title;
  }
}

TEST(Signatures, TwoCrashesOfOneCellAreNotLinked) {
  SampleJournal sample;
  Judgement other = SampleJournal::segfault();
  other.signature = "abort in at::mps::f";
  sample.plan("sim/add/default/threads=2").ran(5, 5).ran(5, 5, other);
  for (size_t i = 5; i < 10; ++i) sample.journal.trials[i].trial = static_cast<int>(i);
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.signatures, SizeIs(2));
  EXPECT_THAT(analysis.signatures[0].related, IsEmpty());
  EXPECT_THAT(analysis.signatures[1].related, IsEmpty());
}

TEST(Signatures, RestOnTheStrongestBasisOfTheirTrials) {
  SampleJournal sample;
  sample.plan("sim/add/default/threads=2").ran(3, 3);
  const std::vector<Basis> bases{Basis::none, Basis::place, Basis::frames};
  for (size_t i = 0; i < 3; ++i) sample.journal.trials[i].judgement.basis = bases[i];
  EXPECT_EQ(analyse(sample.journal).signatures[0].basis, Basis::frames);
  sample.journal.trials[2].judgement.basis = Basis::none;
  EXPECT_EQ(analyse(sample.journal).signatures[0].basis, Basis::place);
  EXPECT_TRUE(analyse(sample.journal).signatures[0].thin());
}

TEST(Signatures, CountWhatWasFoundBesideThem) {
  SampleJournal sample;
  sample.plan("sim/add/default/threads=2").ran(3, 3);
  sample.journal.trials[0].judgement.also = {{"rare", false}, {"usual", true}};
  sample.journal.trials[2].judgement.also = {{"usual", true}};
  const Analysis analysis = analyse(sample.journal);
  const auto& also = analysis.signatures[0].also;
  ASSERT_THAT(also, SizeIs(2));
  EXPECT_EQ(also[0].finding.title, "usual");
  EXPECT_EQ(also[0].trials, 2);
  EXPECT_FALSE(also[1].finding.known);
}

TEST(Signatures, WhatStandsBesideThemIsBoundedAndTheRestIsCounted) {
  SampleJournal sample;
  sample.plan("sim/add/default/threads=2").ran(600, 600);
  for (size_t i = 0; i < 600; ++i) {
    Judgement& judgement = sample.journal.trials[i].judgement;
    if (i >= 300) judgement = SampleJournal::hang();
    if (i >= 300) judgement.signature = "hang " + std::to_string(i);
    if (i < 300) judgement.also = {{"text " + std::to_string(i), true}, {"usual", true}};
  }
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.signatures, SizeIs(301));
  const SignatureGroup& crash = analysis.signatures[0];
  EXPECT_EQ(crash.failures, 300);
  ASSERT_THAT(crash.also, SizeIs(256));
  EXPECT_EQ(crash.also[0].finding.title, "usual");
  EXPECT_EQ(crash.also[0].trials, 300);
  EXPECT_EQ(crash.also_left_out, 301U - 256U);
  EXPECT_THAT(crash.related, SizeIs(256));
  EXPECT_EQ(crash.related.front(), 1U);
  EXPECT_EQ(crash.related_left_out, 300U - 256U);
  EXPECT_THAT(analysis.signatures[1].related, SizeIs(1));
}

TEST(Signatures, ExampleShowsTheEventThatTitlesTheFailure) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(1, 1, {Outcome::exception, "", "exception: own"});
  ProcessRecord& process = sample.last().processes[0];
  process.failures = {{"exception", "Discarded (victim of GPU error/recovery)", "run", 0, 1, "add"},
                      {"exception", "own", "run", 1, 1, "add"}};
  EXPECT_EQ(analyse(sample.journal).signatures[0].first.event->text, "own");
}

TEST(Signatures, ExampleCarriesTheEvidence) {
  const Analysis analysis = analyse(journal_with_evidence().journal);
  const FailureExample& example = find(analysis, "bad access").first;
  EXPECT_EQ(example.stacks, crashed_in_encode());
  EXPECT_EQ(example.crash_report->incident, crash_report_of_encode().incident);
  EXPECT_EQ(example.gpu_events[0].incident, gpu_restart().incident);
}

// What their own program printed comes before the stacks of the interpreter, which are told apart.
TEST(Signatures, ExampleOfADeadInterpreterHasItsStackAndWhatWasPrintedBefore) {
  SampleJournal sample;
  sample.plan("cpu/infer/default/threads=2")
      .ran(1, 1, {Outcome::signal, "SIGSEGV", "bad access in f"});
  ProcessRecord& process = sample.last().processes[0];
  process.recorder.crash.signal = 11;
  process.err.head =
      "Concurrent access has been detected.\nFatal Python error: Segmentation fault\n\n"
      "Thread 0x00007f08cabc1240 (most recent call first):\n  File \"other.py\", line 3 in wait\n\n"
      "Current thread 0x00007f0ca4279b80 (most recent call first):\n"
      "  File \"/me/app.py\", line 12 in infer\n  File \"/me/app.py\", line 30 in <module>\n";
  const FailureExample example = analyse(sample.journal).signatures[0].first;
  EXPECT_EQ(example.excerpt,
            "Concurrent access has been detected.\nFatal Python error: Segmentation fault\n");
  ASSERT_EQ(example.python_stack.size(), 2U);
  EXPECT_EQ(example.python_stack[0].function, "infer");
  EXPECT_EQ(example.python_stack[0].source, "/me/app.py:12");
}

}  // namespace
}  // namespace mpsprobe

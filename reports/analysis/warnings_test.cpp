#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/outcome/judge.h"
#include "reports/analysis/steps.h"
#include "reports/evidence_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The text of a warning; empty where the run has none of that code.
std::string warning(const SampleJournal& sample, const std::string& code) {
  for (const Warning& found : analyse(sample.journal).warnings) {
    if (found.code == code) return found.text;
  }
  return "";
}

TEST(Warnings, ThinSignaturesAreCounted) {
  EXPECT_THAT(warning(journal_with_evidence(), "thin_signatures"),
              HasSubstr("1 signature (2 trials) rests on nothing but the place"));
  EXPECT_THAT(warning(report_000(), "thin_signatures"), IsEmpty());
}

TEST(Warnings, AMachineThatOthersUseIsSaid) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=2").ran(3);
  sample.journal.header.machine["cores"] = 8;
  sample.journal.ends = {{"interrupted", "", "", 4.2}, {"complete", "", "", 0}};
  EXPECT_THAT(warning(sample, "busy_machine"),
              HasSubstr("Other programs used 4.2 of 8 processors"));
  sample.journal.ends[0].processors_of_others = 3.9;
  EXPECT_THAT(warning(sample, "busy_machine"), IsEmpty());
}

TEST(Warnings, CallsBeyondTheIterationsAreSaid) {
  SampleJournal sample;
  sample.plan("cpu/infer/default/threads=2").ran(1);
  EXPECT_THAT(warning(sample, "more_iterations"), IsEmpty());
  sample.journal.trials[0].processes[0].result->unchecked = 2 * 490;
  EXPECT_THAT(warning(sample, "more_iterations"),
              HasSubstr("cpu/infer/default/threads=2 (500 calls a thread on average)"));
  // There it says nothing: threads work until the process has ended.
  SampleJournal leaving;
  leaving.plan("cpu/infer/default/threads=2/end=exit").ran(1);
  leaving.journal.trials[0].processes[0].result->unchecked = 2 * 490;
  EXPECT_THAT(warning(leaving, "more_iterations"), IsEmpty());
}

TEST(Warnings, GpuEventsAroundTrialsAreCounted) {
  EXPECT_THAT(warning(journal_with_evidence(), "gpu_events"),
              HasSubstr("around 1 trial, first around one of sim/linear/nograph/threads=8."));
  EXPECT_THAT(warning(report_000(), "gpu_events"), IsEmpty());
}

TEST(Warnings, WhatTheObserverSawIsSaidAlsoWhereItSawNothing) {
  SampleJournal sample;
  sample.plan("metal/mm/default/threads=2/observe=rules").ran(3);
  EXPECT_THAT(warning(sample, "observed"), IsEmpty());
  for (TrialRecord& trial : sample.journal.trials) trial.processes[0].observation = {100, {}};
  EXPECT_THAT(warning(sample, "observed"),
              HasSubstr("Rules observed: 300 calls in 3 trials, none broken."));
  EXPECT_THAT(warning(sample, "suspicion"), IsEmpty());
  sample.journal.trials[1].processes[0].observation->suspicions = {
      "foreign-command-buffer: used\n"
      "  called here"};
  sample.journal.trials[2].judgement.outcome = Outcome::misuse;
  EXPECT_THAT(warning(sample, "observed"), HasSubstr("broken by the caller in 1 of them"));
  EXPECT_THAT(warning(sample, "suspicion"),
              HasSubstr("In 1 trial the observer saw what may break a rule, first in "
                        "metal/mm/default/threads=2/observe=rules."));
}

TEST(Warnings, AValidationThatDidNotAnnounceItselfIsSaid) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2/validation=api+shader").ran(3);
  EXPECT_THAT(warning(sample, "no_validation_banner"), HasSubstr("In 3 trials that ask for"));
  for (TrialRecord& trial : sample.journal.trials) trial.processes[0].api_validation_seen = true;
  EXPECT_THAT(warning(sample, "no_validation_banner"), HasSubstr("In 3 trials that ask for"));
  for (TrialRecord& trial : sample.journal.trials) trial.processes[0].shader_validation_seen = true;
  EXPECT_THAT(warning(sample, "no_validation_banner"), IsEmpty());
  SampleJournal without;
  without.plan("mps/add/default/threads=2").ran(3);
  EXPECT_THAT(warning(without, "no_validation_banner"), IsEmpty());
}

TEST(Warnings, TrialsThatSharedAGpuAreSaid) {
  SampleJournal sample;
  sample.plan("cuda/add/default/threads=2").ran(3);
  sample.journal.header.jobs = 1;
  EXPECT_THAT(warning(sample, "shared_gpu"), IsEmpty());
  sample.journal.header.jobs = 8;
  EXPECT_THAT(warning(sample, "shared_gpu"), HasSubstr("Up to 8 trials shared the GPU"));
  SampleJournal on_cpu;
  on_cpu.plan("cpu/add/default/threads=2").ran(3);
  on_cpu.journal.header.jobs = 8;
  EXPECT_THAT(warning(on_cpu, "shared_gpu"), IsEmpty());
}

TEST(Warnings, WorkersWithTheSameLibraryAreSaid) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  sample.plan("mps/add/default/threads=2").ran(3).ran(3, 0, SampleJournal::segfault(), "fork");
  EXPECT_THAT(warning(sample, "same_build"),
              HasSubstr("The workers stock and fork loaded the same library"));
}

TEST(Warnings, AGpuEventThatCameLateIsOfTheTrialThatRanThen) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(1, 1);
  sample.last().started = "2026-01-31T11:59:50.000Z";
  sample.plan("mps/zeros/default/threads=2").ran(1, 1, SampleJournal::hang());
  sample.last().started = "2026-01-31T12:00:10.000Z";
  sample.last().processes[0].gpu_events = {gpu_restart()};  // of 12:00:02
  EXPECT_THAT(warning(sample, "gpu_events"),
              HasSubstr("around 1 trial, first around one of mps/add/default/threads=2."));
  for (const SignatureGroup& group : analyse(sample.journal).signatures) {
    EXPECT_EQ(group.first.gpu_events.size(), group.first.cell.op == "add" ? 1U : 0U);
  }
}

Judgement bystander() {
  Judgement judgement{Outcome::infrastructure, "bystander of a GPU restart"};
  judgement.bystander = true;
  return judgement;
}

TEST(Warnings, BystandersAreNoEvidenceAndTheirRerunDecides) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(10, 3, bystander());
  Judgement alone = bystander();
  judge_bystander_alone(alone);
  const auto again = [&sample](int trial, int attempt, const Judgement* failure) {
    sample.ran(1, failure == nullptr ? 0 : 1, failure == nullptr ? Judgement{} : *failure);
    sample.last().trial = trial;
    sample.last().attempt = attempt;
  };
  // Trial 0 runs again and passes, trial 1 fails, trial 2 is a victim each time.
  const Judgement crash = SampleJournal::segfault();
  const Judgement victim = bystander();
  again(0, 1, nullptr);
  again(1, 1, &crash);
  again(2, 1, &victim);
  again(2, 2, &alone);
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[0].counted, 10);
  EXPECT_EQ(analysis.cells[0].failures, 2);
  EXPECT_EQ(analysis.cells[0].missing, 0);
  EXPECT_EQ(analysis.recorded, 10);
  EXPECT_TRUE(analysis.complete);
  EXPECT_EQ(analysis.bystanders.trials, 3);
  EXPECT_EQ(analysis.bystanders.rerun, 3);
  EXPECT_EQ(analysis.bystanders.alone, 1);
  const std::string text = warning(sample, "bystanders");
  EXPECT_THAT(text, HasSubstr("3 trials failed as victims of a GPU error"));
  EXPECT_THAT(text, HasSubstr("3 were run again alone"));
  EXPECT_THAT(text, HasSubstr("1 was a victim alone as well, each time"));
  EXPECT_THAT(warning(sample, "repeated"), IsEmpty());
}

TEST(Warnings, ARunThatEndedWholeAndLacksTrialsLostTheirRecords) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(9).ended("complete");
  EXPECT_THAT(warning(sample, "incomplete"), HasSubstr("9 of 10 planned trials were run; of the "));
  EXPECT_THAT(warning(sample, "incomplete"), Not(HasSubstr("complete\"")));
}

TEST(Warnings, ABystanderThatIsStillOwedItsRerunWasNotRun) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(10, 1, bystander()).ended("interrupted");
  for (int attempt : {0, 1}) {
    if (attempt > 0) {
      sample.ran(1, 1, bystander());
      sample.last().attempt = attempt;
    }
    const Analysis analysis = analyse(sample.journal);
    EXPECT_EQ(analysis.recorded, 9);
    EXPECT_EQ(analysis.cells[0].missing, 1);
    EXPECT_FALSE(analysis.complete);
    EXPECT_EQ(analysis.bystanders.trials, 1);
    EXPECT_EQ(analysis.bystanders.rerun, attempt);
    EXPECT_THAT(warning(sample, "incomplete"), HasSubstr("9 of 10 planned trials"));
    EXPECT_THAT(warning(sample, "repeated"), IsEmpty());
  }
}

}  // namespace
}  // namespace mpsprobe

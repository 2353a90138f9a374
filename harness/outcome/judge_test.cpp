#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "harness/outcome/outcome.h"
#include "harness/trial.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

ProcessRecord record(Termination termination, const std::string& err = "") {
  ProcessRecord process;
  process.termination = std::move(termination);
  process.err.head = err;
  process.err.bytes = err.size();
  process.hello = HelloEvent{kProtocolVersion, "{}"};
  process.ready = true;
  process.recorder.phase = Phase::run;
  process.recorder.threads = {{0, "linear", 3, Step::synchronising},
                              {1, "linear", 4, Step::launching}};
  return process;
}

ProcessRecord finished(const std::string& err = "") {
  ProcessRecord process = record(Exited{0}, err);
  process.result = ResultEvent{40, 0.1, 40, 0, "nograph"};
  return process;
}

const char* const kAssertion =
    "-[AGXG16XFamilyCommandBuffer tryCoalescingPreviousComputeCommandEncoderWithConfig:"
    "nextEncoderClass:]:1091: failed assertion `A command encoder is already encoding to this "
    "command buffer'\n";

TEST(Judge, AResultAndExitZeroPass) {
  EXPECT_EQ(judge(finished()).outcome, Outcome::pass);
}

TEST(Judge, ExitZeroWithoutAResultIsMissing) {
  EXPECT_EQ(judge(record(Exited{0})).outcome, Outcome::missing);
}

TEST(Judge, ASignalAndAnExitCodeOfTheSameNumberAreDifferent) {
  const Judgement exit = judge(record(Exited{11}));
  EXPECT_EQ(exit.outcome, Outcome::exit);
  EXPECT_EQ(exit.detail, "11");
  const Judgement signal = judge(record(Signaled{11, false}));
  EXPECT_EQ(signal.outcome, Outcome::signal);
  EXPECT_EQ(signal.detail, "SIGSEGV");
}

TEST(Judge, TheExitStatusBeatsAReportedResult) {
  ProcessRecord process = finished();
  process.termination = Signaled{SIGSEGV, false};
  process.recorder.phase = Phase::teardown;
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::signal);
  EXPECT_EQ(judgement.phase, Phase::teardown);
  EXPECT_THAT(judgement.signature, HasSubstr("tear-down"));
}

TEST(Judge, AnAbortWithAKnownTextIsAnAssertion) {
  const Judgement judgement = judge(record(Signaled{SIGABRT, false}, kAssertion));
  EXPECT_EQ(judgement.outcome, Outcome::assertion);
  EXPECT_TRUE(judgement.known);
  EXPECT_THAT(judgement.signature, HasSubstr("already encoding"));
}

TEST(Judge, AnAbortWithoutATextIsASignal) {
  const Judgement judgement = judge(record(Signaled{SIGABRT, false}, "loading\n4 passed\n"));
  EXPECT_EQ(judgement.outcome, Outcome::signal);
  EXPECT_EQ(judgement.detail, "SIGABRT");
}

TEST(Judge, AnUncaughtExceptionIsAnException) {
  const Judgement judgement = judge(
      record(Signaled{SIGABRT, false},
             "terminate called after throwing an instance of 'std::runtime_error'\n  what():  "
             "A and B index not found\n"));
  EXPECT_EQ(judgement.outcome, Outcome::exception);
}

TEST(Judge, ATextThatTheProcessSurvivedDoesNotHideItsCrash) {
  const std::string survived = "ImportError: dlopen(/x/y.so, 0x0002): Library not loaded: z\n";
  EXPECT_EQ(judge(record(Signaled{SIGSEGV, false}, survived)).outcome, Outcome::signal);
  const Judgement abort = judge(record(
      Signaled{SIGABRT, false},
      "RuntimeError: MPS backend out of memory (MPS allocated: 1 GB)\n" + std::string(kAssertion)));
  EXPECT_EQ(abort.outcome, Outcome::assertion);
  EXPECT_THAT(abort.signature, HasSubstr("already encoding"));
}

TEST(Judge, AReportedExceptionThatIsAResourceLimitIsOutOfMemory) {
  ProcessRecord process = finished();
  process.failures = {
      {"exception", "MPS backend out of memory (MPS allocated: 9.06 GB)", "run", 1, 2, "linear"}};
  EXPECT_EQ(judge(process).outcome, Outcome::out_of_memory);
  process.failures[0].text = "A and B index not found";
  EXPECT_EQ(judge(process).outcome, Outcome::exception);
  process.failures[0].text =
      "The MPS backend is supported on MacOS 14.0+. Current OS version can be queried using "
      "`sw_vers`";
  EXPECT_EQ(judge(process).outcome, Outcome::unsupported);
}

TEST(Judge, AGpuErrorInTheTextIsNoPassAndExplainsWrongNumbers) {
  const std::string text = "Error: command buffer exited with error status.\n";
  EXPECT_EQ(judge(finished(text)).outcome, Outcome::gpu_error);
  ProcessRecord process = finished(text);
  process.failures = {{"wrong_result", "element 3", "run", 0, 1, "linear"}};
  EXPECT_EQ(judge(process).outcome, Outcome::gpu_error);
}

TEST(Judge, WhoEndedItIsKnownNotGuessed) {
  ProcessRecord process = record(Signaled{SIGTERM, false});
  process.ended_by = EndedBy::no_progress;
  EXPECT_EQ(judge(process).outcome, Outcome::hang);
  EXPECT_EQ(judge(process).signature, "hang launching linear");
  process.ended_by = EndedBy::user;
  EXPECT_EQ(judge(process).outcome, Outcome::not_run);
  process.ended_by = EndedBy::memory_limit;
  EXPECT_EQ(judge(process).outcome, Outcome::out_of_memory);
  process.ended_by = EndedBy::nobody;
  EXPECT_EQ(judge(process).outcome, Outcome::infrastructure);
}

TEST(Judge, AKillIsForMemoryOnlyWhereTheKernelSaysSo) {
  ProcessRecord process = record(Signaled{SIGKILL, false});
  EXPECT_EQ(judge(process).outcome, Outcome::infrastructure);
  process.kernel_memory_kill = true;
  EXPECT_EQ(judge(process).outcome, Outcome::out_of_memory);
}

TEST(Judge, ACrashWhoseHandlerGotStuckIsTheCrash) {
  ProcessRecord process = record(Signaled{SIGKILL, false});
  process.ended_by = EndedBy::no_progress;
  process.recorder.crash.signal = SIGSEGV;
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::signal);
  EXPECT_EQ(judgement.detail, "SIGSEGV");
}

TEST(Judge, WhatNeverGotToTheProductIsSetUp) {
  ProcessRecord loader =
      record(Exited{127},
             "worker: error while loading shared libraries: libtorch_cpu.so: cannot open "
             "shared object file: No such file or directory\n");
  loader.hello.reset();
  EXPECT_EQ(judge(loader).outcome, Outcome::setup_failed);
  ProcessRecord dyld = record(Signaled{SIGABRT, false},
                              "dyld[123]: Library not loaded: @rpath/libtorch_cpu.dylib\n");
  dyld.hello.reset();
  EXPECT_EQ(judge(dyld).outcome, Outcome::setup_failed);
  ProcessRecord missing;
  missing.termination = NotSpawned{2, "No such file or directory"};
  EXPECT_EQ(judge(missing).outcome, Outcome::infrastructure);
}

TEST(Judge, TheSignatureOfACrashNamesImageAndStepButNoAddress) {
  ProcessRecord process = record(Signaled{SIGSEGV, false});
  process.recorder.crash.signal = SIGSEGV;
  process.recorder.crash.thread = 1;
  process.recorder.crash.frames = {{"/opt/torch/lib/libtorch_cpu.so", "", 0x1234}};
  EXPECT_EQ(judge(process).signature, "SIGSEGV in libtorch_cpu.so launching linear");
}

TEST(Judge, AnUnknownKindOfFailureIsNoEvidence) {
  ProcessRecord process = finished();
  process.failures = {{"great success", "", "run", 0, 0, "linear"}};
  EXPECT_EQ(judge(process).outcome, Outcome::infrastructure);
}

TEST(JudgeTrial, TheFailureThatEndedFirstSpeaks) {
  TrialRecord trial;
  trial.processes = {finished(), record(Signaled{SIGSEGV, false}), record(Exited{11})};
  trial.processes[1].ended_at = 2;
  trial.processes[2].ended_at = 1;
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::exit);
  EXPECT_EQ(trial.judged_process, 2);
}

TEST(JudgeTrial, InfrastructureIsNoPassAndAFailureBeatsIt) {
  TrialRecord trial;
  trial.processes = {finished(), record(Signaled{SIGKILL, false})};
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::infrastructure);
  trial.processes.push_back(record(Signaled{SIGSEGV, false}));
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::signal);
}

TEST(Outcome, EveryWordComesBack) {
  for (int i = 0; i <= static_cast<int>(Outcome::not_run); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(outcome_named(name_of(outcome)), outcome);
  }
  EXPECT_FALSE(outcome_named("passed"));
  EXPECT_FALSE(is_failure(Outcome::pass));
  EXPECT_TRUE(is_failure(Outcome::gpu_error));
  EXPECT_FALSE(is_evidence(Outcome::unsupported));
}

}  // namespace
}  // namespace mpsprobe

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "harness/outcome/outcome.h"
#include "harness/outcome/remarks.h"
#include "harness/trial.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
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

const char* const kVictim =
    "Execution of the command buffer was aborted due to an error during execution. Innocent Victim "
    "(00000005:kIOGPUCommandBufferCallbackErrorInnocentVictim)\n";

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

TEST(Judge, TheSignatureOfACrashWithoutAFunctionSaysThatItIsThin) {
  ProcessRecord process = record(Signaled{SIGSEGV, false});
  process.recorder.crash.signal = SIGSEGV;
  process.recorder.crash.thread = 1;
  process.recorder.crash.frames = {{"/lib/libc.so.6", "", 0x88},
                                   {"/opt/torch/lib/libtorch_cpu.so", "", 0x1234}};
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.signature, "SIGSEGV in libtorch_cpu.so launching linear (no function known)");
  EXPECT_EQ(judgement.basis, Basis::place);
}

ThreadStack faulting(std::vector<std::pair<std::string, std::string>> frames) {
  ThreadStack stack;
  stack.faulting = true;
  for (auto& [image, function] : frames) {
    StackFrame frame;
    frame.image = image;
    frame.function = function;
    stack.frames.push_back(std::move(frame));
  }
  return stack;
}

TEST(Judge, SegvAndBusOfOneFunctionAreOneBugAndTheSignalStaysInTheDetail) {
  ProcessRecord process = record(Signaled{SIGSEGV, false});
  process.stacks.threads = {faulting({{"libtorch_cpu.dylib", "at::mps::MPSStream::commit()"}})};
  const Judgement segv = judge(process);
  process.termination = Signaled{SIGBUS, false};
  const Judgement bus = judge(process);
  EXPECT_EQ(segv.signature, "bad access in at::mps::MPSStream::commit");
  EXPECT_EQ(bus.signature, segv.signature);
  EXPECT_EQ(segv.detail, "SIGSEGV");
  EXPECT_EQ(bus.detail, "SIGBUS");
  EXPECT_EQ(segv.basis, Basis::frames);
}

TEST(Judge, WhatDyldEndedIsSetUpWhateverHelloSaid) {
  ProcessRecord process = record(Signaled{SIGABRT, false});
  process.crash_report.emplace().termination_namespace = "DYLD";
  EXPECT_EQ(judge(process).outcome, Outcome::setup_failed);
  process.crash_report->termination_namespace = "SIGNAL";
  EXPECT_EQ(judge(process).outcome, Outcome::signal);
  process.crash_report->termination_reasons = {"Symbol not found: __ZN2at6linear"};
  EXPECT_EQ(judge(process).outcome, Outcome::setup_failed);
}

TEST(Judge, AGpuEventOfTheSystemAloneChangesNothing) {
  ProcessRecord process = finished();
  process.gpu_events.resize(2);
  EXPECT_EQ(judge(process).outcome, Outcome::pass);
  EXPECT_THAT(remarks(process), ElementsAre(HasSubstr("2 events of the GPU")));
}

TEST(Judge, KeepsEverythingElseThatWasToldInOrderAndOnce) {
  ProcessRecord process =
      record(Signaled{SIGABRT, false}, std::string(kAssertion) + "free(): invalid pointer\n" +
                                           kAssertion + "free(): invalid pointer\n");
  process.failures = {{"wrong_result", "element 3", "run", 0, 1, "linear"}};
  process.crash_report.emplace().application_info = {
      "-[_MTLCommandBuffer addCompletedHandler:]:867: failed assertion `Completed handler provided",
      "after commit call'", kAssertion};
  const Judgement judgement = judge(process);
  EXPECT_THAT(judgement.signature, HasSubstr("already encoding"));
  std::vector<std::string> also;
  for (const OtherFinding& other : judgement.also) also.push_back(other.title);
  EXPECT_THAT(also, ElementsAre("malloc: free(): invalid pointer",
                                "assertion: Completed handler provided after commit call",
                                "wrong result: linear"));
}

TEST(Judge, APassTellsOfNothingElse) {
  const Judgement judgement = judge(finished("RuntimeError: A and B index not found\n"));
  EXPECT_EQ(judgement.outcome, Outcome::pass);
  EXPECT_TRUE(judgement.also.empty());
}

TEST(Judge, AVictimThatFailsByItselfStaysAFailure) {
  ProcessRecord process = record(Signaled{SIGSEGV, false}, kVictim);
  EXPECT_EQ(judge(process).outcome, Outcome::signal);
  process.termination = Signaled{SIGABRT, false};
  process.err.head += kAssertion;
  process.err.bytes = process.err.head.size();
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::assertion);
  EXPECT_FALSE(judgement.bystander);
}

TEST(Remarks, SayWhatHoldsNumbersOfOneRun) {
  ProcessRecord process = record(Signaled{SIGSEGV, false});
  process.recorder.crash.signal = SIGSEGV;
  process.recorder.crash.address = 0x5c8;
  EXPECT_THAT(remarks(process), ElementsAre("bad address null + 0x5c8"));
  process.recorder.crash.address = 0xbeaddc3f8010;
  process.stacks.threads = {faulting({{"libc.so.6", "_int_malloc"}, {"w", "run(int)"}})};
  EXPECT_THAT(remarks(process),
              ElementsAre(HasSubstr("not near null"), HasSubstr("when run called")));

  ProcessRecord hung = record(Signaled{SIGKILL, false});
  hung.ended_by = EndedBy::no_progress;
  hung.recorder.probe = Probe::completed;
  EXPECT_THAT(remarks(hung), ElementsAre(HasSubstr("the host hangs")));
  hung.recorder.probe = Probe::not_answered;
  EXPECT_THAT(remarks(hung), ElementsAre(HasSubstr("did not complete")));
  EXPECT_TRUE(remarks(finished()).empty());
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

TEST(JudgeTrial, AHangSaysOnWhichPath) {
  TrialRecord trial;
  trial.processes = {record(Signaled{SIGKILL, false})};
  trial.processes[0].ended_by = EndedBy::no_progress;
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.signature, "hang launching linear");
  trial.cell.path = Path::graph;
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.signature, "hang launching linear/graph");
}

TEST(JudgeTrial, IsABystandersOnlyWhereAllThatWentWrongIsAVictim) {
  TrialRecord trial;
  trial.processes = {finished(), finished(kVictim), finished(kVictim)};
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::infrastructure);
  EXPECT_TRUE(trial.judgement.bystander);
  EXPECT_EQ(trial.judgement.detail, "bystander of a GPU restart");
  // Something of its own went wrong beside it.
  trial.processes.push_back(record(Signaled{SIGKILL, false}));
  judge_trial(trial);
  EXPECT_FALSE(trial.judgement.bystander);
  // The guilty one was among them.
  trial.processes.push_back(finished("Caused GPU Hang Error (00000003:kIOGPU)\n"));
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::gpu_error);
  EXPECT_FALSE(trial.judgement.bystander);
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

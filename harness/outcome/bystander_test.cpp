#include <gtest/gtest.h>
#include <signal.h>

#include "harness/outcome/judge.h"
#include "harness/outcome/process_for_tests.h"
#include "harness/record/process_record.h"
#include "harness/record/trial.h"

namespace mpsprobe {
namespace {

const char* const kVictim =
    "Execution of the command buffer was aborted due to an error during execution. Innocent Victim "
    "(00000005:kIOGPUCommandBufferCallbackErrorInnocentVictim)\n";

TEST(Bystander, AVictimThatFailsByItselfStaysAFailure) {
  ProcessRecord process = ended_process(Signaled{SIGSEGV, false}, kVictim);
  EXPECT_EQ(judge(process).outcome, Outcome::signal);
  process.termination = Signaled{SIGABRT, false};
  process.err.head +=
      "failed assertion `A command encoder is already encoding to this command buffer'\n";
  process.err.bytes = process.err.head.size();
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::assertion);
  EXPECT_FALSE(judgement.bystander);
}

TEST(Bystander, AFailureOfItsOwnIsNoBystandersOnEitherRoute) {
  ProcessRecord process = finished_process(kVictim);
  process.failures = {{"exception", "Invalid KernelDAG", "run", 1, 2, "linear"}};
  const auto own = [&] {
    const Judgement judgement = judge(process);
    return !judgement.bystander && judgement.signature == "exception: Invalid KernelDAG";
  };
  EXPECT_TRUE(own());
  process.termination = Exited{1};
  EXPECT_TRUE(own());
  process.termination = Signaled{SIGABRT, false};
  EXPECT_FALSE(judge(process).bystander);
  // Wrong numbers come of the command buffer that was discarded.
  process.termination = Exited{0};
  process.failures[0] = {"wrong_result", "element 3", "run", 1, 2, "linear"};
  EXPECT_TRUE(judge(process).bystander);
  process.err = {};
  process.failures.push_back({"exception", kVictim, "run", 1, 2, "linear"});
  EXPECT_TRUE(judge(process).bystander);
  process.failures.push_back({"exception", "Invalid KernelDAG", "run", 1, 2, "linear"});
  EXPECT_FALSE(judge(process).bystander);
}

TEST(Bystander, IsATrialOnlyWhereAllThatWentWrongIsAVictim) {
  TrialRecord trial;
  trial.processes = {finished_process(), finished_process(kVictim), finished_process(kVictim)};
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::infrastructure);
  EXPECT_TRUE(trial.judgement.bystander);
  EXPECT_EQ(trial.judgement.detail, "bystander of a GPU restart");
  // Something of its own went wrong beside it.
  trial.processes.push_back(ended_process(Signaled{SIGKILL, false}));
  judge_trial(trial);
  EXPECT_FALSE(trial.judgement.bystander);
  // The guilty one was among them.
  trial.processes.push_back(finished_process("Caused GPU Hang Error (00000003:kIOGPU)\n"));
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::gpu_error);
  EXPECT_FALSE(trial.judgement.bystander);
}

}  // namespace
}  // namespace mpsprobe

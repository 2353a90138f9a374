// The executor against real processes that misbehave: the self-test worker knows what each of its
// cells does, so every outcome here has a known truth.
#include "harness/executor/executor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/executor/environment.h"
#include "harness/executor/misbehaving_worker_for_tests.h"
#include "harness/process/command.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

class ExecutorTest : public MisbehavingWorker {};

TEST_F(ExecutorTest, APassHasAResultAndOverlapIsMeasured) {
  const TrialRecord trial = misbehave("pass");
  EXPECT_EQ(trial.judgement.outcome, Outcome::pass);
  ASSERT_EQ(trial.processes.size(), 1U);
  EXPECT_EQ(trial.processes[0].result->operations, 20U);
  EXPECT_EQ(trial.processes[0].recorder.launches, 20U);
  EXPECT_GE(trial.processes[0].recorder.most_inside, 1U);
  EXPECT_GT(trial.processes[0].usage.max_rss_bytes, 100'000U);
}

TEST_F(ExecutorTest, ACrashIsToldWithThreadIterationStepAndAddress) {
  const TrialRecord trial = misbehave("null_dereference");
  EXPECT_EQ(trial.judgement.outcome, Outcome::signal);
  EXPECT_EQ(trial.judgement.detail, "SIGSEGV");
  EXPECT_EQ(trial.judgement.phase, Phase::run);
  const RecorderReading& recorder = trial.processes[0].recorder;
#ifndef MPSPROBE_SANITIZED  // a sanitizer puts its own handler in the place of ours
  EXPECT_EQ(recorder.crash.signal, SIGSEGV);
  EXPECT_EQ(recorder.crash.thread, 1);
  EXPECT_EQ(recorder.crash.address, 0x5c8U);
  ASSERT_FALSE(recorder.crash.frames.empty());
  EXPECT_EQ(recorder.crash.frames[0].image(), "mpsprobe-selftest-worker");
#endif
  ASSERT_GE(recorder.threads.size(), 2U);
  EXPECT_EQ(recorder.threads[1].iteration, 5U);
  EXPECT_EQ(recorder.threads[1].step, Step::launching);
}

TEST_F(ExecutorTest, PhasesAreToldApart) {
  EXPECT_EQ(misbehave("crash_early").judgement.phase, Phase::startup);
  EXPECT_EQ(misbehave("crash_teardown").judgement.phase, Phase::teardown);
  EXPECT_EQ(misbehave("exception_on_main").judgement.phase, Phase::startup);
}

TEST_F(ExecutorTest, AHangIsEndedAndSaysHow) {
  const TrialRecord trial = misbehave("deadlock");
  EXPECT_EQ(trial.judgement.outcome, Outcome::hang);
  EXPECT_EQ(trial.processes[0].ended_by, EndedBy::no_progress);
  EXPECT_EQ(trial.processes[0].stop_signals, "TERM");
}

TEST_F(ExecutorTest, WhoIgnoresSigtermIsKilled) {
  const TrialRecord trial = misbehave("ignores_sigterm");
  EXPECT_EQ(trial.judgement.outcome, Outcome::hang);
  EXPECT_EQ(trial.processes[0].stop_signals, "TERM KILL");
  EXPECT_EQ(trial.processes[0].termination, Termination(Signaled{SIGKILL, false}));
}

TEST_F(ExecutorTest, AStoppedProcessIsSeenAndEnded) {
  const TrialRecord trial = misbehave("stopped");
  EXPECT_EQ(trial.judgement.outcome, Outcome::hang);
  EXPECT_TRUE(trial.processes[0].was_stopped);
}

TEST_F(ExecutorTest, SlownessIsNoHang) {
  limits_.stall = 1.0;  // an iteration takes 0.2 s, the trial longer than the stall
  EXPECT_EQ(misbehave("slow").judgement.outcome, Outcome::pass);
}

TEST_F(ExecutorTest, WhoEndsThreadAfterThreadGetsOnWhoWaitsInTearDownDoesNot) {
  EXPECT_EQ(misbehave("slow_teardown").judgement.outcome, Outcome::pass);  // 1 s, stall of 0.5 s
  const TrialRecord trial = misbehave("hang_teardown");
  EXPECT_EQ(trial.judgement.outcome, Outcome::hang);
  EXPECT_EQ(trial.judgement.phase, Phase::teardown);
}

TEST_F(ExecutorTest, ADeadlineEndsWhatIsMerelySlowAndDoesNotCallItAHang) {
  limits_.timeout = 1.0;
  limits_.stall = 60;
  const TrialRecord trial = misbehave("slow");
  EXPECT_EQ(trial.judgement.outcome, Outcome::timeout);
  EXPECT_EQ(trial.processes[0].ended_by, EndedBy::deadline);
}

TEST_F(ExecutorTest, ADeadlineWithoutProgressIsAHang) {
  limits_.timeout = 1.0;
  limits_.stall = 60;
  EXPECT_EQ(misbehave("deadlock").judgement.outcome, Outcome::hang);
}

TEST_F(ExecutorTest, WhoStaysBehindNeitherBlocksNorSpoilsTheTrial) {
  for (const char* name : {"grandchild", "grandchild_session"}) {
    const TrialRecord trial = misbehave(name);
    EXPECT_EQ(trial.judgement.outcome, Outcome::pass) << name;
    // Still there at the trial's end: nobody waited for it.
    EXPECT_TRUE(trial.processes[0].left_descendants) << name;
  }
}

#ifdef __linux__
TEST_F(ExecutorTest, NobodyStaysBehindWhereOrphansComeToUs) {
  for (const char* name : {"grandchild", "grandchild_session", "pass"}) {
    EXPECT_EQ(misbehave(name).judgement.outcome, Outcome::pass) << name;
    errno = 0;
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << name << " left a child, alive or dead";
    EXPECT_EQ(errno, ECHILD);
  }
}
#endif

TEST_F(ExecutorTest, GarbageOnEveryChannelIsCountedAndDoesNoHarm) {
  const TrialRecord trial = misbehave("garbage");
  EXPECT_EQ(trial.judgement.outcome, Outcome::pass);
  EXPECT_GT(trial.processes[0].garbage_bytes, 100'000U);
}

TEST_F(ExecutorTest, AForgedResultDoesNotHideACrash) {
  EXPECT_EQ(misbehave("forged_result").judgement.outcome, Outcome::signal);
}

TEST_F(ExecutorTest, KilledFromOutsideIsNoEvidence) {
  EXPECT_EQ(misbehave("killed").judgement.outcome, Outcome::infrastructure);
}

TEST_F(ExecutorTest, MemoryIsLimited) {
  limits_.memory_bytes = uint64_t{256} << 20;
  limits_.stall = 60;  // where others want memory too, it comes slowly
  const TrialRecord trial = misbehave("memory");
  EXPECT_EQ(trial.judgement.outcome, Outcome::out_of_memory);
  EXPECT_LT(trial.processes[0].usage.max_rss_bytes, uint64_t{4} << 30);
}

TEST_F(ExecutorTest, ProcessesOfATrialStartTogetherAndAllAreRecorded) {
  const TrialRecord trial = run("cpu/selftest.pass/default/threads=1/processes=4");
  EXPECT_EQ(trial.judgement.outcome, Outcome::pass);
  ASSERT_EQ(trial.processes.size(), 4U);
  for (const ProcessRecord& process : trial.processes) EXPECT_TRUE(process.ready);
}

TEST_F(ExecutorTest, WhereOneProcessCannotStartTheOthersDoNotRunAlone) {
  // Each of them crashes before it is ready, at its own time: whoever is left is not let go.
  const TrialRecord trial = run("cpu/selftest.crash_early/default/threads=1/processes=3");
  EXPECT_EQ(trial.judgement.outcome, Outcome::signal);
  for (const ProcessRecord& process : trial.processes) EXPECT_FALSE(process.result.has_value());
}

TEST_F(ExecutorTest, FreshLifetimeTakesAProcessForEachIterationAndStopsAtAFailure) {
  const TrialRecord pass = run("cpu/selftest.pass/default/threads=1/iterations=3/lifetime=fresh");
  ASSERT_EQ(pass.processes.size(), 3U);
  EXPECT_EQ(pass.processes[2].iteration, 2);
  EXPECT_EQ(pass.processes[2].result->operations, 1U);
  const TrialRecord fail =
      run("cpu/selftest.exit_eleven/default/threads=1/iterations=3/lifetime=fresh");
  EXPECT_EQ(fail.processes.size(), 1U);
  EXPECT_EQ(fail.judgement.outcome, Outcome::exit);
}

TEST_F(ExecutorTest, AMissingWorkerIsNoEvidence) {
  worker_.path = "/nonexistent/worker";
  const TrialRecord trial = misbehave("pass");
  EXPECT_EQ(trial.judgement.outcome, Outcome::infrastructure);
  EXPECT_THAT(trial.judgement.detail, HasSubstr("No such file"));
}

TEST_F(ExecutorTest, AProgramThatIsNoWorkerIsASetUpFailureOrMissing) {
  worker_.path = "/usr/bin/true";
  EXPECT_EQ(misbehave("pass").judgement.outcome, Outcome::missing);
}

TEST_F(ExecutorTest, AnotherLibraryThanAtTheStartIsASetUpFailure) {
  worker_.describe["provenance"]["torch"] = {{"version", "2.11.0"}, {"build_id", "0123"}};
  const TrialRecord trial = misbehave("pass");
  EXPECT_EQ(trial.judgement.outcome, Outcome::setup_failed);
  EXPECT_THAT(trial.judgement.detail, HasSubstr("2.11.0"));
}

TEST_F(ExecutorTest, AnInterruptEndsTheTrialAndMakesItNoEvidence) {
  limits_.stall = 60;
  std::thread interrupt([this] {
    // The deadlock is reached within milliseconds; when exactly does not matter here.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    interrupted_.store(true);
  });
  const TrialRecord trial = misbehave("deadlock");
  interrupt.join();
  EXPECT_EQ(trial.judgement.outcome, Outcome::not_run);
  EXPECT_EQ(trial.processes[0].ended_by, EndedBy::user);
}

TEST_F(ExecutorTest, NoDescriptorIsLeftOpen) {
  const auto open_descriptors = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
  };
  misbehave("pass");
  const int before = open_descriptors();
  misbehave("pass");
  misbehave("null_dereference");
  misbehave("grandchild_session");
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace mpsprobe

// However a process is started, what it does is told as of any other, and nothing stays behind.
#include "harness/executor/worker_starts.h"

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

#include "harness/executor/misbehaving_worker_for_tests.h"
#include "harness/platform/system.h"
#include "harness/process/descendants.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string cell_of(const std::string& name, const std::string& axes = "threads=2") {
  return "cpu/selftest." + name + "/default/" + axes;
}

class WorkerStartsTest : public MisbehavingWorker,
                         public testing::WithParamInterface<StartProcess> {
 protected:
  void SetUp() override {
    const std::string why = why_not_started_by(GetParam(), worker_);
    if (!why.empty()) GTEST_SKIP() << why;  // a sanitizer's thread, macOS
  }

  /// The second of two trials: processes that stand by, stand by for it.
  TrialRecord second(const std::string& cell) const {
    const Executor executor(limits_, extra_, interrupted_, nullptr, GetParam());
    executor.run(request(cell_of("pass", cell.substr(cell.rfind("threads")))));
    return executor.run(request(cell));
  }

  void expect_started(const TrialRecord& trial) const {
    for (const ProcessRecord& process : trial.processes) {
      EXPECT_EQ(process.start, GetParam()) << process.start_remark;
      EXPECT_EQ(process.start_remark, "");
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, WorkerStartsTest,
                         testing::Values(StartProcess::exec, StartProcess::standby,
                                         StartProcess::fork),
                         [](const auto& way) { return std::string(name_of(way.param)); });

TEST_P(WorkerStartsTest, APassIsStartedInThatWayAndSaysSo) {
  const TrialRecord trial = second(cell_of("pass"));
  EXPECT_EQ(trial.judgement.outcome, Outcome::pass) << trial.judgement.detail;
  EXPECT_EQ(trial.processes.at(0).result->operations, 20U);
  EXPECT_GT(trial.processes.at(0).usage.max_rss_bytes, 100'000U);
  EXPECT_LE(trial.processes.at(0).seconds, trial.seconds);
  expect_started(trial);
}

TEST_P(WorkerStartsTest, ACrashIsToldWithItsThreadAndFunction) {
  const TrialRecord trial = second(cell_of("null_dereference"));
  EXPECT_EQ(trial.judgement.detail, "SIGSEGV");
  EXPECT_EQ(trial.judgement.phase, Phase::run);
#ifndef MPSPROBE_SANITIZED  // a sanitizer puts its own handler in the place of ours
  const RecorderReading& recorder = trial.processes.at(0).recorder;
  EXPECT_EQ(recorder.crash.thread, 1);
  EXPECT_EQ(recorder.crash.address, 0x5c8U);
  EXPECT_THAT(trial.judgement.signature, HasSubstr("null_dereference"));
#endif
  expect_started(trial);
}

TEST_P(WorkerStartsTest, TextBeforeADeathIsCaptured) {
  const TrialRecord trial = second(cell_of("abort_encoder"));
  EXPECT_EQ(trial.judgement.outcome, Outcome::assertion);
  EXPECT_THAT(trial.processes.at(0).err.text(), HasSubstr("encoder"));
  expect_started(trial);
}

TEST_P(WorkerStartsTest, AHangIsEndedWithTheStacksOfItsThreads) {
  const TrialRecord trial = second(cell_of("deadlock"));
  EXPECT_EQ(trial.judgement.outcome, Outcome::hang);
  EXPECT_EQ(trial.processes.at(0).ended_by, EndedBy::no_progress);
  EXPECT_EQ(trial.processes.at(0).recorder.inquest, Inquest::done);
  EXPECT_GE(trial.processes.at(0).stacks.threads.size(), 2U);
  expect_started(trial);
}

TEST_P(WorkerStartsTest, ExitCodesAndSignalsAreThoseOfTheProcess) {
  EXPECT_EQ(second(cell_of("exit_eleven")).processes.at(0).termination, Termination(Exited{11}));
  EXPECT_EQ(second(cell_of("killed")).processes.at(0).termination,
            Termination(Signaled{SIGKILL, false}));
  EXPECT_EQ(second(cell_of("crash_early")).judgement.phase, Phase::startup);
  EXPECT_EQ(second(cell_of("crash_teardown")).judgement.phase, Phase::teardown);
  EXPECT_EQ(second(cell_of("exit_zero")).judgement.outcome, Outcome::missing);
}

TEST_P(WorkerStartsTest, MemoryIsLimited) {
  limits_.memory_bytes = uint64_t{256} << 20;
  limits_.stall = 60;
  const TrialRecord trial = second(cell_of("memory"));
  EXPECT_EQ(trial.judgement.outcome, Outcome::out_of_memory);
  EXPECT_EQ(trial.processes.at(0).ended_by, EndedBy::memory_limit);
  expect_started(trial);
}

TEST_P(WorkerStartsTest, ProcessesOfATrialStartTogether) {
  const TrialRecord trial = second(cell_of("pass", "threads=1/processes=4"));
  EXPECT_EQ(trial.judgement.outcome, Outcome::pass) << trial.judgement.detail;
  ASSERT_EQ(trial.processes.size(), 4U);
  expect_started(trial);
}

TEST_P(WorkerStartsTest, EachIterationOfAFreshLifetimeHasAProcess) {
  const TrialRecord trial = second(cell_of("pass", "threads=1/iterations=3/lifetime=fresh"));
  ASSERT_EQ(trial.processes.size(), 3U);
  EXPECT_NE(trial.processes[1].pid, trial.processes[2].pid);
  EXPECT_EQ(trial.processes[2].iteration, 2);
  expect_started(trial);
}

#ifdef __linux__
TEST_P(WorkerStartsTest, NobodyStaysBehind) {
  for (const char* name : {"grandchild_session", "grandchild", "ignores_sigterm"}) {
    const TrialRecord trial = second(cell_of(name));
    // A grandchild was still there at the trial's end, and is not now.
    EXPECT_EQ(trial.processes.at(0).left_descendants, name != std::string("ignores_sigterm"));
    errno = 0;
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << name << " left a child, alive or dead";
    EXPECT_EQ(errno, ECHILD);
  }
}

std::string process_file(pid_t pid, const char* name) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The child of this process whose first argument that is; -1 where there is none.
pid_t child_called(const std::string& argument) {
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t pid = 0; list >> pid;) {
      if (process_file(pid, "cmdline").find('\0' + argument + '\0') != std::string::npos)
        return pid;
    }
  }
  return -1;
}

class ForkServerTest : public MisbehavingWorker {
 protected:
  void SetUp() override {
    const std::string why = why_not_started_by(StartProcess::fork, worker_);
    if (!why.empty()) GTEST_SKIP() << why;
  }

  /// A worker that does this where it is to fork, and is the usual one otherwise.
  void fork_instead_by(const std::string& commands) {
    script_ = fs::path(testing::TempDir()) / ("worker-" + std::to_string(getpid()));
    std::ofstream(script_) << "#!/bin/sh\nif [ \"$1\" = fork ]; then\n"
                           << commands << "\nfi\nexec " << path() << " \"$@\"\n";
    fs::permissions(script_, fs::perms::owner_all);
    worker_.path = script_;
  }
  ~ForkServerTest() override {
    std::error_code error;
    if (!script_.empty()) fs::remove(script_, error);
  }

  void expect_executed(const TrialRecord& trial, const std::string& why) const {
    EXPECT_EQ(trial.judgement.outcome, Outcome::pass) << trial.judgement.detail;
    EXPECT_EQ(trial.processes.at(0).start, StartProcess::exec);
    EXPECT_THAT(trial.processes.at(0).start_remark, HasSubstr(why));
  }

  fs::path script_;
};

TEST_F(ForkServerTest, OneThatDiesBetweenTrialsLosesNoneAndIsReplaced) {
  const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::fork);
  executor.run(request(cell_of("pass")));
  kill(child_called("fork"), SIGKILL);
  expect_executed(executor.run(request(cell_of("pass"))), "SIGKILL");
  EXPECT_EQ(executor.run(request(cell_of("pass"))).processes.at(0).start, StartProcess::fork);
}

TEST_F(ForkServerTest, OneThatDiesDuringATrialDoesNotMatterToIt) {
  const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::fork);
  executor.run(request(cell_of("pass")));
  const pid_t server = child_called("fork");
  TrialRecord trial;
  std::thread running([&] { trial = executor.run(request(cell_of("deadlock"))); });
  kill(server, SIGKILL);
  running.join();
  EXPECT_EQ(trial.judgement.outcome, Outcome::hang);
}

TEST_F(ForkServerTest, OneThatCannotServeIsGivenUpAndEveryTrialIsExecuted) {
  fork_instead_by("exit 9");
  const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::fork);
  for (int i = 0; i < 5; ++i) expect_executed(executor.run(request(cell_of("pass"))), "code 9");
}

TEST_F(ForkServerTest, OneThatRefusesIsToldInItsWords) {
  fork_instead_by("printf '{\"refused\": \"it has 2 threads\"}' >&3; sleep 20");
  const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::fork);
  expect_executed(executor.run(request(cell_of("pass"))), "it has 2 threads");
  expect_executed(executor.run(request(cell_of("pass"))), "it has 2 threads");
}

TEST_F(ForkServerTest, ANumberOfAnotherProcessIsNotBelieved) {
  for (const char* number : {"1", "$PPID", "-1", "99999999999", "\\\"x\\\""}) {
    fork_instead_by("printf \"{\\\"pid\\\": " + std::string(number) + "}\" >&3; sleep 20");
    const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::fork);
    expect_executed(executor.run(request(cell_of("pass"))), "the fork server");
  }
}

TEST_F(ForkServerTest, AForkedProcessHasItsOwnGroupAndItsOwnMark) {
  const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::fork);
  executor.run(request(cell_of("pass")));
  const pid_t server = child_called("fork");
  const std::string mark = "MPSPROBE_PROCESS=";
  const std::string of_server = process_file(server, "environ");
  // The trial leaves a process in a session of its own, found by the mark of the trial alone.
  const TrialRecord trial = executor.run(request(cell_of("grandchild_session")));
  EXPECT_EQ(trial.processes.at(0).start, StartProcess::fork);
  EXPECT_TRUE(trial.processes.at(0).left_descendants);
  EXPECT_EQ(child_called("fork"), server) << "the server was ended with the trial";
  EXPECT_EQ(process_file(server, "environ"), of_server);
  EXPECT_NE(of_server.find(mark), std::string::npos);
}

TEST_F(ForkServerTest, ItServesBelowAnotherRunner) {
  // Whose mark, of another length, it has inherited.
  extra_.emplace_back("MPSPROBE_PROCESS=1-000000000000");
  const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::fork);
  const TrialRecord trial = executor.run(request(cell_of("grandchild_session")));
  EXPECT_EQ(trial.processes.at(0).start, StartProcess::fork);
  EXPECT_EQ(trial.judgement.outcome, Outcome::pass) << trial.judgement.detail;
  EXPECT_TRUE(trial.processes.at(0).left_descendants);
}

TEST_F(ForkServerTest, ATrialThatOutlivesItsExecutorsServerIsStillWaitedFor) {
  // More environments than servers are kept: the oldest server goes, its trials do not.
  const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::fork);
  for (int i = 0; i < 10; ++i) {
    const std::string cell = cell_of("pass", "threads=2/env.PLANTED=" + std::to_string(i));
    const TrialRecord trial = executor.run(request(cell));
    EXPECT_EQ(trial.judgement.outcome, Outcome::pass) << trial.judgement.detail;
    EXPECT_EQ(trial.processes.at(0).start, StartProcess::fork);
  }
}

class StandbyTest : public MisbehavingWorker {};

TEST_F(StandbyTest, OneThatDiesBeforeItsTurnCostsNoTrial) {
  const Executor executor(limits_, extra_, interrupted_, nullptr, StartProcess::standby);
  executor.run(request(cell_of("pass")));
  const pid_t waiting = child_called("standby");
  ASSERT_GT(waiting, 0);
  kill(waiting, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(waiting), &info, WEXITED | WNOWAIT);
  const TrialRecord trial = executor.run(request(cell_of("pass")));
  EXPECT_EQ(trial.judgement.outcome, Outcome::pass);
  EXPECT_EQ(trial.processes.at(0).start, StartProcess::exec);
  EXPECT_THAT(trial.processes.at(0).start_remark, HasSubstr("ended before"));
}
#endif

TEST(WhyNotStartedBy, AWorkerThatDoesNotNameAWayIsExecuted) {
  WorkerInfo old;
  old.describe = nlohmann::json::object();
  EXPECT_EQ(why_not_started_by(StartProcess::exec, old), "");
  EXPECT_THAT(why_not_started_by(StartProcess::standby, old), HasSubstr("starts"));
  EXPECT_NE(why_not_started_by(StartProcess::fork, old), "");
  if (!takes_orphans()) return;
  old.describe = {{"starts", {"standby"}}, {"no_fork", "it has 3 threads"}};
  EXPECT_EQ(why_not_started_by(StartProcess::fork, old), "it has 3 threads");
  EXPECT_EQ(why_not_started_by(StartProcess::standby, old), "");
}

}  // namespace
}  // namespace mpsprobe

// Ground truth: the simulated device preloaded into an unmodified LibTorch program, in fresh
// processes.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::HasSubstr;

#ifdef __APPLE__
constexpr const char* kPreload = "DYLD_INSERT_LIBRARIES";
#else
constexpr const char* kPreload = "LD_PRELOAD";
#endif

struct Ended {
  int exit_code = -1;  ///< -1 where a signal ended it
  int signal = 0;
  bool stuck = false;  ///< ended by this test at the deadline
  std::string text;    ///< stdout and stderr
};

std::string profile(const std::string& name) {
  return MPSPROBE_SOURCE_DIR "/scenarios/sim/profiles/" + name + ".json";
}

Ended run_program(const std::string& profile_path, std::vector<std::string> arguments,
                  const std::vector<std::pair<std::string, std::string>>& environment = {},
                  std::chrono::milliseconds limit = std::chrono::seconds(30)) {
  arguments.insert(arguments.begin(), MPSPROBE_SIM_PROGRAM);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int channel[2];
  EXPECT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(channel[1], STDOUT_FILENO);
    dup2(channel[1], STDERR_FILENO);
    close(channel[0]);
    close(channel[1]);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    setenv(kPreload, MPSPROBE_SIM_LIBRARY, 1);
    setenv("MPSPROBE_SIM_PROFILE", profile_path.c_str(), 1);
    for (const auto& [key, value] : environment) setenv(key.c_str(), value.c_str(), 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(channel[1]);
  Ended run;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waiting{channel[0], POLLIN, 0};
    if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) == 0) {
      run.stuck = true;
      kill(child, SIGKILL);
      break;
    }
    char buffer[4096];
    const ssize_t count = read(channel[0], buffer, sizeof(buffer));
    if (count <= 0) break;
    run.text.append(buffer, static_cast<size_t>(count));
  }
  close(channel[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
  return run;
}

// Iterations of threads that are to be in one place at a time: where cores are short, they may miss
// each other in several.
const char* const kUntilTheyMeet = "100";

// Report 000's table: (path, threads) -> whether every process dies of SIGSEGV.
struct TableCell {
  const char* path;
  int threads;
  bool dies;

  friend void PrintTo(const TableCell& cell, std::ostream* out) {
    *out << cell.path << " from " << cell.threads << " threads";
  }
};

class ReportTable : public testing::TestWithParam<TableCell> {};

TEST_P(ReportTable, ComesOutTheSameInTenOfTenProcesses) {
  const TableCell& cell = GetParam();
  const char* const iterations = cell.dies ? kUntilTheyMeet : "10";
  for (int i = 0; i < 10; ++i) {
    const Ended run =
        run_program(profile("report-000"), {std::to_string(cell.threads), cell.path, iterations});
    EXPECT_THAT(run.text, HasSubstr("SIMULATED"));
    EXPECT_EQ(run.signal, cell.dies ? SIGSEGV : 0) << run.text;
    EXPECT_EQ(run.exit_code, cell.dies ? -1 : 0) << run.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Simulation, ReportTable,
                         testing::Values(TableCell{"nograph", 2, false},
                                         TableCell{"nograph", 3, true},
                                         TableCell{"nograph", 4, true},
                                         TableCell{"graph", 3, false}, TableCell{"graph", 4, true},
                                         TableCell{"raw", 8, false}),
                         [](const auto& cell) {
                           return std::string(cell.param.path) + std::to_string(cell.param.threads);
                         });

TEST(Simulation, TheForksVariableForcesTheGraphPath) {
  const std::vector<std::string> contiguous = {"3", "nograph", kUntilTheyMeet};
  EXPECT_EQ(run_program(profile("report-000"), contiguous).signal, SIGSEGV);
  EXPECT_EQ(
      run_program(profile("report-000"), contiguous, {{"MPS_FORCE_GRAPH_PATH", "1"}}).exit_code, 0);
}

TEST(Simulation, TheCleanProfileChangesNothing) {
  for (const char* mode : {"nograph", "graph", "raw"}) {
    const Ended run = run_program(profile("clean"), {"8", mode, "100"});
    EXPECT_EQ(run.exit_code, 0) << run.text;
    EXPECT_THAT(run.text, HasSubstr("8 threads, 0 wrong, 0 exceptions"));
  }
}

TEST(Simulation, StockPyTorchAbortsInTheRawOperations) {
  const Ended one = run_program(profile("report-002-stock"), {"1", "raw", "10"});
  EXPECT_EQ(one.exit_code, 0) << one.text;
  const Ended two = run_program(profile("report-002-stock"), {"2", "raw", kUntilTheyMeet});
  EXPECT_EQ(two.signal, SIGABRT);
  EXPECT_THAT(two.text, HasSubstr("-[_MTLCommandBuffer addScheduledHandler:]:806: failed assertion "
                                  "`Scheduled handler provided after commit call'"));
}

TEST(Simulation, TheForkAbortsInGraphs) {
  const Ended two = run_program(profile("report-004-fork"), {"2", "raw", kUntilTheyMeet});
  EXPECT_EQ(two.signal, SIGABRT);
  EXPECT_THAT(two.text, HasSubstr("commit command buffer with uncommitted encoder"));
  EXPECT_EQ(run_program(profile("report-004-fork"), {"2", "nograph", "10"}).exit_code, 0);
}

TEST(Simulation, WarmUpAvoidsTheInitialisationRace) {
  EXPECT_EQ(run_program(profile("lazy-init"), {"2", "nograph", "10"}).signal, SIGSEGV);
  EXPECT_EQ(run_program(profile("lazy-init"), {"8", "nograph", "10", "warm"}).exit_code, 0);
}

TEST(Simulation, AHangHangs) {
  const auto limit = std::chrono::milliseconds(3000);
  EXPECT_TRUE(run_program(profile("hang"), {"3", "nograph", kUntilTheyMeet}, {}, limit).stuck);
  EXPECT_EQ(run_program(profile("hang"), {"2", "nograph", "10"}).exit_code, 0);
}

TEST(Simulation, AStoppedDeviceHangsWhoeverWaitsForIt) {
  const auto limit = std::chrono::milliseconds(3000);
  // The program never synchronises: it waits once a stream has so much work that it is committed.
  EXPECT_TRUE(run_program(profile("gpu-hang"), {"3", "nograph", "100"}, {}, limit).stuck);
  EXPECT_EQ(run_program(profile("gpu-hang"), {"2", "nograph", "100"}).exit_code, 0);
}

TEST(Simulation, WrongNumbersAreVisibleToTheProgram) {
  const Ended two = run_program(profile("wrong-numbers"), {"2", "nograph", kUntilTheyMeet});
  EXPECT_EQ(two.exit_code, 4) << two.text;
  EXPECT_EQ(run_program(profile("wrong-numbers"), {"1", "nograph", "10"}).exit_code, 0);
}

TEST(Simulation, AnExceptionPassesThroughLibTorch) {
  const Ended two = run_program(profile("exception"), {"2", "nograph", kUntilTheyMeet});
  EXPECT_EQ(two.exit_code, 5) << two.text;
  EXPECT_THAT(two.text, HasSubstr("exception: A and B index not found"));
}

TEST(Simulation, AGpuErrorIsOnlyPrinted) {
  const Ended two = run_program(profile("gpu-error"), {"2", "nograph", kUntilTheyMeet});
  EXPECT_EQ(two.exit_code, 0) << two.text;
  EXPECT_THAT(two.text, HasSubstr("command buffer exited with error status"));
}

TEST(Simulation, ABrokenProfileStopsTheProgramBeforeMain) {
  const Ended missing = run_program("/does/not/exist.json", {"1", "raw", "1"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.text, HasSubstr("/does/not/exist.json: cannot be read"));
  EXPECT_THAT(missing.text, testing::Not(HasSubstr("threads,")));
}

}  // namespace

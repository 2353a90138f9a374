#include "scenarios/worker/leash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <chrono>
#include <functional>
#include <thread>

namespace mpsprobe {
namespace {

/// Closes what the leash reads. That is the misbehaviour, and ThreadSanitizer would call it a race.
void close_gate(int gate) {
#ifdef __linux__
  syscall(SYS_close, gate);
#else
  close(gate);
#endif
}

/// The exit code of a child that runs `act` with both ends of its gate.
int exit_code_of(const std::function<void(int gate, int runners_end)>& act) {
  const pid_t child = fork();
  if (child == 0) {
    int ends[2];
    if (pipe(ends) != 0) _exit(99);
    act(ends[0], ends[1]);
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST(Leash, EndsTheWorkerWhenTheRunnersEndIsClosed) {
  EXPECT_EQ(exit_code_of([](int gate, int runners_end) {
              const Leash leash(gate, [] {});
              close(runners_end);
              for (;;) pause();
            }),
            kOrphaned);
}

// What XNU does when a cell closes the gate: the read of the leash ends with 0.
TEST(Leash, LetsAWorkerGoOnThatClosedTheGateItself) {
  EXPECT_EQ(exit_code_of([](int gate, int runners_end) {
              const Leash leash(gate, [] {});
              close_gate(gate);
              close(runners_end);
              std::this_thread::sleep_for(std::chrono::milliseconds(100));
            }),
            0);
}

TEST(Leash, EndsAWorkerThatClosedTheGateWhenItsParentHasEnded) {
  int reader[2];
  int ready[2];
  ASSERT_EQ(pipe(reader), 0);
  ASSERT_EQ(pipe(ready), 0);
  char byte = 0;
  const pid_t runner = fork();
  if (runner == 0) {
    if (fork() == 0) {
      int ends[2];
      if (pipe(ends) != 0) _exit(99);
      const Leash leash(ends[0], [] {});
      if (write(ready[1], &byte, 1) != 1) _exit(99);
      close_gate(ends[0]);
      close(ends[1]);
      close(reader[0]);
      for (;;) pause();  // holds the pipe until the leash ends it
    }
    _exit(read(ready[0], &byte, 1) == 1 ? 0 : 99);  // only once the worker has its leash
  }
  ASSERT_EQ(waitpid(runner, nullptr, 0), runner);
  close(reader[1]);
  EXPECT_EQ(read(reader[0], &byte, 1), 0);  // comes when the last holder has ended
  for (const int fd : {reader[0], ready[0], ready[1]}) close(fd);
}

}  // namespace
}  // namespace mpsprobe

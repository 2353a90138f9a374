#include "harness/stack/process_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/stack/symboliser.h"

#ifdef __linux__
#include <sys/ptrace.h>

namespace mpsprobe::process_stack_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

__attribute__((noinline)) void computes_for_ever() {
  for (;;) getppid();
}

/// A child that does `work`, ended with this.
class Process {
 public:
  explicit Process(void (*work)()) : pid_(fork()) {
    if (pid_ == 0) work();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(ProcessStack, ShowsWhereAProcessThatIsNoWorkerComputesAndLetsItGoOn) {
  const Process computing(computes_for_ever);
  Symboliser symboliser;
  for (int look = 0; look < 3; ++look) {
    usleep(20'000);
    const ProcessStack stack = process_stack(computing.pid(), computing.pid());
    if (!stack.refused.empty()) GTEST_SKIP() << "this machine allows no ptrace" << stack.refused;
    std::vector<std::string> functions;
    for (const StackFrame& frame : symboliser.symbolise(stack.frames)) {
      functions.push_back(frame.function);
    }
    EXPECT_THAT(functions, Contains(HasSubstr("computes_for_ever")));
    EXPECT_THAT(functions, Contains("main"));
  }
}

TEST(ProcessStack, SaysWhyItCannotBeRead) {
  const Process traced([] {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    for (;;) pause();
  });
  usleep(50'000);
  const ProcessStack stack = process_stack(traced.pid(), traced.pid());
  EXPECT_THAT(stack.frames, IsEmpty());
  EXPECT_THAT(stack.refused, HasSubstr("Operation not permitted"));
  EXPECT_THAT(process_stack(getpid(), getpid()).frames, IsEmpty());
}

}  // namespace mpsprobe::process_stack_test
#endif

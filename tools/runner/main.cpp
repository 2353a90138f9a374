#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "harness/provenance/executable.h"
#include "tools/runner/command_line.h"
#include "tools/runner/exit_code.h"

namespace {

// Below this the program itself may run out of stack, without a word.
constexpr rlim_t kStack = 512 << 10;
// Five descriptors for each process of a trial, times the jobs; macOS begins with 256.
constexpr rlim_t kDescriptors = 10'240;

// Signals that mean nothing here, end a process where nobody takes them, and that a worker may
// send.
constexpr std::array kMeaningless{SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO};

void pass_over(int) {
  static volatile sig_atomic_t said = 0;
  if (said != 0) return;
  said = 1;
  constexpr char kText[] =
      "mpsprobe: a signal came that says nothing here (SIGUSR1, SIGALRM or the like), perhaps from "
      "the code under test: passed over\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
}

/// What of the machine is missing without which no trial can be run, and what to do; "": nothing.
std::string missing_of_machine() {
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kStack) {
    stack.rlim_cur = std::min(stack.rlim_max, kStack);
    if (setrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur < kStack) {
      return fmt::format("the limit of the stack is {} KiB. Raise it: ulimit -s {}",
                         stack.rlim_cur >> 10, kStack >> 10);
    }
  }
#ifdef __linux__
  constexpr std::array kNeeded{"/dev/null", "/proc/self/exe"};
#else
  constexpr std::array kNeeded{"/dev/null"};
#endif
  for (const char* const path : kNeeded) {
    if (access(path, R_OK) == 0) continue;
    return fmt::format("{} cannot be used ({}), and processes are started with it. Mount {} here",
                       path, std::strerror(errno), path[1] == 'd' ? "/dev" : "/proc");
  }
  return mpsprobe::own_executable().empty() ? "the system does not tell where this program lies"
                                            : "";
}

/// Puts right what this process inherited and cannot work with: closed standard descriptors, an
/// ignored SIGCHLD, blocked signals, a low limit of open files. Ignores SIGPIPE and SIGXFSZ, which
/// errno tells where they can be dealt with.
void set_up_process() {
  // A closed one would be taken by the next file, which then received what is meant for a terminal.
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
  signal(SIGCHLD, SIG_DFL);  // ignored, it would take the status of every child away
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = pass_over;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int meaningless : kMeaningless) sigaction(meaningless, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < kDescriptors) {
    limit.rlim_cur = std::min(limit.rlim_max, kDescriptors);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

int main(int argc, char** argv) {
  set_up_process();
  if (const std::string missing = missing_of_machine(); !missing.empty()) {
    std::fprintf(stderr, "mpsprobe: %s\n", missing.c_str());
    return mpsprobe::kExitMachine;
  }
  return mpsprobe::command_line(argc, argv);
}

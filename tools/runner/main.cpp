#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "tools/runner/command_line.h"

namespace {

// Five descriptors for each process of a trial, times the jobs; macOS begins with 256.
constexpr rlim_t kDescriptors = 10'240;

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
  return mpsprobe::command_line(argc, argv);
}

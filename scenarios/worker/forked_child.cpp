#include "scenarios/worker/forked_child.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "harness/wire/event.h"
#include "scenarios/evidence/crash_handler.h"
#include "scenarios/threads/threads.h"
#include "scenarios/worker/leash.h"
#include "scenarios/worker/work_alone.h"

namespace mpsprobe {
namespace {

/// The leash's thread is the parent's, and what the gate says is for the parent to read.
void end_with_runner() {
  std::thread([] {
    pollfd gate{kGateFd, 0, 0};
    while (poll(&gate, 1, -1) < 0 && errno == EINTR) {
    }
    _exit(kOrphaned);
  }).detach();
}

[[noreturn]] void be_the_child(ForkedChild child, Lane& lane, int iteration,
                               FlightRecorder& recorder, Channel& channel) {
  if (child == ForkedChild::idle) _exit(0);
  end_with_runner();
  const CrashContext context(recorder_layout::kMainThread);
  try {
    work_alone(lane, iteration, "in a forked child: ", recorder, channel);
  } catch (...) {
    FailureEvent failure;
    failure.kind = kind_of_current_exception(failure.text);
    failure.phase = name_of(recorder.phase());
    failure.iteration = iteration;
    failure.operation = lane.operation();
    channel.send(failure);
  }
  _exit(0);
}

/// The child's handler has noted the crash: this process's must not note its own.
[[noreturn]] void die_of(int signal) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

}  // namespace

void run_forked_child(ForkedChild child, Lane& lane, int iteration, FlightRecorder& recorder,
                      Channel& channel) {
  const pid_t pid = fork();
  if (pid < 0) throw SetupError(std::string("no child could be forked: ") + std::strerror(errno));
  if (pid == 0) be_the_child(child, lane, iteration, recorder, channel);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      throw SetupError(std::string("the forked child cannot be waited for: ") +
                       std::strerror(errno));
    }
  }
  if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) _exit(WEXITSTATUS(status));
}

}  // namespace mpsprobe

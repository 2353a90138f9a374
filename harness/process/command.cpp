#include "harness/process/command.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "harness/process/spawn.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostOut = 4 << 20;
constexpr size_t kMostErr = 64 << 10;

void read_some(Descriptor& descriptor, std::string& text, size_t most) {
  char buffer[16384];
  const ssize_t got = read(descriptor.get(), buffer, sizeof(buffer));
  if (got > 0) {
    text.append(buffer, std::min(static_cast<size_t>(got), most - text.size()));
  } else if (got == 0 || errno != EINTR) {
    descriptor.reset();
  }
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& arguments, double seconds,
                          const std::vector<std::string>& environment) {
  using Clock = std::chrono::steady_clock;
  CommandResult result;
  SpawnResult spawned;
  Pipe out;
  Pipe err;
  try {
    out = make_pipe();
    err = make_pipe();
    spawned = spawn({arguments,
                     environment,
                     {{out.write.get(), STDOUT_FILENO}, {err.write.get(), STDERR_FILENO}}});
  } catch (const std::system_error& error) {
    spawned.error = error.code().value();
  }
  if (spawned.error != 0) {
    result.termination = NotSpawned{spawned.error, std::generic_category().message(spawned.error)};
    return result;
  }
  out.write.reset();
  err.write.reset();
  const Clock::time_point begin = Clock::now();
  const auto since = [begin] {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  int status = 0;
  double ended_at = -1;  // negative: it still runs
  // After its end, what it left in the pipes is read for a moment; whoever holds them open is not
  // it.
  while (ended_at < 0 || (since() - ended_at < 1 && (out.read.is_open() || err.read.is_open()))) {
    if (ended_at < 0 && since() > seconds) {
      result.timed_out = true;
      kill(-spawned.pid, SIGKILL);
      kill(spawned.pid, SIGKILL);  // it may have left its group
    }
    pollfd polled[2] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}};
    const int ready = poll(polled, 2, 5);  // a closed descriptor is -1, which poll leaves alone
    if (out.read.is_open() && polled[0].revents != 0) read_some(out.read, result.out, kMostOut);
    if (err.read.is_open() && polled[1].revents != 0) read_some(err.read, result.err, kMostErr);
    if (ended_at < 0) {
      const pid_t got = waitpid(spawned.pid, &status, WNOHANG);
      if (got == spawned.pid || (got < 0 && errno == ECHILD)) {
        ended_at = since();
        StartedProcesses().reaped(spawned.pid);
      }
    } else if (ready <= 0) {
      break;
    }
  }
  result.termination = termination_from_status(status);
  return result;
}

}  // namespace mpsprobe

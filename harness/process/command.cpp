#include "harness/process/command.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "harness/executor/environment.h"
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

CommandResult run_command(const std::vector<std::string>& arguments, double seconds) {
  using Clock = std::chrono::steady_clock;
  CommandResult result;
  SpawnResult spawned;
  Pipe out;
  Pipe err;
  try {
    out = make_pipe();
    err = make_pipe();
    spawned = spawn({arguments,
                     inherited_environment(),
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
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  int status = 0;
  bool ended = false;
  while (!ended || out.read.is_open() || err.read.is_open()) {
    if (!result.timed_out && Clock::now() > end) {
      result.timed_out = true;
      kill(-spawned.pid, SIGKILL);
    }
    pollfd polled[2] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}};
    const int ready = poll(polled, 2, 5);  // a closed descriptor is -1, which poll leaves alone
    if (out.read.is_open() && polled[0].revents != 0) read_some(out.read, result.out, kMostOut);
    if (err.read.is_open() && polled[1].revents != 0) read_some(err.read, result.err, kMostErr);
    if (!ended && waitpid(spawned.pid, &status, WNOHANG) == spawned.pid) ended = true;
    // Nothing more to read: whatever still holds the pipes is not the command.
    if (ended && ready <= 0) break;
  }
  result.termination = termination_from_status(status);
  return result;
}

}  // namespace mpsprobe

#include "harness/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

namespace mpsprobe {
namespace {

// The child's descriptors are 0 to 5: ours lie above, so that no dup2 in the child overwrites one
// that a later dup2 still needs.
constexpr int kLowestOwn = 16;

Descriptor moved_up(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kLowestOwn);
  const int error = errno;
  close(fd);
  // EINVAL: the limit of descriptors lies below what is asked for.
  if (high < 0) {
    throw std::system_error(error == EINVAL ? EMFILE : error, std::generic_category(),
                            "duplicate a pipe end");
  }
  return Descriptor(high);
}

std::mutex& started_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::set<pid_t>& started_set() {
  static std::set<pid_t> started;
  return started;
}

}  // namespace

StartedProcesses::StartedProcesses() : lock_(started_mutex()) {}

bool StartedProcesses::contains(pid_t pid) const {
  return started_set().contains(pid);
}

void StartedProcesses::started(pid_t pid) {
  started_set().insert(pid);
}

void StartedProcesses::reaped(pid_t pid) {
  started_set().erase(pid);
}

Pipe make_pipe() {
  int ends[2];
#ifdef __linux__
  const int result = pipe2(ends, O_CLOEXEC);
#else
  const int result = pipe(ends);
#endif
  if (result != 0) throw std::system_error(errno, std::generic_category(), "create a pipe");
  Pipe made;
  made.write = Descriptor(ends[1]);  // closed where the other end cannot be moved
  made.read = moved_up(ends[0]);
  made.write = moved_up(made.write.release());
  return made;
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

SpawnResult spawn(const SpawnRequest& request) {
  const std::vector<char*> arguments = exec_pointers(request.arguments);
  const std::vector<char*> environment = exec_pointers(request.environment);
  StartedProcesses processes;
  // From here to where they are given back nothing throws.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  [[maybe_unused]] int highest = STDERR_FILENO;
  for (const auto& [ours, theirs] : request.descriptors) {
    posix_spawn_file_actions_adddup2(&actions, ours, theirs);
    highest = std::max(highest, theirs);
  }
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
  // Ours are close-on-exec; what the runner itself inherited may not be.
  posix_spawn_file_actions_addclosefrom_np(&actions, highest + 1);
#endif
#endif
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#ifdef __APPLE__
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;  // what was not asked for stays closed
#endif
  posix_spawnattr_setflags(&attributes, flags);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  SpawnResult result;
  result.error = posix_spawn(&result.pid, arguments[0], &actions, &attributes, arguments.data(),
                             environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (result.error != 0) {
    result.pid = -1;
  } else {
    processes.started(result.pid);
  }
  return result;
}

}  // namespace mpsprobe

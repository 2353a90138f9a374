#include "scenarios/worker/fork_trials.h"

#include "harness/input/json_text.h"
#include "harness/wire/assignment.h"
#include "scenarios/worker/leash.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/wire/event.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

// In this order they come with a message.
constexpr std::array kTrialFds{STDOUT_FILENO, STDERR_FILENO, kRecorderFd, kEventsFd, kGateFd};
// Above every descriptor that a trial has.
constexpr int kAside = 16;
constexpr size_t kMostMark = 256;

/// What was forked, or the negative error: memory that both share.
using Answer = volatile pid_t;

struct Request {
  std::string mark;
  std::array<int, kTrialFds.size()> descriptors{};
};

Request next_request() {
  Request request;
  request.mark.resize(kMostMark);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(request.descriptors))> control{};
  iovec text{request.mark.data(), request.mark.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = recvmsg(kControlFd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(request.descriptors))) {
    _exit(kOrphaned);
  }
  request.mark.resize(static_cast<size_t>(got));
  std::memcpy(request.descriptors.data(), CMSG_DATA(header), sizeof(request.descriptors));
  return request;
}

void answer(const nlohmann::json& object) {
  const std::string text = ascii_json_text(object);
  if (send(kControlFd, text.data(), text.size(), MSG_NOSIGNAL) < 0) _exit(kOrphaned);
}

/// The variable that tells whose a process is, written over the server's own: the system shows the
/// memory where the environment lay at the start. The server's is the last of that name: those
/// before it are of runners that this one runs below.
void take_mark(const std::string& mark) {
  const size_t equals = mark.find('=');
  if (equals == std::string::npos) return;
  const std::string_view name(mark.data(), equals + 1);
  char* own = nullptr;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with(name)) own = *entry;
  }
  if (own == nullptr || std::strlen(own) != mark.size()) _exit(kOrphaned);
  std::copy(mark.begin(), mark.end(), own);
}

void become_trial(const Request& request) {
  setpgid(0, 0);
  take_mark(request.mark);
  std::array<int, kTrialFds.size()> aside{};
  for (size_t i = 0; i < aside.size(); ++i) {
    aside[i] = fcntl(request.descriptors[i], F_DUPFD_CLOEXEC, kAside);
    close(request.descriptors[i]);
  }
  close(kControlFd);
  for (size_t i = 0; i < aside.size(); ++i) {
    if (dup2(aside[i], kTrialFds[i]) < 0) _exit(kOrphaned);
    close(aside[i]);
  }
}

/// Forks twice: the process in between ends at once, and the runner, to whom orphans come, is the
/// parent of the trial. True in the trial.
bool fork_trial(const Request& request, Answer& forked) {
  std::fflush(nullptr);  // what stands in buffers would be written twice
  forked = -EAGAIN;
  const pid_t between = fork();
  if (between == 0) {
    const pid_t trial = fork();
    if (trial == 0) {
      become_trial(request);
      return true;
    }
    if (trial > 0) setpgid(trial, trial);
    forked = trial > 0 ? trial : -errno;
    _exit(0);
  }
  if (between < 0) forked = -errno;
  while (between > 0 && waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  for (const int descriptor : request.descriptors) close(descriptor);
  return false;
}

/// Handlers of exit() run in reverse: those of the trial first, then this one, and none of what was
/// loaded before it. LibTorch takes a tenth of a second to take its tables of operators apart, of
/// which each page would first have to be copied.
void end_here(int status, void*) {
  std::fflush(nullptr);
  _exit(status);
}

size_t thread_count() {
  std::error_code gone;
  const auto tasks = fs::directory_iterator("/proc/self/task", gone);
  return static_cast<size_t>(std::distance(begin(tasks), fs::directory_iterator()));
}

/// How many there are when this process forks: libraries that mind it end theirs before, as
/// OpenBLAS does, which numpy loads. Whether they do is seen by a fork that comes to nothing.
size_t threads_at_a_fork() {
  if (const size_t count = thread_count(); count == 1) return count;
  const pid_t nobody = fork();
  if (nobody == 0) _exit(0);
  while (nobody > 0 && waitpid(nobody, nullptr, 0) < 0 && errno == EINTR) {
  }
  return thread_count();
}

/// The file of a GPU that this process has open; "" where it has none.
std::string open_gpu() {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", gone)) {
    const std::string file = fs::read_symlink(entry.path(), gone).string();
    for (const char* device : {"/dev/nvidia", "/dev/dri/", "/dev/kfd"}) {
      if (file.starts_with(device)) return file;
    }
  }
  return "";
}

}  // namespace

std::string why_not_to_fork() {
  if (const size_t count = threads_at_a_fork(); count != 1) {
    return "the worker has " + std::to_string(count) +
           " threads after loading its library, and only one is copied by a fork";
  }
  const std::string device = open_gpu();
  return device.empty() ? "" : "the worker has " + device + " open: a fork would share the device";
}

void serve_forks() {
  void* const shared =
      mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) _exit(kOrphaned);
  if (on_exit(end_here, nullptr) != 0) _exit(kOrphaned);
  fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  auto& forked = *static_cast<Answer*>(shared);
  for (;;) {
    const Request request = next_request();
    if (const std::string why = why_not_to_fork(); !why.empty()) {
      for (const int descriptor : request.descriptors) close(descriptor);
      answer({{"refused", why}});
      continue;
    }
    if (fork_trial(request, forked)) break;
    if (forked > 0) {
      answer({{"pid", static_cast<pid_t>(forked)}});
    } else {
      answer({{"failed", std::strerror(-forked)}});
    }
  }
  munmap(shared, sizeof(pid_t));
}

}  // namespace mpsprobe
#else
#include <unistd.h>

namespace mpsprobe {

std::string why_not_to_fork() {
  return "this system has no safe fork without exec";
}

void serve_forks() {
  _exit(kOrphaned);
}

}  // namespace mpsprobe
#endif

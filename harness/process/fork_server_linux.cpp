#ifdef __linux__
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/input/json_text.h"
#include "harness/process/descendants.h"
#include "harness/process/fork_server.h"
#include "harness/record/process_record.h"
#include "harness/wire/assignment.h"

namespace mpsprobe {
namespace {

constexpr int kLookMs = 20;
constexpr int kTicksToEnd = 50;
constexpr useconds_t kTickMicroseconds = 1000;
constexpr size_t kMostAnswer = 4096;
constexpr size_t kMostDescriptors = 8;

/// The same, numbered above what a child uses.
Descriptor duplicated_high(const Descriptor& low) {
  const int high = fcntl(low.get(), F_DUPFD_CLOEXEC, 16);
  if (high < 0) throw std::system_error(errno, std::generic_category(), "duplicate a descriptor");
  return Descriptor(high);
}

std::string end_in_words(int status) {
  const Termination end = termination_from_status(status);
  if (const auto* death = std::get_if<Signaled>(&end)) {
    return "the fork server was ended by " + signal_name(death->signal);
  }
  return "the fork server ended with code " + std::to_string(std::get<Exited>(end).code);
}

/// Whether that is a process for this one to wait for, and nobody's yet: what a server answers is
/// only a number. It is ours from now on.
bool adopt(pid_t pid) {
  StartedProcesses processes;
  siginfo_t info{};
  if (pid <= 1 || processes.contains(pid)) return false;
  if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
  processes.started(pid);
  return true;
}

}  // namespace

ForkServer::ForkServer(const std::vector<std::string>& arguments,
                       std::vector<std::string> environment)
    : mark_(mark_for_descendants()) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "create a socket");
  }
  const Descriptor ours_low(ends[0]);
  const Descriptor theirs_low(ends[1]);
  control_ = duplicated_high(ours_low);
  const Descriptor theirs = duplicated_high(theirs_low);
  const Descriptor null = duplicated_high(Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC)));
  environment.push_back(mark_);
  const SpawnResult spawned = spawn(
      {arguments,
       std::move(environment),
       {{null.get(), STDOUT_FILENO}, {null.get(), STDERR_FILENO}, {theirs.get(), kControlFd}}});
  if (spawned.error != 0) {
    throw std::system_error(spawned.error, std::generic_category(), "start " + arguments[0]);
  }
  pid_ = spawned.pid;
}

ForkServer::~ForkServer() {
  end();
}

ForkServer::Forked ForkServer::fork_trial(const std::vector<std::pair<int, int>>& descriptors,
                                          const std::string& mark, double seconds,
                                          const std::atomic<bool>& interrupted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pid_ <= 0) return {-1, ended_, false};
  std::string problem = ask(descriptors, mark);
  const std::string text = problem.empty() ? answer(seconds, interrupted, problem) : std::string();
  const nlohmann::json said = parsed_if_json(text);
  if (said.is_object() && said.contains("refused") && said["refused"].is_string()) {
    return {-1, said["refused"], true};
  }
  if (said.is_object() && said.contains("pid") && said["pid"].is_number_integer()) {
    const auto pid = said["pid"].get<int64_t>();
    if (pid == static_cast<pid_t>(pid) && adopt(static_cast<pid_t>(pid))) {
      return {static_cast<pid_t>(pid), "", false};
    }
    problem = "the fork server named a process that is no child of the runner";
  }
  if (problem.empty()) problem = "the fork server gave an answer that is none";
  end();
  // It may have forked and died before it said so. Until a forked process has its own mark it has
  // the server's.
  end_descendants(mark);
  return {-1, ended_.empty() ? problem : problem + ": " + ended_, false};
}

/// Empty, or why the server cannot be asked.
std::string ForkServer::ask(const std::vector<std::pair<int, int>>& descriptors,
                            const std::string& mark) {
  std::array<int, kMostDescriptors> passed{};
  const size_t count = std::min(descriptors.size(), passed.size());
  for (size_t i = 0; i < count; ++i) passed[i] = descriptors[i].first;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)> control{};
  iovec text{const_cast<char*>(mark.data()), mark.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * count);
  std::memcpy(CMSG_DATA(header), passed.data(), sizeof(int) * count);
  if (sendmsg(control_.get(), &message, MSG_NOSIGNAL) >= 0) return "";
  return std::string("the fork server cannot be asked: ") + std::strerror(errno);
}

std::string ForkServer::answer(double seconds, const std::atomic<bool>& interrupted,
                               std::string& problem) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    pollfd polled{control_.get(), POLLIN, 0};
    if (poll(&polled, 1, kLookMs) > 0) break;
    if (interrupted.load()) problem = "interrupted";
    if (Clock::now() > until) problem = "the fork server did not answer in time";
    if (!problem.empty()) return "";
  }
  std::string text(kMostAnswer, '\0');
  const ssize_t got = recv(control_.get(), text.data(), text.size(), 0);
  if (got <= 0) problem = "the fork server has gone";
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

void ForkServer::end() {
  if (pid_ <= 0) return;
  control_.reset();
  // One that has gone by itself shows how, a moment after its end of the socket is closed.
  int status = 0;
  pid_t reaped = 0;
  for (int i = 0; i < kTicksToEnd && reaped == 0; ++i) {
    if (i > 0) usleep(kTickMicroseconds);
    reaped = waitpid(pid_, &status, WNOHANG);
  }
  if (reaped == pid_) ended_ = end_in_words(status);
  kill(-pid_, SIGKILL);
  if (reaped == 0) {
    kill(pid_, SIGKILL);  // it may have left its group
    while ((reaped = waitpid(pid_, &status, 0)) < 0 && errno == EINTR) {
    }
  }
  StartedProcesses().reaped(pid_);
  end_descendants(mark_);
  pid_ = -1;
}

}  // namespace mpsprobe
#endif

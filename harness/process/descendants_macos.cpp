#ifdef __APPLE__
#include <fmt/format.h>
#include <libproc.h>
#include <signal.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "harness/process/descendants.h"

namespace mpsprobe {
namespace {

constexpr std::chrono::seconds kLongest{5};
constexpr uint32_t kLaunchd = 1;

/// As proc_listpids(3) lists them.
std::vector<pid_t> listed(uint32_t type, uint32_t of) {
  std::vector<pid_t> pids(static_cast<size_t>(std::max(0, proc_listpids(type, of, nullptr, 0))) /
                          sizeof(pid_t));
  const int bytes =
      proc_listpids(type, of, pids.data(), static_cast<int>(pids.size() * sizeof(pid_t)));
  pids.resize(static_cast<size_t>(std::max(0, bytes)) / sizeof(pid_t));
  return pids;
}

/// What the system says of a process that has not ended.
std::optional<proc_bsdinfo> info_of(pid_t pid) {
  proc_bsdinfo info{};
  const int got = proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof(info));
  if (got != static_cast<int>(sizeof(info))) return std::nullopt;
  return info;
}

/// Processes of this user that lost their parent since this one began: nothing older is its own.
std::vector<pid_t> orphans() {
  const auto self = info_of(getpid());
  std::vector<pid_t> pids = listed(PROC_UID_ONLY, geteuid());
  std::erase_if(pids, [&self](pid_t pid) {
    const auto info = info_of(pid);
    return !info || info->pbi_ppid != kLaunchd ||
           (self && info->pbi_start_tvsec < self->pbi_start_tvsec);
  });
  return pids;
}

/// The arguments and the environment that it was started with. A program that the system protects
/// shows no environment: such a one stays.
bool carries(pid_t pid, const std::string& mark) {
  int name[] = {CTL_KERN, KERN_PROCARGS2, pid};
  size_t length = 0;
  if (sysctl(name, 3, nullptr, &length, nullptr, 0) != 0) return false;
  std::string bytes(length, '\0');
  if (sysctl(name, 3, bytes.data(), &length, nullptr, 0) != 0) return false;
  bytes.resize(length);
  return bytes.find('\0' + mark + '\0') != std::string::npos;
}

}  // namespace

std::string mark_for_descendants() {
  static std::atomic<uint64_t> next{0};
  return fmt::format("MPSPROBE_PROCESS={}-{:012}", getpid(), next++);
}

bool takes_orphans() {
  return false;
}

bool others_in_group(pid_t leader) {
  const std::vector<pid_t> group = listed(PROC_PGRP_ONLY, static_cast<uint32_t>(leader));
  return std::any_of(group.begin(), group.end(),
                     [leader](pid_t pid) { return pid != leader && info_of(pid); });
}

size_t end_descendants(const std::string& mark) {
  const auto until = std::chrono::steady_clock::now() + kLongest;
  size_t ended = 0;
  for (bool any = true; any && std::chrono::steady_clock::now() < until;) {
    any = false;
    for (const pid_t pid : orphans()) {
      if (!carries(pid, mark)) continue;
      any = true;
      ++ended;
      kill(pid, SIGKILL);
      // launchd reaps it.
      while (kill(pid, 0) == 0 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }
  return ended;
}

}  // namespace mpsprobe
#endif

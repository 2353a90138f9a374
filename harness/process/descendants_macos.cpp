#ifdef __APPLE__
#include <fmt/format.h>
#include <libproc.h>
#include <signal.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "harness/process/descendants.h"

namespace mpsprobe {
namespace {

constexpr std::chrono::seconds kLongest{5};
constexpr uint32_t kLaunchd = 1;

/// Processes of this user that lost their parent since this one began: nothing older is its own.
std::vector<pid_t> orphans() {
  proc_bsdinfo self{};
  proc_pidinfo(getpid(), PROC_PIDTBSDINFO, 0, &self, sizeof(self));
  std::vector<pid_t> pids(
      static_cast<size_t>(std::max(0, proc_listpids(PROC_UID_ONLY, geteuid(), nullptr, 0))) /
      sizeof(pid_t));
  const int bytes = proc_listpids(PROC_UID_ONLY, geteuid(), pids.data(),
                                  static_cast<int>(pids.size() * sizeof(pid_t)));
  pids.resize(static_cast<size_t>(std::max(0, bytes)) / sizeof(pid_t));
  std::erase_if(pids, [&self](pid_t pid) {
    proc_bsdinfo info{};
    const int got = proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof(info));
    return got != static_cast<int>(sizeof(info)) || info.pbi_ppid != kLaunchd ||
           info.pbi_start_tvsec < self.pbi_start_tvsec;
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

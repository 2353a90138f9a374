#ifdef __linux__
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/process/descendants.h"
#include "harness/process/spawn.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

// A busy system may take seconds to free the memory of what was killed.
constexpr std::chrono::seconds kLongest{5};

/// Children of this process, whichever of its threads started or adopted them (proc(5)).
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code gone;  // a thread may end meanwhile
  for (const auto& thread : fs::directory_iterator("/proc/self/task", gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t pid = 0; list >> pid;) found.push_back(pid);
  }
  return found;
}

bool carries(pid_t pid, const std::string& mark) {
  std::ostringstream text;  // of a process that ends meanwhile, an iterator would throw
  text << std::ifstream(fmt::format("/proc/{}/environ", pid), std::ios::binary).rdbuf();
  const std::string environment = text.str();
  return environment.find('\0' + mark + '\0') != std::string::npos ||
         environment.starts_with(mark + '\0');
}

/// A dead or dying process has no environment to tell its mark by. What `spawn` did not start was
/// adopted; one that is dying is waited for.
void reap_dead_orphans(std::chrono::steady_clock::time_point until) {
  for (bool dying = true; dying;) {
    dying = false;
    {
      const StartedProcesses started;
      for (pid_t pid : children()) {
        if (started.contains(pid) || waitpid(pid, nullptr, WNOHANG) != 0) continue;
        std::ifstream environment(fmt::format("/proc/{}/environ", pid), std::ios::binary);
        dying = dying || environment.peek() == std::ifstream::traits_type::eof();
      }
    }
    if (dying && std::chrono::steady_clock::now() >= until) return;
    if (dying) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

bool takes_orphans() {
  static const bool taken = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
  return taken;
}

std::string mark_for_descendants() {
  static std::atomic<uint64_t> next{0};
  takes_orphans();  // where the kernel is too old for it, they stay
  return fmt::format("MPSPROBE_PROCESS={}-{:012}", getpid(), next++);
}

bool others_in_group(pid_t) {
  return false;
}

size_t end_descendants(const std::string& mark) {
  const auto until = std::chrono::steady_clock::now() + kLongest;
  size_t ended = 0;
  for (bool any = true; any && std::chrono::steady_clock::now() < until;) {
    any = false;
    for (pid_t pid : children()) {
      if (!carries(pid, mark)) continue;
      any = true;
      ++ended;
      kill(pid, SIGKILL);
      // Only it is waited for: other children are somebody else's. What it leaves comes to us next.
      while (waitpid(pid, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }
  reap_dead_orphans(until);
  return ended;
}

}  // namespace mpsprobe
#endif

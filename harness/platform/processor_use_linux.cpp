#ifdef __linux__
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "harness/platform/processor_use.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostProcesses = 1000;
constexpr size_t kMostNamed = 4;
constexpr size_t kMostWord = 80;

/// Calls `take` with the folder in /proc of each thread of a process.
void each_thread(pid_t pid, const std::function<void(const fs::path&)>& take) {
  std::error_code gone;
  for (fs::directory_iterator task("/proc/" + std::to_string(pid) + "/task", gone), end;
       !gone && task != end; task.increment(gone)) {
    take(task->path());
  }
}

/// The process, and all that descends from it.
std::vector<pid_t> family_of(pid_t pid) {
  std::vector<pid_t> family{pid};
  for (size_t i = 0; i < family.size() && family.size() < kMostProcesses; ++i) {
    each_thread(family[i], [&](const fs::path& thread) {
      std::ifstream children(thread / "children");
      for (pid_t child = 0; children >> child;) family.push_back(child);
    });
  }
  return family;
}

/// Empty where the process or the thread has gone. It may go between opening and reading: such an
/// error ends the copy here, and would be thrown by an iterator of the buffer.
std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// A field of the stat of a process or a thread in /proc, by its number in proc(5), from 3 on;
/// empty where it is gone. The name before them is in parentheses and may hold anything.
std::string stat_field(const fs::path& folder, size_t number) {
  const std::string stat = content_of(folder / "stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));  // npos + 1 is 0
  std::string field;
  for (size_t i = 3; i <= number; ++i) fields >> field;
  return field;
}

/// Whether a thread runs or waits for a processor.
bool is_runnable(const fs::path& thread) {
  return stat_field(thread, 3) == "R";
}

/// Of a process, its ended threads, and the children that it has waited for.
double seconds_of(pid_t pid) {
  double ticks = 0;
  for (size_t field = 14; field <= 17; ++field) {
    ticks += std::atof(stat_field(fs::path("/proc") / std::to_string(pid), field).c_str());
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

int thread_count(pid_t pid) {
  return std::atoi(stat_field(fs::path("/proc") / std::to_string(pid), 20).c_str());
}

bool is_exiting(pid_t pid) {
  constexpr unsigned long kExiting = 0x4;  // PF_EXITING
  bool any = false;
  bool all = true;
  each_thread(pid, [&](const fs::path& thread) {
    any = true;
    const unsigned long flags = std::strtoul(stat_field(thread, 9).c_str(), nullptr, 10);
    all = all && (flags & kExiting) != 0;
  });
  return any && all;
}

double ProcessorUse::look(pid_t pid, bool main_thread_alone) {
  const Clock::time_point now = Clock::now();
  const double window =
      looked_.has_value() ? std::chrono::duration<double>(now - *looked_).count() : 0;
  std::map<pid_t, Task> tasks;
  double seconds = 0;
  double as_if_idle = 0;
  for (const pid_t process : family_of(pid)) {
    seconds += seconds_of(process);
    each_thread(process, [&](const fs::path& thread) {
      const pid_t number = std::stoi(thread.filename().string());
      Task task;
      std::ifstream(thread / "schedstat") >> task.computed >> task.waited;
      const Task before = tasks_[number];
      const double computed = 1e-9 * static_cast<double>(task.computed - before.computed);
      const double waited = 1e-9 * static_cast<double>(task.waited - before.waited);
      // A number that another thread had before counts for nothing this once.
      const bool counts = !main_thread_alone || number == pid;
      if (counts && task.computed > before.computed && computed <= window) {
        as_if_idle += computed / std::max(window - waited, computed);
      } else if (counts && window > 0 && task.computed == before.computed && is_runnable(thread)) {
        as_if_idle +=
            1;  // on a very busy machine it got none, and how long it waits is not told yet
      }
      tasks[number] = task;
    });
  }
  // Of threads and children that came and went meanwhile.
  const bool all = window > 0 && !main_thread_alone;
  const double at_least = all ? std::max(0.0, seconds - seconds_) / window : 0;
  const bool first = !looked_.has_value();
  looked_ = now;
  tasks_ = std::move(tasks);
  seconds_ = seconds;
  return first ? 0 : std::max(as_if_idle, at_least);
}

std::vector<Descendant> descendants_of(pid_t pid) {
  std::vector<pid_t> family = family_of(pid);
  std::map<pid_t, pid_t> running;  // one thread of each that has one
  for (const pid_t process : family) {
    each_thread(process, [&](const fs::path& thread) {
      if (is_runnable(thread)) running[process] = std::stoi(thread.filename().string());
    });
  }
  std::stable_partition(family.begin() + 1, family.end(),
                        [&](pid_t process) { return running.contains(process); });
  std::vector<Descendant> descendants;
  for (size_t i = 1; i < std::min(family.size(), kMostNamed + 1); ++i) {
    const fs::path process = fs::path("/proc") / std::to_string(family[i]);
    Descendant descendant{family[i], family[i], content_of(process / "comm"),
                          content_of(process / "cmdline").substr(0, kMostWord)};
    if (running.contains(family[i])) descendant.thread = running[family[i]];
    descendant.name = descendant.name.substr(0, descendant.name.find('\n'));
    std::string& line = descendant.command;
    std::replace(line.begin(), line.end(), '\0', ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    // Without one it has ended, and waits to be waited for.
    if (!line.empty()) descendants.push_back(std::move(descendant));
  }
  return descendants;
}

}  // namespace mpsprobe
#endif

#include "harness/platform/process_state.h"

#ifdef __APPLE__
#include <libproc.h>
#include <sys/proc.h>
#else
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#endif

namespace mpsprobe {

#ifdef __APPLE__
int thread_count(pid_t pid) {
  proc_taskinfo info{};
  const int got = proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &info, sizeof(info));
  return got == static_cast<int>(sizeof(info)) ? info.pti_threadnum : 0;
}

bool is_exiting(pid_t pid) {
  proc_bsdinfo info{};
  const int got = proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof(info));
  return got == static_cast<int>(sizeof(info)) &&
         ((info.pbi_flags & PROC_FLAG_INEXIT) != 0 || info.pbi_status == SZOMB);
}
#else
namespace {

constexpr uint32_t kExiting = 0x4;  // PF_EXITING

/// Field 9 of a stat of Linux. The name before it is in parentheses and may hold anything.
uint32_t flags_in(const std::filesystem::path& stat) {
  std::ifstream file(stat);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string line = text.str();
  const size_t name = line.rfind(')');
  if (name == std::string::npos) return 0;
  std::istringstream fields(line.substr(name + 1));
  std::string skipped;
  for (int field = 3; field < 9; ++field) fields >> skipped;
  uint32_t flags = 0;
  fields >> flags;
  return flags;
}

}  // namespace

int thread_count(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; file >> word;) {
    int count = 0;
    if (word == "Threads:" && file >> count) return count;
  }
  return 0;
}

bool is_exiting(pid_t pid) {
  bool any = false;
  std::error_code gone;
  for (std::filesystem::directory_iterator task("/proc/" + std::to_string(pid) + "/task", gone),
       end;
       !gone && task != end; task.increment(gone)) {
    if ((flags_in(task->path() / "stat") & kExiting) == 0) return false;
    any = true;
  }
  return any;
}
#endif

}  // namespace mpsprobe

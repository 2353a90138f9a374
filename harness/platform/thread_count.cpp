#include "harness/platform/thread_count.h"

#ifdef __APPLE__
#include <libproc.h>
#else
#include <fstream>
#include <string>
#endif

namespace mpsprobe {

#ifdef __APPLE__
int thread_count(pid_t pid) {
  proc_taskinfo info{};
  const int got = proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &info, sizeof(info));
  return got == static_cast<int>(sizeof(info)) ? info.pti_threadnum : 0;
}
#else
int thread_count(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; file >> word;) {
    int count = 0;
    if (word == "Threads:" && file >> count) return count;
  }
  return 0;
}
#endif

}  // namespace mpsprobe

#ifdef __APPLE__

#include <libproc.h>
#include <sys/sysctl.h>

#include "harness/platform/memory.h"

namespace mpsprobe {

uint64_t resident_bytes(pid_t pid) {
  proc_taskinfo info{};
  const int got = proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &info, sizeof(info));
  return got == static_cast<int>(sizeof(info)) ? info.pti_resident_size : 0;
}

uint64_t physical_memory_bytes() {
  uint64_t bytes = 0;
  size_t length = sizeof(bytes);
  return sysctlbyname("hw.memsize", &bytes, &length, nullptr, 0) == 0 ? bytes : 0;
}

// macOS keeps no such count; a jetsam kill leaves a report of its own.
uint64_t kernel_memory_kills() {
  return 0;
}
void offer_to_memory_killer(pid_t) {}

}  // namespace mpsprobe

#endif

#ifdef __APPLE__

#include <libproc.h>
#include <sys/sysctl.h>

#include "harness/platform/memory.h"

namespace mpsprobe {

uint64_t held_bytes(pid_t pid) {
  // What the system's own limits go by. What is resident leaves out memory of the GPU, and what was
  // compressed.
  rusage_info_v0 usage{};
  const bool got =
      proc_pid_rusage(pid, RUSAGE_INFO_V0, reinterpret_cast<rusage_info_t*>(&usage)) == 0;
  return got ? usage.ri_phys_footprint : 0;
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

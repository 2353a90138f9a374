#ifdef __linux__

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "harness/platform/memory.h"

namespace mpsprobe {

uint64_t held_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  file >> total_pages >> resident_pages;
  return file ? resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

uint64_t physical_memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t kernel_memory_kills() {
  std::ifstream file("/proc/vmstat");
  std::string name;
  uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "oom_kill") return value;
  }
  return 0;
}

void offer_to_memory_killer(pid_t pid) {
  std::ofstream("/proc/" + std::to_string(pid) + "/oom_score_adj") << "1000";
}

}  // namespace mpsprobe

#endif

#include "harness/platform/machine_use.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace mpsprobe {
namespace {

double used_by(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double own_seconds() {
  return used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
}

// Of the processors that this process may use, in ticks of the clock on both systems.
std::optional<double> busy_seconds() {
  double ticks = 0;
#ifdef __APPLE__
  host_cpu_load_info_data_t load{};
  mach_msg_type_number_t count = HOST_CPU_LOAD_INFO_COUNT;
  const mach_port_t host = mach_host_self();
  const kern_return_t told =
      host_statistics(host, HOST_CPU_LOAD_INFO, reinterpret_cast<host_info_t>(&load), &count);
  mach_port_deallocate(mach_task_self(), host);
  if (told != KERN_SUCCESS) return std::nullopt;
  for (const int state : {CPU_STATE_USER, CPU_STATE_SYSTEM, CPU_STATE_NICE})
    ticks += load.cpu_ticks[state];
#else
  // A container sees the processors of its host, and those that it may use are what counts. "cpu0
  // user nice system idle iowait irq softirq steal": proc(5).
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return std::nullopt;
  std::ifstream file("/proc/stat");
  bool told = false;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream columns(line.substr(3));
    int processor = -1;
    if (line[3] == ' ' || !(columns >> processor)) continue;
    if (processor < 0 || processor >= CPU_SETSIZE || !CPU_ISSET(processor, &allowed)) continue;
    told = true;
    double value = 0;
    for (int column = 0; column < 8 && columns >> value; ++column) {
      if (column != 3 && column != 4) ticks += value;
    }
  }
  if (!told) return std::nullopt;
#endif
  const long per_second = sysconf(_SC_CLK_TCK);
  if (per_second <= 0) return std::nullopt;
  return ticks / static_cast<double>(per_second);
}

}  // namespace

MachineUse::MachineUse()
    : begun_(std::chrono::steady_clock::now()), busy_(busy_seconds()), own_(own_seconds()) {}

std::optional<double> MachineUse::processors_of_others() const {
  constexpr double kShortest = 0.1;
  const std::chrono::duration<double> window = std::chrono::steady_clock::now() - begun_;
  const std::optional<double> busy = busy_seconds();
  if (!busy_ || !busy || window.count() < kShortest) return std::nullopt;
  return std::max(0.0, (*busy - *busy_ - (own_seconds() - own_)) / window.count());
}

}  // namespace mpsprobe

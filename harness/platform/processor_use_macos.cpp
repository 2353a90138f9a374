#ifdef __APPLE__
#include <libproc.h>
#include <mach/mach_time.h>
#include <sys/proc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/platform/processor_use.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostProcesses = 1000;
constexpr size_t kMostNamed = 4;

std::vector<pid_t> family_of(pid_t pid) {
  std::vector<pid_t> family{pid};
  std::vector<pid_t> children(kMostProcesses);
  for (size_t i = 0; i < family.size() && family.size() < kMostProcesses; ++i) {
    const int count = proc_listchildpids(family[i], children.data(),
                                         static_cast<int>(children.size() * sizeof(pid_t)));
    if (count > 0) family.insert(family.end(), children.begin(), children.begin() + count);
  }
  return family;
}

/// What the system tells of a process; all zero where it tells nothing.
template <typename Info>
Info told(pid_t pid, int kind) {
  Info info{};
  const int got = proc_pidinfo(pid, kind, 0, &info, sizeof(info));
  return got == static_cast<int>(sizeof(info)) ? info : Info{};
}

}  // namespace

int thread_count(pid_t pid) {
  return told<proc_taskinfo>(pid, PROC_PIDTASKINFO).pti_threadnum;
}

bool is_exiting(pid_t pid) {
  const auto info = told<proc_bsdinfo>(pid, PROC_PIDTBSDINFO);
  return (info.pbi_flags & PROC_FLAG_INEXIT) != 0 || info.pbi_status == SZOMB;
}

double ProcessorUse::look(pid_t pid, bool main_thread_alone) {
  const Clock::time_point now = Clock::now();
  mach_timebase_info_data_t base{};
  mach_timebase_info(&base);
  double seconds = 0;
  for (const pid_t process : family_of(pid)) {
    const auto info = told<proc_taskinfo>(process, PROC_PIDTASKINFO);
    seconds += 1e-9 * static_cast<double>(info.pti_total_user + info.pti_total_system) *
               base.numer / base.denom;
  }
  const bool first = !looked_.has_value();
  const double window = first ? 0 : std::chrono::duration<double>(now - *looked_).count();
  const double computed = std::max(0.0, seconds - seconds_);
  looked_ = now;
  seconds_ = seconds;
  return window > 0 && !main_thread_alone ? computed / window : 0;
}

std::vector<Descendant> descendants_of(pid_t pid) {
  std::vector<pid_t> family = family_of(pid);
  std::vector<Descendant> descendants;
  for (size_t i = 1; i < std::min(family.size(), kMostNamed + 1); ++i) {
    char name[PROC_PIDPATHINFO_MAXSIZE] = "";
    if (proc_name(family[i], name, sizeof(name)) > 0) {
      descendants.push_back({family[i], family[i], name, name});
    }
  }
  return descendants;
}

}  // namespace mpsprobe
#endif

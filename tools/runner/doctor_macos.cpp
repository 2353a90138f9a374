#ifdef __APPLE__

#include <fmt/format.h>
#include <sys/sysctl.h>

#include <cstdlib>
#include <string>

#include "tools/runner/doctor_system.h"

namespace mpsprobe {
namespace {

int number_of(const char* name) {
  int value = -1;
  size_t bytes = sizeof(value);
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 ? value : -1;
}

}  // namespace

bool core_files_fill_disk() {
  return number_of("kern.coredump") == 1;
}

void check_crash_handling(Checks& checks) {
  checks.push_back({"crash_reports.corefiles", "crash reports", CheckStatus::not_applicable,
                    "core files", number_of("kern.coredump") == 1 ? "on" : "off", ""});
}

void check_system_limits(Checks& checks) {
  const int processes = number_of("kern.maxprocperuid");
  checks.push_back({"limit.user_processes", "limits",
                    processes < 0 || processes >= 512 ? CheckStatus::ok : CheckStatus::warn,
                    "processes of a user (kern.maxprocperuid)",
                    processes < 0 ? "not told" : fmt::format("{}", processes),
                    processes < 0 || processes >= 512 ? "" : "sysctl kern.maxprocperuid=2048"});
  // System Integrity Protection strips these in every protected program on the way, /bin/sh and
  // /usr/bin/env among them, without a word.
  bool any = false;
  for (const char* name : {"DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_FRAMEWORK_PATH"}) {
    any = any || std::getenv(name) != nullptr;
  }
  checks.push_back(
      {"limit.dyld", "limits", any ? CheckStatus::warn : CheckStatus::ok, "DYLD_ variables",
       any ? "set, and seen here" : "none seen here",
       any ? ""
           : "if you set one: the system takes DYLD_ away from programs that /bin/sh or "
             "/usr/bin/env start; give it with --env instead"});
  if (any) checks.back().remedy = "give them with --env, which no protected program strips";
}

}  // namespace mpsprobe

#endif

#include <fmt/format.h>

#include <string>

#include "tools/runner/doctor/doctor_system.h"

#ifdef __APPLE__
#include <sys/sysctl.h>

#include <cstdlib>
#endif

namespace mpsprobe {

void check_macos_crash_handling(const MacosFacts& facts, Checks& checks) {
  checks.push_back({"crash_reports.corefiles", "crash reports", CheckStatus::not_applicable,
                    "core files", facts.core_files == 1 ? "on" : "off", ""});
}

void check_macos_limits(const MacosFacts& facts, Checks& checks) {
  constexpr int kFewProcesses = 512;
  const int processes = facts.processes_of_user;
  const bool enough = processes < 0 || processes >= kFewProcesses;
  checks.push_back({"limit.user_processes", "limits", enough ? CheckStatus::ok : CheckStatus::warn,
                    "processes of a user (kern.maxprocperuid)",
                    processes < 0 ? "not told" : fmt::format("{}", processes),
                    enough ? "" : "sudo sysctl kern.maxprocperuid=2048"});
  // System Integrity Protection strips these in every protected program on the way, /bin/sh and
  // /usr/bin/env among them, without a word.
  const bool seen = facts.dyld_variables;
  checks.push_back({"limit.dyld", "limits", seen ? CheckStatus::warn : CheckStatus::ok,
                    "DYLD_ variables", seen ? "set, and seen here" : "none seen here",
                    seen ? "give them with --env, which no protected program strips"
                         : "if you set one: the system takes DYLD_ away from programs that /bin/sh "
                           "or /usr/bin/env start; give it with --env instead"});
}

#ifdef __APPLE__

namespace {

int number_of(const char* name) {
  int value = -1;
  size_t bytes = sizeof(value);
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 ? value : -1;
}

MacosFacts macos_facts() {
  MacosFacts facts;
  facts.core_files = number_of("kern.coredump");
  facts.processes_of_user = number_of("kern.maxprocperuid");
  for (const char* name : {"DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_FRAMEWORK_PATH"}) {
    facts.dyld_variables = facts.dyld_variables || std::getenv(name) != nullptr;
  }
  return facts;
}

}  // namespace

bool core_files_fill_disk() {
  return macos_facts().core_files == 1;
}
void check_crash_handling(Checks& checks) {
  check_macos_crash_handling(macos_facts(), checks);
}
void check_system_limits(Checks& checks) {
  check_macos_limits(macos_facts(), checks);
}

#endif

}  // namespace mpsprobe

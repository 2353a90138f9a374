#ifdef __linux__

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tools/runner/doctor/doctor_system.h"

namespace mpsprobe {
namespace {

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<uint64_t> number_in(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void add(Checks& checks, const std::string& id, CheckStatus status, const std::string& what,
         const std::string& value, const std::string& remedy = "") {
  checks.push_back(
      {"limit." + id, "limits", status, what, value, status == CheckStatus::warn ? remedy : ""});
}

/// Files of the control group of this process: version 2's, then version 1's of a controller.
class ControlGroup {
 public:
  ControlGroup() {
    std::ifstream stream("/proc/self/cgroup");
    for (std::string line; std::getline(stream, line);) {
      const size_t first = line.find(':');
      const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
      if (second == std::string::npos) continue;
      const std::string controllers = line.substr(first + 1, second - first - 1);
      if (controllers.empty()) unified_ = line.substr(second + 1);
      if (controllers == "memory") memory_ = line.substr(second + 1);
    }
  }

  /// The line of a file such as memory.max. Of the own group, or of the mount's root, which is the
  /// own group where the container shows no more.
  std::string unified(const std::string& file) const {
    const std::string own = first_line("/sys/fs/cgroup" + unified_ + "/" + file);
    return own.empty() ? first_line("/sys/fs/cgroup/" + file) : own;
  }
  std::string memory_v1() const {
    const char* file = "/memory.limit_in_bytes";
    const std::string own = first_line("/sys/fs/cgroup/memory" + memory_ + file);
    return own.empty() ? first_line(std::string("/sys/fs/cgroup/memory") + file) : own;
  }

 private:
  std::string unified_;
  std::string memory_;
};

void check_control_group(Checks& checks) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  const ControlGroup group;
  std::string memory = group.unified("memory.max");
  if (memory.empty()) memory = group.memory_v1();
  const auto bytes = number_in(memory);
  // Version 1 writes a number near 2^63 for "no limit".
  if (bytes.has_value() && *bytes < uint64_t{1} << 60) {
    add(checks, "cgroup_memory", *bytes >= 4 * kGiB ? CheckStatus::ok : CheckStatus::warn,
        "memory of the control group",
        fmt::format("{:.1f} GiB", static_cast<double>(*bytes) / kGiB),
        "the kernel kills workers that pass it: raise it, or set --memory-limit below it");
  } else {
    add(checks, "cgroup_memory", CheckStatus::ok, "memory of the control group", "no limit");
  }
  const std::string tasks = group.unified("pids.max");
  const auto most = number_in(tasks);
  add(checks, "cgroup_tasks",
      most.has_value() && *most < 1024 ? CheckStatus::warn : CheckStatus::ok,
      "threads of the control group", most.has_value() ? tasks : "no limit",
      "cells with many threads end as infrastructure: raise it, or run fewer threads");
  const std::string cpu = group.unified("cpu.max");
  const bool shared = !cpu.empty() && !cpu.starts_with("max");
  add(checks, "cgroup_cpu", shared ? CheckStatus::warn : CheckStatus::ok,
      "processor time of the control group",
      shared ? cpu + " (microseconds in each period)" : "no limit",
      "threads that are held back together seldom overlap: run without the limit where the overlap "
      "in the report is low");
}

void check_pipe(Checks& checks) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    add(checks, "pipe", CheckStatus::warn, "pipes", "cannot be made",
        "raise ulimit -n, or close programs");
    return;
  }
  const int bytes = fcntl(ends[0], F_GETPIPE_SZ);
  add(checks, "pipe", bytes >= 65536 ? CheckStatus::ok : CheckStatus::warn, "size of a pipe",
      fmt::format("{} bytes", bytes),
      "many pipes are open for this user, and workers wait at small ones: end what holds them, or "
      "raise /proc/sys/fs/pipe-user-pages-soft");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace

bool core_files_fill_disk() {
  const std::string pattern = first_line("/proc/sys/kernel/core_pattern");
  return !pattern.empty() && pattern.front() != '|';
}

void check_crash_handling(Checks& checks) {
  const std::string pattern = first_line("/proc/sys/kernel/core_pattern");
  const bool piped = !pattern.empty() && pattern.front() == '|';
  checks.push_back({"crash_reports.core_pattern", "crash reports",
                    piped ? CheckStatus::warn : CheckStatus::not_applicable, "core_pattern",
                    pattern.empty() ? "not told" : pattern,
                    piped ? "this program starts at every crash of a worker and slows trials; "
                            "where that matters: sysctl kernel.core_pattern=core"
                          : ""});
}

void check_system_limits(Checks& checks) {
  check_control_group(checks);
  check_pipe(checks);
  const auto processes = number_in(first_line("/proc/sys/kernel/pid_max"));
  add(checks, "pid_max", processes.value_or(32768) >= 32768 ? CheckStatus::ok : CheckStatus::warn,
      "pid_max", processes.has_value() ? fmt::format("{}", *processes) : "not told",
      "numbers of processes are soon used again: sysctl kernel.pid_max=4194304");
}

}  // namespace mpsprobe

#endif

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "harness/crash_report/find_report.h"
#include "harness/executor/environment.h"
#include "harness/platform/memory.h"
#include "harness/provenance/influential_environment.h"
#include "harness/wire/flight_recorder.h"
#include "harness/wire/shared_memory.h"
#include "tools/runner/doctor/doctor_check.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

std::string in_bytes(uint64_t bytes) {
  if (bytes >= kGiB) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMiB);
}

void limit(Checks& checks, const std::string& id, const std::string& what, CheckStatus status,
           const std::string& value, const std::string& remedy) {
  checks.push_back(
      {"limit." + id, "limits", status, what, value, status == CheckStatus::ok ? "" : remedy});
}

/// The soft limit; RLIM_INFINITY is the largest number.
uint64_t resource_limit(int which) {
  rlimit limit{};
  if (getrlimit(static_cast<decltype(RLIMIT_CORE)>(which), &limit) != 0) return RLIM_INFINITY;
  return limit.rlim_cur;
}

std::string in_words(uint64_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{}", limit);
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

void check_process_limits(Checks& checks) {
  // The largest cell has 256 threads a process; LibTorch and the drivers have some of their own.
  const uint64_t processes = resource_limit(RLIMIT_NPROC);
  limit(checks, "processes", "processes and threads (ulimit -u)", ok_or_warn(processes >= 1024),
        in_words(processes),
        "cells with many threads end as infrastructure: ulimit -u 4096, or a smaller --threads");
  const uint64_t files = resource_limit(RLIMIT_NOFILE);
  limit(checks, "files", "open files (ulimit -n)", ok_or_warn(files >= 256), in_words(files),
        "ulimit -n 1024: each process of a cell takes five");
  const uint64_t memory = resource_limit(RLIMIT_AS);
  limit(checks, "address_space", "address space (ulimit -v)", ok_or_warn(memory >= 16 * kGiB),
        memory == RLIM_INFINITY ? "unlimited" : in_bytes(memory),
        "ulimit -v unlimited: LibTorch and GPUs reserve far more than they use");
  // Where a program takes core files (Linux), or there is no such file (macOS), none fills a disk.
  const std::string pattern = first_line("/proc/sys/kernel/core_pattern");
  const bool written = !pattern.empty() && pattern.front() != '|';
  limit(checks, "core", "core files (ulimit -c)",
        ok_or_warn(!written || resource_limit(RLIMIT_CORE) == 0),
        in_words(resource_limit(RLIMIT_CORE)),
        "ulimit -c 0: every crash of a worker writes a core file of GiBs");
}

void check_shared_memory(Checks& checks) {
  const std::string value = "shared memory of " + in_bytes(sizeof(recorder_layout::Block));
  try {
    SharedMemory::create(sizeof(recorder_layout::Block));
    limit(checks, "shared_memory", "flight recorder", CheckStatus::ok, value, "");
  } catch (const std::system_error& error) {
    limit(checks, "shared_memory", "flight recorder", CheckStatus::fail, error.what(),
          "no trial can start: free memory, or let the sandbox allow memfd_create (macOS: "
          "shm_open)");
  }
}

void check_disk(Checks& checks) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const uint64_t free = error ? 0 : fs::space(here, error).available;
  const bool writable = access(here.c_str(), W_OK) == 0;
  limit(checks, "disk", "disk, for mpsprobe-out",
        error || !writable || free < 64 * kMiB ? CheckStatus::fail : ok_or_warn(free >= kGiB),
        error ? error.message()
              : fmt::format("{} free in {}{}", in_bytes(free), here.string(),
                            writable ? "" : ", which cannot be written"),
        "free some, or choose another folder by --out");
}

void check_machine(Checks& checks) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  double load = 0;
  const bool known = getloadavg(&load, 1) == 1;
  limit(checks, "load", "cores and load", ok_or_warn(!known || load < cores),
        fmt::format("{} cores, load {:.1f}", cores, load),
        "races depend on timing, and a loaded machine looks hung: end other programs");
  limit(checks, "memory", "memory of the machine", ok_or_warn(physical_memory_bytes() >= 4 * kGiB),
        in_bytes(physical_memory_bytes()),
        "use --jobs 1: a worker with LibTorch takes some hundred MiB before it has computed");
}

void check_folder(const fs::path& folder, const std::string& id, bool needed, Checks& checks) {
  std::error_code error;
  size_t reports = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path kind = at->path().extension();
    if (kind == ".ips" || kind == ".crash") ++reports;
  }
  Check check{id, "crash reports", CheckStatus::ok, folder.string(), "", ""};
  if (error == std::errc::no_such_file_or_directory && !needed) {
    check.status = CheckStatus::not_applicable;  // the system makes it when it has something for it
    check.value = "not there yet";
  } else if (error) {
    check.status = needed ? CheckStatus::fail : CheckStatus::warn;
    check.value = "cannot be read: " + error.message();
    check.remedy =
        "crashes then rest on the flight recorder alone: give the terminal access (macOS: Privacy "
        "& Security, Full Disk Access), or name another folder with --crash-reports";
  } else {
    check.value = fmt::format("can be read, holds {}", reports);
  }
  checks.push_back(check);
}

}  // namespace

void check_limits(Checks& checks) {
  check_process_limits(checks);
  check_shared_memory(checks);
  check_disk(checks);
  check_machine(checks);
}

void check_crash_reports(const DoctorOptions& options, Checks& checks) {
  const bool named = !options.crash_reports.empty();
  std::vector<fs::path> folders(options.crash_reports.begin(), options.crash_reports.end());
  if (!named) folders = default_report_folders();
  for (size_t i = 0; i < folders.size(); ++i) {
    check_folder(folders[i], fmt::format("crash_reports.folder.{}", i), named, checks);
  }
  if (folders.empty()) {
    checks.push_back({"crash_reports.none", "crash reports", CheckStatus::not_applicable,
                      "the system's own", "this system writes none; stacks come from the workers",
                      ""});
  }
}

void check_environment(const std::vector<std::string>& extra, Checks& checks) {
  const std::vector<std::string> inherited = inherited_environment();
  const std::vector<std::string> workers = worker_environment(Cell{}, inherited, extra);
  const auto add = [&checks](const std::string& entry, CheckStatus status, const char* remark,
                             const char* remedy) {
    const size_t equals = std::min(entry.find('='), entry.size());
    const std::string value = entry.substr(std::min(equals + 1, entry.size()));
    checks.push_back({"environment." + entry.substr(0, equals), "environment", status,
                      entry.substr(0, equals), value + remark, remedy});
  };
  const size_t before = checks.size();
  for (const std::string& entry : inherited) {
    if (entry.starts_with("DEBUGINFOD_URLS=")) {
      add(entry, CheckStatus::warn, "", "unset it: naming functions could wait for the network");
    }
    const std::string name = entry.substr(0, entry.find('='));
    if (!changes_results(name)) continue;
    if (name == "MPSPROBE_TORCH") {
      add(entry, CheckStatus::ok, " (for the next build of the worker)", "");
    } else if (std::find(workers.begin(), workers.end(), entry) != workers.end()) {
      add(entry, CheckStatus::warn, "",
          "unset it, or keep it in every run that is to be compared: each trial records it");
    } else {
      add(entry, CheckStatus::warn, " (taken away from workers: the cell or --env decides)",
          "unset it: it misleads whoever reads this terminal");
    }
  }
  for (const std::string& entry : extra) add(entry, CheckStatus::ok, " (--env)", "");
  if (checks.size() == before) {
    checks.push_back({"environment.none", "environment", CheckStatus::ok,
                      "variables that change results", "none is set", ""});
  }
}

}  // namespace mpsprobe

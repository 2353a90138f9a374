#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "harness/crash_report/find_report.h"
#include "harness/executor/environment.h"
#include "harness/platform/memory.h"
#include "harness/provenance/influential_environment.h"
#include "harness/wire/flight_recorder.h"
#include "harness/wire/shared_memory.h"
#include "tools/runner/doctor/doctor_check.h"
#include "tools/runner/doctor/doctor_system.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

std::string in_bytes(uint64_t bytes) {
  if (bytes >= kGiB) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB);
  if (bytes >= kMiB) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMiB);
  return fmt::format("{} bytes", bytes);
}

void limit(Checks& checks, const std::string& id, const std::string& what, bool enough,
           const std::string& value, const std::string& remedy) {
  checks.push_back({"limit." + id, "limits", enough ? CheckStatus::ok : CheckStatus::warn, what,
                    value, enough ? "" : remedy});
}

/// The soft limit, and how it is shown. RLIM_INFINITY is the largest number.
struct ResourceLimit {
  rlim_t soft = RLIM_INFINITY;
  bool unlimited() const { return soft == RLIM_INFINITY; }
  bool at_least(uint64_t least) const { return unlimited() || soft >= least; }
  std::string text() const { return unlimited() ? "unlimited" : fmt::format("{}", soft); }
  std::string bytes() const { return unlimited() ? "unlimited" : in_bytes(soft); }
};

ResourceLimit resource_limit(int which) {
  rlimit limit{};
  if (getrlimit(static_cast<decltype(RLIMIT_CORE)>(which), &limit) != 0) return {};
  return {limit.rlim_cur};
}

void check_process_limits(Checks& checks) {
  // The largest cell has 256 threads a process; LibTorch and the drivers have some of their own.
  const ResourceLimit processes = resource_limit(RLIMIT_NPROC);
  limit(checks, "processes", "processes and threads (ulimit -u)", processes.at_least(1024),
        processes.text(),
        "cells with many threads end as infrastructure: ulimit -u 4096, or a smaller --threads");
  // Each process of a trial takes five descriptors of the runner.
  const ResourceLimit files = resource_limit(RLIMIT_NOFILE);
  limit(checks, "files", "open files (ulimit -n)", files.at_least(256), files.text(),
        "ulimit -n 1024: each process of a cell takes five");
  const ResourceLimit memory = resource_limit(RLIMIT_AS);
  limit(checks, "address_space", "address space (ulimit -v)", memory.at_least(16 * kGiB),
        memory.bytes(), "ulimit -v unlimited: LibTorch and GPUs reserve far more than they use");
  const ResourceLimit core = resource_limit(RLIMIT_CORE);
  limit(checks, "core", "core files (ulimit -c)", core.soft == 0 || !core_files_fill_disk(),
        core.bytes(), "ulimit -c 0: every crash of a worker writes a core file of GiBs");
}

void check_shared_memory(Checks& checks) {
  try {
    SharedMemory::create(sizeof(recorder_layout::Block));
    checks.push_back({"limit.shared_memory", "limits", CheckStatus::ok, "flight recorder",
                      "shared memory of " + in_bytes(sizeof(recorder_layout::Block)), ""});
  } catch (const std::system_error& error) {
    checks.push_back({"limit.shared_memory", "limits", CheckStatus::fail, "flight recorder",
                      error.what(),
                      "no trial can start: free memory, or let the sandbox allow memfd_create "
                      "(macOS: shm_open)"});
  }
}

void check_disk(Checks& checks) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const auto space = fs::space(here, error);
  if (error) {
    checks.push_back({"limit.disk", "limits", CheckStatus::warn, "disk, for mpsprobe-out",
                      error.message(), "choose a folder with --out"});
    return;
  }
  const bool writable = access(here.c_str(), W_OK) == 0;
  checks.push_back(
      {"limit.disk", "limits",
       !writable || space.available < 64 * kMiB ? CheckStatus::fail
       : space.available < kGiB                 ? CheckStatus::warn
                                                : CheckStatus::ok,
       "disk, for mpsprobe-out",
       fmt::format("{} free in {}{}", in_bytes(space.available), here.string(),
                   writable ? "" : ", which cannot be written"),
       writable && space.available >= kGiB ? "" : "free some, or choose another folder by --out"});
}

void check_load(Checks& checks) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  double load = 0;
  const bool known = getloadavg(&load, 1) == 1;
  limit(checks, "load", "cores and load", !known || load < cores,
        fmt::format("{} cores, load {:.1f}", cores, load),
        "races depend on timing, and a loaded machine looks hung: end other programs");
}

std::string ago(fs::file_time_type when) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::now() - when)
          .count();
  if (seconds < 120) return fmt::format("{} s ago", std::max<int64_t>(seconds, 0));
  if (seconds < 7200) return fmt::format("{} min ago", seconds / 60);
  return seconds < 172800 ? fmt::format("{} h ago", seconds / 3600)
                          : fmt::format("{} days ago", seconds / 86400);
}

bool is_report(const fs::path& file) {
  return file.extension() == ".ips" || file.extension() == ".crash";
}

void check_folder(const fs::path& folder, const std::string& id, bool needed, Checks& checks) {
  std::error_code error;
  size_t reports = 0;
  fs::file_time_type newest = fs::file_time_type::min();
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (!is_report(at->path())) continue;
    ++reports;
    std::error_code gone;
    const auto written = at->last_write_time(gone);
    if (!gone) newest = std::max(newest, written);
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
    check.value = reports == 0 ? "can be read, holds none yet"
                               : fmt::format("can be read, holds {}, the newest written {}",
                                             reports, ago(newest));
  }
  checks.push_back(check);
}

}  // namespace

void check_limits(Checks& checks) {
  check_process_limits(checks);
  check_shared_memory(checks);
  check_disk(checks);
  check_load(checks);
  limit(checks, "memory", "memory of the machine", physical_memory_bytes() >= 4 * kGiB,
        in_bytes(physical_memory_bytes()),
        "use --jobs 1: a worker with LibTorch takes some hundred MiB before it has computed");
  check_system_limits(checks);
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
  check_crash_handling(checks);
}

void check_environment(const std::vector<std::string>& extra, Checks& checks) {
  const std::vector<std::string> inherited = inherited_environment();
  const std::vector<std::string> workers = worker_environment(Cell{}, inherited, extra);
  const size_t before = checks.size();
  for (const std::string& entry : inherited) {
    const std::string name = entry.substr(0, entry.find('='));
    if (!changes_results(name)) continue;
    const bool passed = std::find(workers.begin(), workers.end(), entry) != workers.end();
    const bool given = std::any_of(workers.begin(), workers.end(), [&](const std::string& other) {
      return other.starts_with(name + "=");
    });
    const std::string value = entry.substr(std::min(name.size() + 1, entry.size()));
    Check check{"environment." + name, "environment", CheckStatus::warn, name, value, ""};
    if (name == "MPSPROBE_TORCH") {
      check.status = CheckStatus::ok;  // what it names is among the copies
      check.value += " (for the next build of the worker)";
    } else if (passed) {
      check.remedy =
          "unset it, or keep it in every run that is to be compared: each trial records it";
    } else {
      check.value +=
          given ? " (--env says otherwise)" : " (taken away from workers: the cell decides)";
      check.remedy = "unset it: it misleads whoever reads this terminal";
    }
    checks.push_back(std::move(check));
  }
  for (const std::string& entry : extra) {
    const std::string name = entry.substr(0, entry.find('='));
    checks.push_back({"environment.extra." + name, "environment", CheckStatus::ok, name,
                      entry.substr(std::min(entry.find('=') + 1, entry.size())) + " (--env)", ""});
  }
  if (checks.size() == before) {
    checks.push_back({"environment.none", "environment", CheckStatus::ok,
                      "variables that change results", "none is set", ""});
  }
  const auto debuginfod =
      std::find_if(inherited.begin(), inherited.end(),
                   [](const std::string& entry) { return entry.starts_with("DEBUGINFOD_URLS="); });
  if (debuginfod != inherited.end()) {
    checks.push_back({"environment.DEBUGINFOD_URLS", "environment", CheckStatus::warn,
                      "DEBUGINFOD_URLS", debuginfod->substr(debuginfod->find('=') + 1),
                      "unset it: naming functions could wait for the network"});
  }
}

}  // namespace mpsprobe

#include "tools/runner/run/kept_cores.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/resource.h>

#include <fstream>
#include <utility>
#include <variant>

#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"
#include "reproducers/minimise/slug.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

std::string first_line(const char* file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

void lift_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max > 0) {
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_CORE, &limit) == 0) return;
  }
  throw InputError("--keep-cores", "the limit for core files is 0, and may not be raised here",
                   "Raise it where this shell was started: ulimit -c unlimited");
}

/// The system's pattern with what no process decides: where it is relative, in this folder, which
/// is that of the trials.
std::string pattern_of_system(int jobs) {
  std::string pattern = first_line("/proc/sys/kernel/core_pattern");
  if (pattern.empty()) {
    throw InputError("--keep-cores", "is for Linux: no other system says where it writes cores",
                     "Leave it out; the report holds the system's own crash report");
  }
  if (pattern.front() == '|') {
    throw InputError("--keep-cores",
                     "the system hands cores to a program: " + printable(pattern.substr(1)),
                     "systemd-coredump keeps them (`coredumpctl list`); else have files written: "
                     "sysctl kernel.core_pattern=core.%p");
  }
  if (pattern.find("%p") == std::string::npos) {
    if (first_line("/proc/sys/kernel/core_uses_pid") == "1") {
      pattern += ".%p";
    } else if (jobs > 1) {
      throw InputError("--keep-cores",
                       fmt::format("{} trials at a time write the same core file", jobs),
                       "Add --jobs 1, or let files differ: sysctl kernel.core_uses_pid=1");
    }
  }
  return pattern.front() == '/' ? pattern : (fs::current_path() / pattern).string();
}

/// The name of a process's core, for fnmatch(3).
std::string name_of_core(const std::string& pattern, int64_t pid) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      if (std::string_view("*?[\\").find(pattern[i]) != std::string_view::npos) name += '\\';
      name += pattern[i];
      continue;
    }
    const char what = pattern[++i];
    name += what == 'p' ? std::to_string(pid) : what == '%' ? "%" : "*";
  }
  return name;
}

}  // namespace

KeptCores::KeptCores(int jobs)
    : pattern_(pattern_of_system(jobs)), begun_(fs::file_time_type::clock::now()) {
  lift_limit();
}

fs::path KeptCores::written_by(int64_t pid) const {
  const fs::path folder = fs::path(pattern_).parent_path();
  const std::string name = name_of_core(fs::path(pattern_).filename().string(), pid);
  std::error_code gone;  // what cannot be read holds none
  for (fs::directory_iterator entry(folder, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    if (fnmatch(name.c_str(), entry->path().filename().c_str(), 0) != 0) continue;
    std::error_code error;
    const bool is_file = fs::is_regular_file(entry->symlink_status(error));
    if (is_file && entry->last_write_time(error) >= begun_ && !error) return entry->path();
  }
  return {};
}

void KeptCores::take(const TrialRecord& trial, const fs::path& run) {
  for (const ProcessRecord& process : trial.processes) {
    const Signaled* const died = std::get_if<Signaled>(&process.termination);
    if (died == nullptr || !died->core_dumped) continue;
    const fs::path core = written_by(process.pid);
    if (core.empty()) {
      if (!std::exchange(lost_, true)) {
        say(stderr, "mpsprobe: --keep-cores: the core of process {} is not there: {}\n",
            process.pid, printable(pattern_));
      }
      continue;
    }
    const fs::path kept = run / "cores" / (slug(trial.judgement.signature) + ".core");
    std::error_code error;
    if (fs::exists(kept, error)) {
      fs::remove(core, error);
    } else {
      fs::create_directories(kept.parent_path(), error);
      if (!error) fs::rename(core, kept, error);
      if (!error) kept_.emplace_back(trial.judgement.signature, kept.string());
    }
    if (error) {
      say(stderr, "mpsprobe: --keep-cores: {} stays where it is: {}\n", printable(core.string()),
          error.message());
    }
  }
}

void KeptCores::say_kept() const {
  for (const auto& [signature, file] : kept_) {
    say(stderr, "core of {}: {}\n", printable(signature), printable(file));
  }
}

}  // namespace mpsprobe

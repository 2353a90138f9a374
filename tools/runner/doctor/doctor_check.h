#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/journal/journal.h"
#include "harness/wire/enum_words.h"
#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// `not_applicable`: there is no such thing here, and that is as it should be.
enum class CheckStatus : unsigned char { ok, warn, fail, not_applicable };
template <>
inline constexpr auto kWordsOf<CheckStatus> = std::to_array<std::string_view>({"ok", "warn", "fail",
                                                                               "n/a"});

constexpr CheckStatus ok_or_warn(bool ok) {
  return ok ? CheckStatus::ok : CheckStatus::warn;
}

/// One thing that doctor looked at. Texts may come from outside: escape them on output.
struct Check {
  std::string id;       ///< stable, for programs: "worker.stock.torch"
  std::string section;  ///< "workers", "backends", "limits", ...
  CheckStatus status = CheckStatus::ok;
  std::string what;
  std::string value;
  std::string remedy;  ///< what to do; empty where nothing is to be done
};

using Checks = std::vector<Check>;

/// What `mpsprobe doctor` was asked. Workers, environment, probes and crash reports are as of
/// `run`.
struct DoctorOptions : RunOptions {
  std::string backend;  ///< --backend; empty: the best one here
};

/// Asks each worker what it is: what it loads, whether that is what it was built against and what
/// was expected, symbols, backends. Returns those that answered. Throws InputError for a wrong form
/// of --worker, --probe or --expect-torch.
std::vector<WorkerInfo> check_workers(const DoctorOptions& options, Checks& checks);

/// Folder of the system's crash reports, and what else tells of a death here.
void check_crash_reports(const DoctorOptions& options, Checks& checks);

/// Limits of this process and of the machine that change what a run can do.
void check_limits(Checks& checks);

/// Variables in force in the workers that change results; `extra` as --env gives them.
void check_environment(const std::vector<std::string>& extra, Checks& checks);

/// Whether the backend, and each Apple GPU, computes right numbers in one thread; and a crash, a
/// hang and a wrong number that must come out as such. Takes a few seconds a worker.
void check_by_running(const DoctorOptions& options, const std::vector<WorkerInfo>& workers,
                      Checks& checks);

}  // namespace mpsprobe

#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/crash_report/find_report.h"
#include "harness/journal/journal.h"
#include "harness/process/child.h"

namespace mpsprobe {

/// Where a run that began at `started` (UTC, as utc_now says it) is kept when nobody says where:
/// mpsprobe-out/TIME-name, with the time as one can write it in a file's name.
std::filesystem::path default_run_folder(std::string_view started, std::string_view name);

/// Makes that folder for this process alone: of runs that begin within a second each gets one of
/// its own, the second with "-2" behind its name. Throws MachineError where it cannot be created.
std::filesystem::path make_default_run_folder(std::string_view started, std::string_view name);

/// Makes a folder that --out named, with those above it. Throws MachineError where it cannot be
/// created.
void make_named_folder(const std::filesystem::path& folder);

/// How the header of a journal says that trials are run: with which limits, and where the system's
/// crash reports are looked for (their copies go into `folder`; a wait for one ends with
/// `interrupted`, which must outlive it).
ChildLimits limits_of(const CampaignHeader& header);
CrashReportOptions crash_report_options(const CampaignHeader& header,
                                        const std::filesystem::path& folder,
                                        const std::atomic<bool>& interrupted);

/// Results of two builds are never added up: what is resumed goes on with the libraries that it
/// began with. Asks the workers; throws MachineError where one loads another LibTorch now.
void check_same_libraries(const CampaignHeader& header);

}  // namespace mpsprobe

#pragma once

#include <string>
#include <vector>

#include "reproducers/bundle/pages/finding.h"

namespace mpsprobe {

// The evidence itself, as files for programs.

/// Bounds on what is taken over: a bundle has to be uploaded, and read by people.
constexpr size_t kMostTrialsBytes = size_t{8} << 20;  ///< of trials.ndjson
constexpr size_t kMostStackFiles = 20;
constexpr size_t kMostStackBytes = size_t{64} << 10;  ///< of one file
constexpr size_t kMostCrashReports = 20;
constexpr size_t kMostCrashReportBytes = size_t{16} << 20;  ///< of all together

/// System and hardware, LibTorch and devices: no name or number of this one machine.
std::string system_json(const BundleFinding& finding);
/// What the processes of the trials said of the libraries and devices that they had, and the images
/// that they had loaded.
std::string provenance_json(const BundleFinding& finding);
/// The raw trials, one a line; the first line says what follows. Beyond the bound trials are told
/// without what their processes left, and the first line says how many.
std::string trials_ndjson(const BundleFinding& finding);
/// stacks/: the stacks of failed trials, one file a trial.
std::vector<BundleFile> stack_files(const BundleFinding& finding);
/// crash-reports/: the system's reports of these trials' processes.
std::vector<BundleFile> crash_report_files(const BundleFinding& finding);

}  // namespace mpsprobe

#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/statistics/fisher.h"
#include "reproducers/minimise/minimise.h"
#include "tools/runner/bisect/bisect_command.h"

namespace mpsprobe {

/// One build of a bisection, as far as it is known.
struct Build {
  std::string name;        ///< letters, digits, '-', '_' and '.'; no two have the same
  std::string path;        ///< of its worker; empty: it has to be made
  Proportion seen;         ///< trials, with those of earlier runs (--from)
  int here = 0;            ///< of these, trials of this bisection
  std::string unusable;    ///< why it could not be tried; else empty
  bool simulated = false;  ///< as far as its worker was asked
};

/// What a bisection was asked for: with the journals of its builds all that it depends on.
struct BisectRequest {
  BisectOptions options;
  std::vector<Build> builds;  ///< oldest first, as they were named
};

/// Adds a trial to what was seen of its build, where failures count whose title holds `signature`.
/// False, and nothing is added, where it says nothing of the cell.
bool count_result(const TrialResult& result, const std::string& signature, Proportion& seen);

/// Reads the list of builds and the runs of --from. Throws InputError, JournalError.
BisectRequest bisect_request(const BisectOptions& options);

/// Throws ReportError where it cannot be written.
void write_bisect_request(const std::filesystem::path& folder, const BisectRequest& request);

/// `now` says what does not change the plan: budget, --json, command line. Throws InputError where
/// the folder holds none.
BisectRequest read_bisect_request(const std::filesystem::path& folder, const BisectOptions& now);

}  // namespace mpsprobe

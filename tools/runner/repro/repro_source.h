#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/journal/journal.h"
#include "tools/runner/repro/repro_command.h"
#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// Where a minimisation begins: the failing cell, and how it was run when it failed.
struct ReproSource {
  Cell start;
  std::string signature;         ///< "" where only a cell was given, and no signature
  std::filesystem::path folder;  ///< of the run; empty where there is none
  nlohmann::json describe;       ///< what it answered in the run; null: not known
  RunOptions run;                ///< how one trial of it is run: worker, environment, limits, seed
};

/// Reads what the options name. Of a run, the signature that failed most often, or the one that
/// --signature names (whole, or by a part that only one has); of its cells, those that fail at
/// least half as often as the one that fails most, and among these the one of the simplest form:
/// fewest threads, processes, axes off their defaults, iterations. Throws InputError, JournalError.
ReproSource repro_source(const ReproOptions& options);

}  // namespace mpsprobe

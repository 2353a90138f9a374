#pragma once

#include <set>

#include "harness/journal/journal.h"
#include "harness/matrix/expand.h"
#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// What `run` is going to do: options, matrix and workers brought together into the header of a
/// journal. Throws InputError or MachineError; nothing has been run or written then.
CampaignHeader plan_campaign(const RunOptions& options);

/// The matrix that the options name, or the one that their axes and cells make. Where they name
/// none, the one for the backend that a run without further words takes here: workers are asked.
Matrix chosen_matrix(const RunOptions& options);

/// The backends that cells of the matrix may be of, as far as it and the options name them, for
/// find_workers; empty: any.
std::set<Backend> named_backends(const Matrix& matrix, const RunOptions& options);

/// The form of --env. Throws InputError.
void check_environment_entries(const std::vector<std::string>& entries);

/// The options, and what they leave open as an earlier run had it: trials and seed, limits, jobs
/// and how processes are started. Not its workers and environment, which come from elsewhere
/// perhaps.
RunOptions as_in(const CampaignHeader& earlier, RunOptions options);

/// How the processes of trials are started: as was asked for, which is never left silently; else by
/// exec where somebody `named` the workers, since what their programs make of another way is not
/// known and builds side by side are to be started alike; else in the quickest proven way. Throws
/// InputError where a worker cannot be started in the way that was asked for.
std::optional<StartProcess> chosen_start(std::optional<StartProcess> asked,
                                         const std::vector<WorkerInfo>& workers, bool named);

/// Cells of a matrix on these workers; those whose backend no worker can use are left out.
Plan plan_cells(const Matrix& matrix, const RunOptions& options,
                const std::vector<WorkerInfo>& workers);

}  // namespace mpsprobe

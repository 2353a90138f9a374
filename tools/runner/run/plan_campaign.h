#pragma once

#include <filesystem>
#include <set>
#include <string>

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

/// What the workers get beside the inherited environment: --env, and the questions of --probe.
/// Throws InputError for a wrong form of either, as for what cannot be a mangled name.
std::vector<std::string> asked_environment(const RunOptions& options);

/// The options, and what they leave open as an earlier run in `folder` had it: trials and seed,
/// limits, jobs, and its workers with the way in which they are started. Its command line then
/// names what was taken over of it, as if it had been written there: what is printed of this run
/// has to name it as well. Of a run that was made elsewhere workers are refused and variables left
/// out without options.trust_run: InputError (place = `place`).
RunOptions as_in(const CampaignHeader& earlier, const std::filesystem::path& folder,
                 RunOptions options, const std::string& place);

/// Cells of a matrix on these workers; those whose backend no worker can use are left out.
Plan plan_cells(const Matrix& matrix, const RunOptions& options,
                const std::vector<WorkerInfo>& workers);

}  // namespace mpsprobe

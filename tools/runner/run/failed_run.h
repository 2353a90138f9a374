#pragma once

#include "harness/journal/journal.h"
#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// What `run --failed` runs: the options, with the cells that failed in the run that it names, and
/// with that run's workers, environment, limits, trials and seed where they name no others. No cell
/// where nothing failed. Throws InputError for what does not go together with it, JournalError.
RunOptions options_of_failed(const RunOptions& options);

/// The same for `run --more`: the cells that tell which failures need the same conditions, and so
/// many trials as that takes where no other number is asked for. No cell where all is known.
RunOptions options_of_more(const RunOptions& options);

/// Plans them as any run, with the blocks and expectations that the cells had there.
CampaignHeader plan_failed(const RunOptions& options);

}  // namespace mpsprobe

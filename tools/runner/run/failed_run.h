#pragma once

#include "harness/journal/journal.h"
#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// What `run --failed` or `run --more` runs: the cells that failed in the run that it names, with
/// the blocks and expectations that they had there; or those that tell which failures need the same
/// conditions, and so many trials as that takes. With that run's workers, environment, limits,
/// trials and seed where the options name no others. Nothing where nothing failed, or all is known.
/// Throws InputError for what does not go together with it, JournalError.
std::optional<CampaignHeader> plan_of_earlier(const RunOptions& options);

}  // namespace mpsprobe

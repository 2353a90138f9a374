#include "tools/runner/run/failed_run.h"

#include <algorithm>
#include <set>

#include "harness/input/input_error.h"
#include "reports/analysis/analysis.h"
#include "reports/groups/failure_groups.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/run_origin.h"

namespace mpsprobe {
namespace {

std::filesystem::path journal_named(const std::string& run) {
  return folder_of_run(run) / "journal.ndjson";
}

/// The options with the workers, the environment and the limits of an earlier run. `name` is the
/// option that named it, `run`.
RunOptions as_in_earlier(const RunOptions& options, const CampaignHeader& earlier,
                         const std::string& name, const std::string& run) {
  RunOptions result = as_in(earlier, options);
  if (!options.start_process.has_value() && earlier.start_process.has_value()) {
    result.command_line.insert(result.command_line.end(),
                               {"--start-process", std::string(name_of(*earlier.start_process))});
  }
  const bool trusted = options.trust_run || made_here(earlier.origin, folder_of_run(run));
  if (result.workers.empty()) {
    if (!trusted) {
      refuse_foreign(earlier.origin, folder_of_run(run), would_start(earlier), name + " " + run,
                     "Name the worker to run with --worker NAME=PATH, or add --trust-run if you "
                     "trust whoever made the run");
    }
    for (const WorkerInfo& worker : earlier.workers) {
      result.workers.push_back(worker.name + "=" + worker.path);
      // As if it had been written there: what is printed of this run has to name it as well.
      result.command_line.insert(result.command_line.end(), {"--worker", result.workers.back()});
    }
  }
  result.own_cells = made_here(earlier.origin, folder_of_run(run));
  if (result.environment.empty() && trusted) {
    result.environment = earlier.environment;
  } else if (!trusted) {
    say_left_out_variables(earlier.environment);
  }
  return result;
}

void refuse_other_cells(const RunOptions& options, const std::string& name) {
  if (!options.matrix && options.cells.empty() && options.axes.empty()) return;
  throw InputError(name, "says what to run already",
                   "Leave out --matrix, --cell and the axes; --filter takes some of its cells");
}

}  // namespace

RunOptions options_of_failed(const RunOptions& options) {
  refuse_other_cells(options, "--failed");
  const Journal journal = read_journal(journal_named(*options.failed));
  RunOptions result = as_in_earlier(options, journal.header, "--failed", *options.failed);
  for (const CellSummary& cell : analyse(journal).cells) {
    const bool known =
        std::find(result.cells.begin(), result.cells.end(), cell.id) != result.cells.end();
    if (cell.failures > 0 && !known) result.cells.push_back(cell.id);
  }
  return result;
}

RunOptions options_of_more(const RunOptions& options) {
  refuse_other_cells(options, "--more");
  const Journal journal = read_journal(journal_named(*options.more));
  RunOptions result = as_in_earlier(options, journal.header, "--more", *options.more);
  const Analysis analysis = analyse(journal);
  const FailureGroups groups = find_groups(analysis);
  result.cells = cells_that_tell(analysis, groups);
  result.settle_rate.reset();
  if (!options.trials) result.trials = trials_that_tell(analysis, groups, kMostTrialsThatTell);
  return result;
}

CampaignHeader plan_failed(const RunOptions& options) {
  const Journal journal = read_journal(journal_named(*options.failed));
  CampaignHeader header = plan_campaign(options);
  std::set<std::string> wanted;
  for (const PlannedCell& planned : header.cells) wanted.insert(to_string(planned.cell));
  PlannedCells cells;
  for (PlannedCell planned : journal.header.cells) {
    if (wanted.contains(to_string(planned.cell))) cells.push_back(std::move(planned));
  }
  header.cells = std::move(cells);
  header.matrix_name = "failed";
  header.matrix_description = "What failed in " + *options.failed;
  return header;
}

}  // namespace mpsprobe

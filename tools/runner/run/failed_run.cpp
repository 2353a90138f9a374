#include "tools/runner/run/failed_run.h"

#include <set>

#include "harness/input/input_error.h"
#include "reports/analysis/analysis.h"
#include "reports/groups/failure_groups.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/run_origin.h"

namespace mpsprobe {
namespace {

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

/// The planned cells of an earlier run, with its blocks and expectations, that are `planned` now.
PlannedCells as_planned_before(const PlannedCells& earlier, const PlannedCells& planned) {
  std::set<std::string> wanted;
  for (const PlannedCell& each : planned) wanted.insert(to_string(each.cell));
  PlannedCells cells;
  for (PlannedCell each : earlier) {
    if (wanted.contains(to_string(each.cell))) cells.push_back(std::move(each));
  }
  return cells;
}

}  // namespace

std::optional<CampaignHeader> plan_of_earlier(const RunOptions& options) {
  const std::string name = options.failed ? "--failed" : "--more";
  const std::string run = options.failed ? *options.failed : *options.more;
  if (options.matrix || !options.cells.empty() || !options.axes.empty()) {
    throw InputError(name, "says what to run already",
                     "Leave out --matrix, --cell and the axes; --filter takes some of its cells");
  }
  const Journal journal = read_journal(folder_of_run(run) / "journal.ndjson");
  RunOptions again = as_in_earlier(options, journal.header, name, run);
  const Analysis analysis = analyse(journal);
  if (options.more) {
    const FailureGroups groups = find_groups(analysis);
    again.cells = cells_that_tell(analysis, groups);
    again.settle_rate.reset();
    if (!options.trials) again.trials = trials_that_tell(analysis, groups, kMostTrialsThatTell);
    if (again.cells.empty()) return std::nullopt;
    return plan_campaign(again);
  }
  std::set<std::string> failed;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.failures > 0 && failed.insert(cell.id).second) again.cells.push_back(cell.id);
  }
  if (failed.empty()) return std::nullopt;
  CampaignHeader header = plan_campaign(again);
  header.cells = as_planned_before(journal.header.cells, header.cells);
  header.matrix_name = "failed";
  header.matrix_description = "What failed in " + run;
  return header;
}

}  // namespace mpsprobe

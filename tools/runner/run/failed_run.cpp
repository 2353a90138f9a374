#include "tools/runner/run/failed_run.h"

#include <set>

#include "harness/input/input_error.h"
#include "reports/analysis/analysis.h"
#include "reports/groups/failure_groups.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/run/plan_campaign.h"

namespace mpsprobe {
namespace {

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
  const std::filesystem::path folder = folder_of_run(run);
  const Journal journal = read_journal(folder / "journal.ndjson");
  RunOptions again = as_in(journal.header, folder, options, name + " " + run);
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

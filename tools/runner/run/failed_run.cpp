#include "tools/runner/run/failed_run.h"

#include <algorithm>
#include <set>

#include "harness/wire/input_error.h"
#include "reports/analysis/analysis.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/run_origin.h"

namespace mpsprobe {
namespace {

std::filesystem::path journal_named(const std::string& run) {
  return folder_of_run(run) / "journal.ndjson";
}

}  // namespace

RunOptions options_of_failed(const RunOptions& options) {
  if (options.matrix || !options.cells.empty() || !options.axes.empty()) {
    throw InputError("--failed", "says what to run already",
                     "Leave out --matrix, --cell and the axes; --filter takes some of its cells");
  }
  const Journal journal = read_journal(journal_named(*options.failed));
  const CampaignHeader& earlier = journal.header;
  RunOptions result = as_in(earlier, options);
  if (!options.start_process.has_value() && earlier.start_process.has_value()) {
    result.command_line.insert(result.command_line.end(),
                               {"--start-process", std::string(name_of(*earlier.start_process))});
  }
  for (const CellSummary& cell : analyse(journal).cells) {
    const bool known =
        std::find(result.cells.begin(), result.cells.end(), cell.id) != result.cells.end();
    if (cell.failures > 0 && !known) result.cells.push_back(cell.id);
  }
  const bool trusted =
      options.trust_run || made_here(earlier.origin, folder_of_run(*options.failed));
  if (result.workers.empty()) {
    if (!trusted) {
      refuse_foreign(earlier.origin, folder_of_run(*options.failed), would_start(earlier),
                     "--failed " + *options.failed,
                     "Name the worker to run with --worker NAME=PATH, or add --trust-run if you "
                     "trust whoever made the run");
    }
    for (const WorkerInfo& worker : earlier.workers) {
      result.workers.push_back(worker.name + "=" + worker.path);
      // As if it had been written there: what is printed of this run has to name it as well.
      result.command_line.insert(result.command_line.end(), {"--worker", result.workers.back()});
    }
  }
  if (result.environment.empty() && trusted) {
    result.environment = earlier.environment;
  } else if (!trusted) {
    say_left_out_variables(earlier.environment);
  }
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

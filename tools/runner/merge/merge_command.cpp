#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "harness/campaign/merge.h"
#include "harness/input/input_error.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reports/writers/write.h"
#include "tools/runner/command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/run/finish_report.h"
#include "tools/runner/run/run_origin.h"
#include "tools/runner/run/trial_setup.h"
#include "tools/runner/say.h"
#include "tools/runner/trial_options.h"

namespace mpsprobe {
namespace {

/// What `mpsprobe merge` was asked for.
struct MergeOptions {
  std::vector<std::string> folders;
  std::string out = "mpsprobe-out/merged";
  std::string format = "markdown,json";
};

namespace fs = std::filesystem;

std::vector<NamedJournal> runs_of(const std::vector<std::string>& folders) {
  std::vector<NamedJournal> runs;
  for (const std::string& folder : folders) {
    std::vector<NamedJournal> found = runs_below(folder);
    if (found.empty()) {
      throw InputError(printable(folder), "holds no run, and no folder right below it does",
                       "Name the folders that --out named");
    }
    std::move(found.begin(), found.end(), std::back_inserter(runs));
  }
  return runs;
}

/// What was merged before may be merged anew; a run's own journal is never replaced.
void prepare_folder(const fs::path& folder, const Formats& formats) {
  const fs::path file = folder / "journal.ndjson";
  std::error_code error;
  if (fs::exists(file, error) && has_first_record(file) &&
      read_journal(file, [](const TrialRecord&) {}).header.merged_from.empty()) {
    throw InputError("--out " + printable(folder.string()), "holds the journal of a run",
                     "Name another folder for what is merged");
  }
  make_named_folder(folder);
  refuse_foreign_reports(folder, formats);
}

void add_merge_options(CLI::App& app, MergeOptions& options) {
  app.add_option("runs", options.folders, "folders of runs, or folders that hold some")
      ->required()
      ->type_name("DIR...");
  app.add_option("--out", options.out, "folder for the merged journal and its report")
      ->type_name("DIR")
      ->capture_default_str();
  add_format(app, options.format);
}

/// `mpsprobe merge`: a journal and its report of all runs below the folders. Returns the exit code;
/// throws InputError, JournalError, MachineError, ReportError.
int merge_command_line(const MergeOptions& options) {
  const Formats formats = formats_named(options.format);
  std::vector<NamedJournal> runs = runs_of(options.folders);
  const std::vector<size_t> shards = missing_shards(runs);
  const size_t count = runs.size();
  const bool here = std::all_of(runs.begin(), runs.end(), [](const NamedJournal& run) {
    return made_here(run.journal.header.origin, run.name);
  });
  Journal merged = merge_journals(std::move(runs));
  prepare_folder(options.out, formats);
  if (here) merged.header.origin = origin_of(options.out);
  write_journal(fs::path(options.out) / "journal.ndjson", merged);
  say(stderr, "merged {}: {}\n", counted(count, "runs"), counted(merged.stored->size(), "trials"));
  const Analysis analysis = finish_report(options.out, formats);
  if (!shards.empty()) {
    say(stderr, "mpsprobe: no run of {} {} is here\n", shards.size() == 1 ? "shard" : "shards",
        fmt::format("{}", fmt::join(shards, ", ")));
  }
  if (analysis.undone == 0) return kExitOk;
  say(stderr, "mpsprobe: incomplete: {} of {} planned trials came to a result\n",
      analysis.planned - analysis.undone, analysis.planned);
  return kExitIncomplete;
}

}  // namespace

RunCommand add_merge(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_merge_options, merge_command_line);
}

}  // namespace mpsprobe

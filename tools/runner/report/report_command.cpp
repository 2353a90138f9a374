#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "harness/input/input_error.h"
#include "reports/writers/write.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/command.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/history/history_file.h"
#include "tools/runner/named_run.h"
#include "tools/runner/run/finish_report.h"
#include "tools/runner/trial_options.h"

namespace mpsprobe {
namespace {

/// What `mpsprobe report` was asked for.
struct ReportOptions {
  std::string run;
  std::string format = "markdown,json";
  std::optional<std::string> baseline;      ///< --baseline: another run
  std::optional<std::string> expectations;  ///< --expectations: a file
  std::optional<std::string> history;       ///< --db
};

Beside beside_of(const ReportOptions& options, const Journal& journal, const Analysis& analysis) {
  Beside beside;
  const KeptRun run = kept_run(options.run, journal, analysis);
  const std::vector<RunFacts> earlier = earlier_nights(run, options.history);
  if (options.history) beside.nights = nights_of_cells(run.facts, earlier);
  if (options.baseline) {
    RunFacts before = named_facts(*options.baseline);
    refuse_unlike(before, run.facts, {"machine", "library"});
    Difference difference = compare_runs(before, run.facts);
    beside.baseline = {std::move(before), run.facts, std::move(difference)};
  }
  if (options.expectations) {
    std::vector<KnownFailure> known = find_known_failures(*options.expectations);
    Findings findings = judge_expectations(known, run.facts, earlier);
    beside.known = {std::move(known), run.facts, std::move(findings)};
  }
  return beside;
}

void add_report_options(CLI::App& app, ReportOptions& options) {
  add_format(app, options.format);
  app.add_option("--baseline", options.baseline,
                 "in HTML: what differs from this run, as `mpsprobe diff` claims it")
      ->type_name("RUN");
  app.add_option("--expectations", options.expectations,
                 "in HTML: known failures, and what is none, see `mpsprobe expect --help`")
      ->type_name("FILE");
  app.add_option("--db", options.history,
                 "in HTML: the nights of a history, see `mpsprobe history --help`")
      ->type_name("FILE");
  app.add_option("run", options.run, "folder of a run, or its report.json")
      ->required()
      ->type_name("FOLDER|report.json");
}

/// Writes the report of a run again. Returns the exit code. Throws InputError, JournalError,
/// HistoryError, ReportError.
int report_command_line(const ReportOptions& options) {
  const Formats formats = formats_named(options.format);
  const bool besides = options.baseline || options.expectations || options.history;
  if (besides && !shows_beside(formats)) {
    throw InputError("report", "nothing of that format shows --baseline, --expectations or --db",
                     "Ask for --format html as well");
  }
  MakeBeside beside;
  if (besides) {
    beside = [&options](const Journal& journal, const Analysis& analysis) {
      return beside_of(options, journal, analysis);
    };
  }
  finish_report(folder_of_run(options.run), formats, beside);
  return kExitOk;
}

}  // namespace

RunCommand add_report(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_report_options, report_command_line);
}

}  // namespace mpsprobe

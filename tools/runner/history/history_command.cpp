#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/statistics/nights.h"
#include "reports/claims/change_claim.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "tools/runner/command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/history/history_file.h"
#include "tools/runner/option_check.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

/// What `mpsprobe history` was asked for.
struct HistoryOptions {
  std::string action;  ///< add, trend
  std::vector<std::string> runs;
  std::string file = "mpsprobe-out/history.ndjson";
  std::string cell;  ///< --cell: a pattern with * and ?
  bool json = false;
};

namespace fs = std::filesystem;
using nlohmann::ordered_json;

int add_runs(const HistoryOptions& options) {
  if (options.runs.empty()) {
    throw InputError("history add", "nothing says which run", "Name the folders of runs");
  }
  std::vector<KeptRun> runs;  // all are read before the first is written
  for (const std::string& name : options.runs) runs.push_back(kept_run(name));
  HistoryFile history(options.file, true);
  for (KeptRun& run : runs) {
    const std::string name = printable(run.facts.name);
    const Added added = history.add(std::move(run));
    say(stderr, "{}: {}\n", name,
        added == Added::fresh   ? "added"
        : added == Added::again ? "was there, and is replaced"
                                : "is part of a merged run that is there: left as it is");
  }
  history.write();
  return kExitOk;
}

std::string series_label(const Series& series) {
  return fmt::format("{}{}{}{} on {}", series.simulated ? "SIMULATED " : "", printable(series.cell),
                     series.code.empty() ? "" : " of " + shortened(printable(series.code), 80),
                     series.arm.empty() ? "" : " (" + printable(series.arm) + ")",
                     printable(series.machine));
}

const std::string& started(const Series::Night& night) {
  return night.run->facts.started;
}

std::string day_of(const Series::Night& night) {
  return printable(started(night).substr(0, std::string_view("2026-01-31T12:34").size()));
}

/// What differs between two nights besides the counts.
std::string change_between_nights(const Series::Night& before, const Series::Night& after) {
  std::vector<std::string> changes;
  const auto compare = [&changes](const std::string& then, const std::string& now) {
    if (then == now) return;
    changes.push_back(
        fmt::format("{} -> {}", shortened(printable(then), 100), shortened(printable(now), 100)));
  };
  compare(before.library, after.library);
  compare(system_label(before.run->facts), system_label(after.run->facts));
  return changes.empty() ? "the same library and system"
                         : fmt::format("{}", fmt::join(changes, "; "));
}

void tell_shifts(const Series& series, ordered_json& shifts, std::string& text) {
  std::vector<Proportion> counts;
  for (const Series::Night& night : series.nights) counts.push_back(night.seen);
  for (const ClaimedShift& claimed : claimed_shifts(counts)) {
    const RateShift::Nights within = claimed.shift.within();
    const Series::Night& first = series.nights[claimed.begin + within.first];
    const Series::Night& last = series.nights[claimed.begin + within.last];
    const Series::Night& night = series.nights[claimed.night];
    const Series::Night& before = series.nights[claimed.night - 1];
    const bool worse = claimed.shift.after > claimed.shift.before;
    shifts.push_back({{"cell", series.cell},
                      {"worker", series.arm},
                      {"machine", series.machine},
                      {"simulated", series.simulated},
                      {"direction", worse ? "more often" : "less often"},
                      {"chance", claimed.shift.chance},
                      {"since", started(night)},
                      {"run", night.run->id},
                      {"within", {started(first), started(last)}},
                      {"rate_before", claimed.shift.before},
                      {"rate_after", claimed.shift.after},
                      {"library_before", before.library},
                      {"library", night.library},
                      {"system_before", system_label(before.run->facts)},
                      {"system", system_label(night.run->facts)}});
    text += fmt::format("{}: since {} {}; with 95% it began between {} and {}\n    {}\n",
                        series_label(series), day_of(night), shift_in_words(claimed.shift),
                        day_of(first), day_of(last), change_between_nights(before, night));
  }
}

int show_trend(const HistoryOptions& options) {
  std::error_code error;
  if (!fs::exists(options.file, error)) {
    throw InputError(printable(options.file), "does not exist",
                     "`mpsprobe history add RUN` begins one");
  }
  const HistoryFile history(options.file);
  ordered_json shifts = ordered_json::array();
  std::string text;
  int64_t count = 0;
  for (const Series& series : history.series()) {
    if (!options.cell.empty() && fnmatch(options.cell.c_str(), series.cell.c_str(), 0) != 0) {
      continue;
    }
    ++count;
    tell_shifts(series, shifts, text);
  }
  if (options.json) {
    say(stdout, "{}",
        json_document(ordered_json{{"mpsprobe_trend", 1},
                                   {"series", count},
                                   {"claimed_from", kClaimedShift},
                                   {"changes", shifts}}));
  } else {
    say(stdout, "{}{} looked at: {} of a rate\n", text, counted(count, "series"),
        counted(shifts.size(), "changes"));
  }
  return count == 0 ? kExitNothingRun : kExitOk;
}

void add_history_options(CLI::App& app, HistoryOptions& options) {
  app.add_option("action", options.action,
                 "add: keep the counts of runs; trend: since which night a cell fails more or less "
                 "often")
      ->required()
      ->check(one_of({"add", "trend"}))
      ->type_name("ACTION");
  app.add_option("runs", options.runs, "of `add`: folders of runs, or their report.json")
      ->type_name("RUN...");
  app.add_option("--db", options.file, "the history: one file, a line of JSON each run")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--cell", options.cell, "of `trend`: only cells like this, with * and ?")
      ->type_name("PATTERN");
  app.add_flag("--json", options.json, "as JSON");
}

/// `mpsprobe history`: keeps counts of runs over nights, and says what changed. Returns the exit
/// code: 0; 4 where the history is empty. Throws InputError, HistoryError, JournalError.
int history_command_line(const HistoryOptions& options) {
  if (options.action == "add") return add_runs(options);
  if (!options.runs.empty()) {
    throw InputError("history trend", "takes no runs", "Name cells with --cell, or add runs first");
  }
  return show_trend(options);
}

}  // namespace

RunCommand add_history(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_history_options, history_command_line);
}

}  // namespace mpsprobe

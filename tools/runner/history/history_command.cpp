#include "tools/runner/history/history_command.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "harness/input/input_error.h"
#include "harness/statistics/known_rate.h"
#include "harness/statistics/nights.h"
#include "reports/claims/change_claim.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reports/writers/json.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/history/history_file.h"
#include "tools/runner/history/kept_run.h"
#include "tools/runner/option_check.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

int add_runs(const HistoryOptions& options) {
  if (options.runs.empty()) {
    throw InputError("history add", "nothing says which run", "Name the folders of runs");
  }
  std::vector<KeptRun> runs;  // all are read before the first is written
  for (const std::string& name : options.runs) runs.push_back(kept_run(name));
  const fs::path folder = fs::path(options.file).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);  // what opens it says why not
  HistoryFile history(options.file, true);
  for (const KeptRun& run : runs) {
    const char* what = "added";
    switch (history.add(run)) {
      case Added::fresh:
        break;
      case Added::again:
        what = "was there, and is replaced";
        break;
      case Added::contained:
        what = "is part of a merged run that is there: left as it is";
        break;
    }
    say(stderr, "{}: {}\n", printable(run.facts.name), what);
  }
  return kExitOk;
}

HistoryFile existing_history(const std::string& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    throw InputError(printable(file), "does not exist", "`mpsprobe history add RUN` begins one");
  }
  return {file, false};
}

bool wanted(const HistoryOptions& options, const Series& series) {
  return options.cell.empty() || fnmatch(options.cell.c_str(), series.cell.c_str(), 0) == 0;
}

std::string series_label(const Series& series) {
  return fmt::format("{}{}{} on {}", series.simulated ? "SIMULATED " : "", printable(series.cell),
                     series.arm.empty() ? "" : " (" + printable(series.arm) + ")",
                     printable(series.machine));
}

std::string day_of(const NightRow& night) {
  return night.started.substr(0, std::string_view("2026-01-31T12:34").size());
}

int show_history(const HistoryOptions& options, const HistoryFile& history) {
  ordered_json list = ordered_json::array();
  std::string text;
  if (options.cell.empty()) {
    for (const RunRow& run : history.runs()) {
      list.push_back({{"run", run.id},
                      {"started", run.started},
                      {"machine", run.machine},
                      {"system", run.system},
                      {"simulated", run.simulated},
                      {"planned", run.planned},
                      {"undone", run.undone},
                      {"cells", run.cells},
                      {"trials", run.trials},
                      {"failures", run.failures},
                      {"libraries", run.libraries}});
      text +=
          fmt::format("{}  {}{}, {}: {}/{} in {}{}; {}\n", run.started.substr(0, 16),
                      run.simulated ? "SIMULATED " : "", printable(run.machine),
                      printable(run.system), run.failures, run.trials, counted(run.cells, "cells"),
                      run.undone > 0 ? fmt::format(", incomplete by {}", run.undone) : "",
                      shortened(printable(run.libraries), 120));
    }
  } else {
    for (const Series& series : history.series()) {
      if (!wanted(options, series)) continue;
      text += series_label(series) + "\n";
      ordered_json nights = ordered_json::array();
      for (const NightRow& night : series.nights) {
        nights.push_back({{"run", night.run},
                          {"started", night.started},
                          {"system", night.system},
                          {"library", night.library},
                          {"failures", night.seen.failures},
                          {"trials", night.seen.trials},
                          {"refused", night.refused}});
        text += fmt::format("    {}  {}/{}{}  {}\n", day_of(night), night.seen.failures,
                            night.seen.trials,
                            night.refused > 0 ? fmt::format(", {} refused", night.refused) : "",
                            shortened(printable(night.library), 100));
      }
      list.push_back({{"cell", series.cell},
                      {"worker", series.arm},
                      {"machine", series.machine},
                      {"simulated", series.simulated},
                      {"nights", nights}});
    }
  }
  say(stdout, "{}",
      options.json ? json_text(ordered_json{{"mpsprobe_history", 1}, {"rows", list}}) : text);
  return list.empty() ? kExitNothingRun : kExitOk;
}

/// What differs between two nights besides the counts.
std::string change_between_nights(const NightRow& before, const NightRow& after) {
  std::string text;
  if (before.library != after.library) {
    text = fmt::format("{} -> {}", shortened(printable(before.library), 100),
                       shortened(printable(after.library), 100));
  }
  if (before.system != after.system) {
    text += fmt::format("{}{} -> {}", text.empty() ? "" : "; ", printable(before.system),
                        printable(after.system));
  }
  return text.empty() ? "the same library and system" : text;
}

std::vector<Proportion> counts_of(const Series& series) {
  std::vector<Proportion> counts;
  for (const NightRow& night : series.nights) counts.push_back(night.seen);
  return counts;
}

void tell_shifts(const Series& series, ordered_json& shifts, std::string& text) {
  for (const ClaimedShift& claimed : claimed_shifts(counts_of(series))) {
    const RateShift::Nights within = claimed.shift.within();
    const NightRow& first = series.nights[claimed.begin + within.first];
    const NightRow& last = series.nights[claimed.begin + within.last];
    const NightRow& night = series.nights[claimed.night];
    const NightRow& before = series.nights[claimed.night - 1];
    const bool worse = claimed.shift.after > claimed.shift.before;
    const std::string change = change_between_nights(before, night);
    shifts.push_back({{"cell", series.cell},
                      {"worker", series.arm},
                      {"machine", series.machine},
                      {"simulated", series.simulated},
                      {"direction", worse ? "more often" : "less often"},
                      {"chance", claimed.shift.chance},
                      {"since", night.started},
                      {"run", night.run},
                      {"within", {first.started, last.started}},
                      {"rate_before", claimed.shift.before},
                      {"rate_after", claimed.shift.after},
                      {"library_before", before.library},
                      {"library", night.library},
                      {"system_before", before.system},
                      {"system", night.system}});
    text += fmt::format("{}: since {} {}; with 95% it began between {} and {}\n    {}\n",
                        series_label(series), day_of(night), shift_in_words(claimed.shift),
                        day_of(first), day_of(last), change);
  }
}

// What failed and is refused now did not end by itself.
void tell_refused(const Series& series, ordered_json& refused, std::string& text) {
  size_t first = series.nights.size();
  while (first > 0 && series.nights[first - 1].refused > 0) --first;
  if (first == 0 || first == series.nights.size()) return;
  Proportion before;
  Proportion since;
  Proportion failed;
  for (size_t i = 0; i < series.nights.size(); ++i) {
    const NightRow& night = series.nights[i];
    Proportion& side = i < first ? before : since;
    side.failures += night.refused;
    side.trials += night.refused + night.seen.trials;
    if (i >= first) continue;
    failed.failures += night.seen.failures;
    failed.trials += night.seen.trials;
  }
  const std::string words = refusal_in_words(before, since);
  if (words.empty()) return;
  const NightRow& night = series.nights[first];
  refused.push_back({{"cell", series.cell},
                     {"worker", series.arm},
                     {"machine", series.machine},
                     {"simulated", series.simulated},
                     {"since", night.started},
                     {"run", night.run},
                     {"refused", since.failures},
                     {"answers", since.trials},
                     {"failures_before", failed.failures},
                     {"trials_before", failed.trials}});
  text += fmt::format("{}: since {} {}; {} of {} failed before\n    {}\n", series_label(series),
                      day_of(night), words, failed.failures, counted(failed.trials, "trials"),
                      change_between_nights(series.nights[first - 1], night));
}

void tell_gone(const SignatureSeries& one, ordered_json& gone, std::string& text) {
  Proportion seen;
  std::vector<int> silent;
  const NightRow* last = nullptr;
  for (const NightRow& night : one.series.nights) {
    silent.push_back(night.seen.trials);
    if (night.seen.failures == 0) continue;
    for (const int trials : silent) seen.trials += trials;
    seen.failures += night.seen.failures;
    silent.clear();
    last = &night;
  }
  const double chance = chance_gone(seen, silent);
  if (last == nullptr || chance < kClaimedGone) return;
  const int trials = std::accumulate(silent.begin(), silent.end(), 0);
  gone.push_back({{"cell", one.series.cell},
                  {"worker", one.series.arm},
                  {"machine", one.series.machine},
                  {"simulated", one.series.simulated},
                  {"signature", one.signature},
                  {"last_seen", last->started},
                  {"failures", seen.failures},
                  {"trials", seen.trials},
                  {"trials_since", trials},
                  {"chance", chance}});
  text +=
      fmt::format("{}: last seen {}: {} {}\n", series_label(one.series), day_of(*last),
                  shortened(printable(one.signature), 100), gone_in_words(chance, seen, trials));
}

int show_trend(const HistoryOptions& options, const HistoryFile& history) {
  ordered_json shifts = ordered_json::array();
  ordered_json gone = ordered_json::array();
  ordered_json refused = ordered_json::array();
  std::string text;
  int64_t count = 0;
  for (const Series& series : history.series()) {
    if (!wanted(options, series)) continue;
    ++count;
    tell_shifts(series, shifts, text);
    tell_refused(series, refused, text);
  }
  for (const SignatureSeries& one : history.signatures()) {
    if (wanted(options, one.series)) tell_gone(one, gone, text);
  }
  if (options.json) {
    say(stdout, "{}",
        json_text(ordered_json{{"mpsprobe_trend", 1},
                               {"series", count},
                               {"claimed_from", kClaimedShift},
                               {"changes", shifts},
                               {"gone", gone},
                               {"refused", refused}}));
  } else {
    say(stdout, "{}{} looked at: {} of a rate, {} gone, {} refused\n", text,
        counted(count, "series"), counted(shifts.size(), "changes"),
        counted(gone.size(), "signatures"), refused.size());
  }
  return count == 0 ? kExitNothingRun : kExitOk;
}

}  // namespace

void add_history_options(CLI::App& app, HistoryOptions& options) {
  app.add_option("action", options.action,
                 "add: keep runs; show: what is kept; trend: what changed over the nights")
      ->required()
      ->check(one_of({"add", "show", "trend"}))
      ->type_name("ACTION");
  app.add_option("runs", options.runs, "of `add`: folders of runs, or their report.json")
      ->type_name("RUN...");
  app.add_option("--db", options.file, "the history: one SQLite file")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option(
         "--cell", options.cell,
         "of `show` and `trend`: only cells like this, with * and ?; `show` has their nights then")
      ->type_name("PATTERN");
  app.add_flag("--json", options.json, "as JSON");
}

int history_command_line(const HistoryOptions& options) {
  if (options.action == "add") return add_runs(options);
  if (!options.runs.empty()) {
    throw InputError("history " + options.action, "takes no runs",
                     "Name cells with --cell, or add runs first");
  }
  const HistoryFile history = existing_history(options.file);
  return options.action == "show" ? show_history(options, history) : show_trend(options, history);
}

}  // namespace mpsprobe

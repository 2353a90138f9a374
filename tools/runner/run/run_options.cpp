#include "tools/runner/run/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <set>

#include "harness/wire/axis.h"
#include "reports/writers/write.h"
#include "tools/runner/option_check.h"
#include "tools/runner/trial_options.h"

namespace mpsprobe {
namespace {

// Headings of the help.
const char* const kWhat = "What runs";
const char* const kLimits = "How much, and how long";
const char* const kWorkers = "On what it runs";
const char* const kPlace = "Where it is kept";
const char* const kResult = "What comes of it";
const char* const kAxisGroup =
    "Axes: values for every block of the matrix, or a matrix of their own";

std::string axis_help(const Axis& axis) {
  std::string help(axis.help);
  if (axis.kind == AxisKind::text) {
    help += fmt::format(": {}", axis.form);
  } else if (axis.kind == AxisKind::choice) {
    help += fmt::format(": {}", fmt::join(axis.values, ", "));
  } else if (axis.kind == AxisKind::count) {
    help += fmt::format(", {} to {}", axis.minimum, axis.maximum);
  }
  if (axis.name == "backend") return help + " [the best one present]";
  return axis.default_value.empty() ? help : fmt::format("{} [{}]", help, axis.default_value);
}

/// An option that may be given without a value, which is then "". CLI11 by itself takes that for a
/// value before its release 2.7 and for none since.
CLI::Option* add_optional_value(CLI::App& app, const std::string& name,
                                std::optional<std::string>& value, const std::string& help) {
  const CLI::callback_t take = [&value](const CLI::results_t& given) {
    value = given.empty() ? "" : given.front();
    return true;
  };
  return app.add_option(name, take, help)->expected(0, 1);
}

/// The axes env.NAME that a command line names, by options; without any, one that stands for them
/// in the help.
std::set<std::string> variable_options(const std::vector<std::string>& command_line) {
  constexpr std::string_view kBegin = "--env.";
  std::set<std::string> names;
  for (const std::string& word : command_line) {
    if (!word.starts_with(kBegin) || word.size() == kBegin.size()) continue;
    names.insert(
        word.substr(2, word.find('=') == std::string::npos ? word.size() : word.find('=') - 2));
  }
  if (names.empty()) names.insert("env.NAME");
  return names;
}

}  // namespace

void add_run_options(CLI::App& app, RunOptions& options) {
  stand_alone(app, {{"--resume",
                     {"--format", "--expectations", "--fail-on", "--known-good", "--trust-run"},
                     "goes on with the options that the run began with"}});
  app.option_defaults()->group(kWhat);
  add_optional_value(app, "--matrix", options.matrix,
                     "run a matrix: a name from `mpsprobe list matrices`, or a JSON file [the one "
                     "for the best backend present]")
      ->type_name("[NAME|FILE]");
  app.add_option("--cell", options.cells, "run one cell by its text; may be repeated")
      ->type_name("CELL");
  app.add_option("--failed", options.failed,
                 "run the cells again that failed in this run (its folder or report.json), as they "
                 "ran there")
      ->type_name("RUN-FOLDER");
  CLI::Option* const python =
      app.add_option("--python", options.python,
                     "run your own Python function in threads: FILE::FUNCTION[,FUNCTION], or a "
                     "module in place of the file (docs/python.md); FILE alone is a whole script, "
                     "with its arguments behind `--`")
          ->type_name("CODE");
  app.add_option("--pytest", options.pytest,
                 "run your own tests in threads, each as an operation: a file, a folder or a node "
                 "id of pytest")
      ->type_name("NODE")
      ->excludes(python);
  app.add_option("--set", options.set,
                 "values of a parameter of your own command (behind `--`): {NAME} in it, and a "
                 "variable of its environment; may be repeated (docs/own-commands.md)")
      ->type_name("NAME=A,B");
  app.add_option("--expect-output", options.expect_output,
                 "your command must print what this file holds, or the `same` as with one thread; "
                 "numbers may differ by 1e-4 of the larger one [it is not compared]")
      ->type_name("FILE|same");
  app.add_option("--fail-on-output", options.fail_on_output,
                 "your command must not print this text; may be repeated")
      ->type_name("TEXT");
  app.add_option("--filter", options.filters,
                 "of these, only the cells that match a shell pattern; may be repeated")
      ->type_name("PATTERN");
  app.add_option("--more", options.more,
                 "run the cells that would tell which failures of this run (its folder or "
                 "report.json) need the same conditions, and the failing ones again")
      ->type_name("RUN-FOLDER");
  add_trials(app, options.trials, "each cell", "10, or what the matrix says");
  app.add_option("--settle", options.settle_rate,
                 "10 trials of each cell, and more where they tell whether it fails in RATE of its "
                 "trials or more, until each boundary is settled; a --budget is used up to make "
                 "the rates beside boundaries sharper")
      ->transform(rate_between(0.001, 0.5))
      ->type_name("RATE")
      ->excludes("--trials");
  add_seed(app, options.seed, "the order of the cells, and of their inputs", "1");
  app.add_option("--shard", options.shard,
                 "run this part of the plan, whole boundaries; `mpsprobe merge` puts the parts "
                 "together")
      ->type_name("I/N");
  app.option_defaults()->group(kLimits);
  add_limits(app, options.limits,
             {"300, or what the matrix says", "20, or what the matrix says",
              "none, or what the matrix says"});
  app.add_option("--max-failures", options.max_failures,
                 "failing trials after which no trial starts [no limit]")
      ->check(whole_number_between(1, 1'000'000))
      ->type_name("N");
  app.add_option("--jobs", options.jobs,
                 "trials at the same time; on a GPU with the backend cuda only [1 on a GPU and "
                 "for MLX in C++, else one for each core, at most 8]")
      ->check(whole_number_between(1, 64))
      ->type_name("N");
  app.option_defaults()->group(kPlace);
  app.add_option(
         "--out", options.out,
         "folder for journal and report [mpsprobe-out/TIME-MATRIX]; must not hold a journal")
      ->type_name("DIR");
  add_optional_value(app, "--resume", options.resume,
                     "go on with the run in this folder, or else with the newest below "
                     "mpsprobe-out, with the options that it began with")
      ->type_name("[DIR]");
  app.option_defaults()->group(kWorkers);
  add_trust_run(app, options.trust_run);
  add_environment(app, options.environment);
  app.add_option("--worker", options.workers,
                 "a build of the worker; may be repeated: the same cells, side by side [stock: the "
                 "one beside this program]")
      ->type_name("NAME=PATH");
  add_start_process(app, options.start_process,
                    "fork on the CPU by LibTorch and on simulated devices, where the system can "
                    "and --worker names none; else exec");
  app.add_option("--expect-torch", options.expect_torch,
                 "run on this LibTorch or not at all: VERSION, git:HASH, uuid:ID or path:FOLDER")
      ->type_name("WHICH");
  app.add_option("--probe", options.probes,
                 "a mangled symbol: every process says whether it has it; may be repeated")
      ->type_name("SYMBOL");
  app.add_option("--crash-reports", options.crash_reports,
                 "folder where the system's crash reports appear; may be repeated [macOS: those of "
                 "the system; elsewhere none]")
      ->type_name("DIR");
  app.add_flag(
      "--keep-cores", options.keep_cores,
      "keep a core file of each failure that crashes, in cores of the run's folder (Linux)");
  app.add_option("--known-good", options.known_good,
                 "run a known-good cell after a failure: auto (on real devices), always, never")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_flag("--force-env", options.force_env,
               "run cells also with variables (env.NAME) that no loaded library has");
  app.option_defaults()->group(kResult);
  app.add_option("--expectations", options.expectations,
                 "known failures, by which the run is judged: a file (`mpsprobe expect --help`), "
                 "or mlx-known, those of that matrix")
      ->type_name("FILE|NAME");
  app.add_option("--fail-on", options.fail_on,
                 "exit with 1 on: any failure, unexpected ones (not as the matrix says), what a "
                 "library refused, never; and with --expectations on new, worse, unseen, expired "
                 "[unexpected; new,worse]")
      ->check(
          list_of({"any", "unexpected", "refused", "never", "new", "worse", "unseen", "expired"}))
      ->type_name("WHAT[,WHAT]");
  add_format(app, options.format);
  app.add_flag("--dry-run", options.dry_run, "show what would run, and run nothing");
  app.add_flag("--json", options.json, "with --dry-run: as JSON");
  app.option_defaults()->group(kAxisGroup);
  for (const std::string& name : variable_options(options.command_line)) {
    app.add_option_function<std::string>(
           "--" + name, [&options, name](const std::string& text) { options.axes[name] = text; },
           "a variable of the workers' environment, which a library under test must read: a value, "
           "`unset`, or `inherited`")
        ->type_name("A,B");
  }
  for (const Axis& axis : axes()) {
    if (axis.name == "env") continue;  // --env is K=V for all cells
    app.add_option_function<std::string>(
           fmt::format("--{}", axis.name),
           [&options, name = std::string(axis.name)](const std::string& text) {
             options.axes[name] = text;
           },
           axis_help(axis))
        ->check(values_of(axis))
        ->type_name(axis.kind == AxisKind::count ? "1,2,4-8" : "A,B");
  }
}

}  // namespace mpsprobe

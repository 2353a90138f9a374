#include "tools/runner/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "harness/journal/journal.h"
#include "harness/provenance/own_build.h"
#include "harness/wire/input_error.h"
#include "harness/wire/near_name.h"
#include "reports/words/text.h"
#include "reports/writers/atomic_file.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/bisect/bisect_command.h"
#include "tools/runner/diff/diff_command.h"
#include "tools/runner/doctor/doctor_command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/expect/expect_command.h"
#include "tools/runner/feedback/feedback_command.h"
#include "tools/runner/help/command_info.h"
#include "tools/runner/help/completions.h"
#include "tools/runner/help/help_format.h"
#include "tools/runner/help/man_page.h"
#include "tools/runner/history/history_command.h"
#include "tools/runner/list/list_command.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/merge/merge_command.h"
#include "tools/runner/option_check.h"
#include "tools/runner/optional_value.h"
#include "tools/runner/report/report_command.h"
#include "tools/runner/repro/repro_command.h"
#include "tools/runner/run/finish_report.h"
#include "tools/runner/run/run_command.h"
#include "tools/runner/run/run_options.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"
#include "tools/runner/verify/verify_command.h"

namespace mpsprobe {
namespace {

constexpr size_t kUsualWidth = 80;
constexpr size_t kMostWidth = 120;  // longer lines are hard to read

const char* const kDescription =
    "Finds where a GPU software stack stops being thread-safe: runs cells of a matrix (threads x "
    "operation x path x processes) in isolated processes and writes a boundary report.";

const char* const kExitCodes =
    "Exit codes: 0 complete (a boundary found is a result), 1 what --fail-on names was found, "
    "2 wrong usage, 3 the harness or the machine could not do it, 4 nothing selected or nothing "
    "could run, 5 the report could not be written, 6 incomplete: what was planned was not done, "
    "130 interrupted.";

const char* const kRunExamples =
    "Examples:\n"
    "  mpsprobe run --matrix                      the default matrix on the best backend here\n"
    "  mpsprobe run --matrix quick --backend cpu\n"
    "  mpsprobe run --op linear --path nograph,graph --threads 1-8 --trials 30\n"
    "  mpsprobe run --cell sim/linear/nograph/threads=3 --trials 30\n"
    "  mpsprobe run --resume mpsprobe-out/2026-01-31T12-34-56Z-default";

const char* const kVerifyExamples =
    "Examples:\n"
    "  mpsprobe verify BUNDLE                     does it still fail here and now?\n"
    "  mpsprobe verify BUNDLE --worker old=PATH --worker stock=PATH    is it fixed?\n"
    "  mpsprobe verify BUNDLE --filing FB12345678\n\n"
    "Exit codes: 0 the verdict is written, whatever it is, 1 what --fail-on names was found, "
    "2 wrong usage, 3 the harness or the machine could not do it, 4 nothing could run, 5 the "
    "verdict could not be written, 130 interrupted.";

const char* const kReproExamples =
    "Examples:\n"
    "  mpsprobe repro sim/linear/nograph/threads=8/iterations=50\n"
    "  mpsprobe repro mpsprobe-out/2026-01-31T12-34-56Z-default/report.json\n"
    "  mpsprobe repro mpsprobe-out/2026-01-31T12-34-56Z-default --signature 'uncommitted encoder'";

const char* const kMergeExamples =
    "Examples:\n"
    "  mpsprobe run --matrix --shard 1/3 --out shards/1        on the first machine\n"
    "  mpsprobe merge shards --out night --format html,json\n\n"
    "Exit codes: 0 merged and complete, 2 wrong usage, other plans or unlike machines, 3 a "
    "journal\n"
    "cannot be read or written, 5 the report could not be written, 6 incomplete: what is missing "
    "is\n"
    "listed.";

const char* const kDiffExamples =
    "Examples:\n"
    "  mpsprobe diff yesterday today --fail-on new,worse\n"
    "  mpsprobe diff torch-2.14 torch-2.15 --across library --json\n\n"
    "Exit codes: 0 compared, 1 what --fail-on names was found, 2 wrong usage, or runs that are\n"
    "unlike, 3 a journal cannot be read, 4 no cell has results in both, 6 a run is incomplete.";

const char* const kExpectExamples =
    "Examples:\n"
    "  mpsprobe expect update --from night\n"
    "  mpsprobe expect check night --db history.sqlite\n"
    "  mpsprobe run --matrix default --expectations expectations.json\n\n"
    "Exit codes: 0 as known, 1 what --fail-on names was found, 2 wrong usage, or entries that\n"
    "contradict each other or match nothing, 3 a journal or the history cannot be read, 4 no "
    "trial\n"
    "counts, 5 the file could not be written, 6 a run is incomplete.";

const char* const kHistoryExamples =
    "Examples:\n"
    "  mpsprobe history add night\n"
    "  mpsprobe history show --cell 'mps/linear/*'\n"
    "  mpsprobe history trend\n\n"
    "Exit codes: 0 done, 2 wrong usage, 3 the history or a journal cannot be read or written, 4\n"
    "nothing like this is in it.";

const char* const kBisectExamples =
    "Examples:\n"
    "  mpsprobe bisect CELL --builds a=a/mpsprobe-worker,b=b/mpsprobe-worker,c=c/mpsprobe-worker\n"
    "  mpsprobe bisect mlx/chain/default/threads=4/stream=per-thread --builds releases.txt \\\n"
    "      --make 'tools/build-worker mlx=={}' --confirm 30\n\n"
    "Exit codes: 0 settled, whatever the answer is, 2 wrong usage, 3 the harness or the machine\n"
    "could not do it, 4 fewer than two builds can run the cell, 5 the result could not be "
    "written,\n"
    "6 not settled, 130 interrupted.";

const char* const kFeedbackExamples =
    "Examples:\n"
    "  mpsprobe feedback mpsprobe-out/2026-01-31T12-34-56Z-default/report.json\n"
    "  mpsprobe feedback mpsprobe-out/2026-01-31T12-34-56Z-default --signature 'commit call'\n"
    "  mpsprobe feedback RUN --for pytorch --redact 'name of a project'\n\n"
    "Personal data are replaced, unless --no-redact is given; redactions.md in the bundle says "
    "what was. What `mpsprobe repro` made of the same run is taken into it.\n\n"
    "Exit codes: 0 written, 2 wrong usage, or evidence that is simulated, 3 it could not be "
    "written, or personal data were found in the finished bundle.";

const char* const kReproExitCodes =
    "Exit codes: 0 reduced, or the budget used up, 2 wrong usage, 3 the harness or the machine "
    "could not do it, 4 the cell does not fail here or cannot run, 5 the result could not be "
    "written; its trials are kept, 130 interrupted.";

/// What could not be printed was not said: `list --json` into a full disk is no success.
int printed(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) return code;  // whoever reads has seen enough: `| head`
  say(stderr, "mpsprobe: standard output could not be written{}{}\n", errno == 0 ? "" : ": ",
      errno == 0 ? "" : std::strerror(errno));
  return code == kExitOk ? static_cast<int>(kExitMachine) : code;
}

/// The program as the user called it, through a script or not: printed commands begin with it.
std::string called_as(const char* program) {
  const char* through = std::getenv("MPSPROBE_CALLED_AS");
  std::string called = through != nullptr && *through != '\0' ? through : program;
  unsetenv("MPSPROBE_CALLED_AS");  // not for a worker that calls mpsprobe itself
  return called;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

/// What is to be shown before anything is parsed: the help where nothing or `help` is asked for.
/// Throws InputError for a first word that is no command. Nothing: parse.
std::optional<std::string> help_asked_for(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return app.help();
  const std::vector<std::string> names = names_of(app.get_subcommands({}));
  std::string first = argv[1];
  const bool help = first == "help";
  if (help && argc < 3) return app.help();
  if (help) first = argv[2];
  if (std::find(names.begin(), names.end(), first) != names.end()) {
    if (!help) return std::nullopt;
    return app.get_subcommand(first)->help("mpsprobe " + first);
  }
  if (first.starts_with('-')) return std::nullopt;
  std::vector<std::string> known = names;
  known.emplace_back("help");
  throw InputError(shortened(printable(first), 60),
                   "there is no such subcommand" + did_you_mean(first, known),
                   fmt::format("There are: {}", fmt::join(names, ", ")));
}

/// Words that a command has no place for: an option that is none, or one word too many.
void refuse_extras(const CLI::App& command) {
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) return;
  const std::string remedy =
      fmt::format("`mpsprobe {} --help` shows what there is", command.get_name());
  for (const std::string& extra : extras) {
    if (!extra.starts_with('-')) continue;
    const std::string name = extra.substr(0, extra.find('='));
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& each : option->get_lnames()) known.push_back("--" + each);
    }
    throw InputError(command.get_name() + " " + shortened(printable(name), 60),
                     "there is no such option" + did_you_mean(name, known), remedy);
  }
  throw InputError(command.get_name() + " " + shortened(printable(extras.front()), 60),
                   "is one word too many", remedy);
}

int fail(int code, const std::string& message) {
  say(stderr, "mpsprobe: {}\n", printable(message));
  return code;
}

/// What CLI11 found wrong, in this program's words.
std::string in_own_words(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const std::string command = parsed.empty() ? "" : parsed.front()->get_name() + ": ";
  const std::string help = fmt::format(". `mpsprobe {}--help` shows what there is",
                                       parsed.empty() ? "" : parsed.front()->get_name() + " ");
  const std::string what = error.what();
  if (const size_t at = what.find(" is required"); at != std::string::npos && !parsed.empty()) {
    const std::string name = what.substr(0, at);
    const CLI::Option* option = parsed.front()->get_option_no_throw(name);
    if (option == nullptr) return command + what + help;
    return fmt::format("{}nothing says which {}. Name it: {}", command, name,
                       option->get_description());
  }
  // "At Most" before CLI11 2.7.
  for (const char* much : {": At most 1 required", ": At Most 1 required"}) {
    const size_t at = what.find(much);
    if (at == std::string::npos) continue;
    return command + what.substr(0, at) + ": is given more than once. Give it once";
  }
  if (error.get_name() == "ArgumentMismatch") {
    return command + what.substr(0, what.find(':')) + ": has no value" + help;
  }
  return command + what;
}

}  // namespace

int command_line(int argc, char** argv) {
  CLI::App app{kDescription};
  app.name("mpsprobe");
  app.set_version_flag("--version", fmt::format("mpsprobe {} ({})", MPSPROBE_VERSION, own_build()));
  app.footer(kExitCodes);
  app.require_subcommand(1);
  const size_t width = screen_width(STDOUT_FILENO);
  app.formatter(help_format(width == 0 ? kUsualWidth : std::min(width, kMostWidth)));

  CLI::App* run = app.add_subcommand("run", "run a matrix or single cells, and write the report");
  RunOptions run_options;
  run_options.command_line = {called_as(argv[0])};
  for (int i = 1; i < argc; ++i) run_options.command_line.emplace_back(argv[i]);
  add_run_options(*run, run_options);
  run->footer(std::string(kRunExamples) + "\n\n" + kExitCodes);

  CLI::App* repro = app.add_subcommand(
      "repro", "reduce a failing cell to its minimal form, and show what is necessary for it");
  ReproOptions repro_options;
  repro_options.command_line = run_options.command_line;
  add_repro_options(*repro, repro_options);
  repro->footer(std::string(kReproExamples) + "\n\n" + kReproExitCodes);

  CLI::App* list = app.add_subcommand("list", "show what there is to run");
  ListOptions list_options;
  list->add_option("what", list_options.what,
                   "what to show: matrices, cells, operations, axes, backends or profiles")
      ->type_name("WHAT")
      ->check(one_of({"matrices", "cells", "operations", "axes", "backends", "profiles"}))
      ->capture_default_str();
  list->add_option("--matrix", list_options.matrix,
                   "of `cells`: a name from `mpsprobe list matrices`, or a JSON file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  list->add_option("--worker", list_options.workers, "a build of the worker; may be repeated")
      ->type_name("NAME=PATH");
  list->add_flag("--json", list_options.json, "as JSON");
  std::optional<std::string> filed_folder;
  add_optional_value(*list, "--filed", filed_folder,
                     "instead: the bundles below a folder, what each was filed as and its last "
                     "verdict [mpsprobe-out and the current folder]")
      ->type_name("[DIR]");

  CLI::App* doctor = app.add_subcommand(
      "doctor", "check workers, libraries, limits and environment, and say what to do");
  DoctorOptions doctor_options;
  doctor_options.program = run_options.command_line.front();
  add_doctor_options(*doctor, doctor_options);
  doctor->footer("Exit codes: 0 nothing failed, 2 wrong usage, 3 a check failed.");

  CLI::App* report =
      app.add_subcommand("report", "write the report again from a journal, in any format");
  ReportOptions report_options;
  add_report_options(*report, report_options);
  std::string folder;
  CLI::App* show = app.add_subcommand("show", "print what a run came to, and write nothing");
  show->add_option("run", folder, "folder of a run, or its report.json")
      ->required()
      ->type_name("FOLDER|report.json");

  CLI::App* merge =
      app.add_subcommand("merge", "put the shards of a run together, and write their report");
  MergeOptions merge_options;
  add_merge_options(*merge, merge_options);
  merge->footer(kMergeExamples);

  CLI::App* diff = app.add_subcommand(
      "diff", "compare two runs: what is new, gone, or fails more or less often");
  DiffOptions diff_options;
  add_diff_options(*diff, diff_options);
  diff->footer(kDiffExamples);

  CLI::App* expect =
      app.add_subcommand("expect", "known failures: judge runs by them, and record new ones");
  ExpectOptions expect_options;
  add_expect_options(*expect, expect_options);
  expect->footer(kExpectExamples);

  CLI::App* history =
      app.add_subcommand("history", "keep counts of runs, and say what changed over the nights");
  HistoryOptions history_options;
  add_history_options(*history, history_options);
  history->footer(kHistoryExamples);

  CLI::App* bisect =
      app.add_subcommand("bisect", "find the build at which a failure began or ended");
  BisectOptions bisect_options;
  bisect_options.command_line = run_options.command_line;
  add_bisect_options(*bisect, bisect_options);
  bisect->footer(kBisectExamples);

  CLI::App* feedback = app.add_subcommand(
      "feedback", "make of a run what can be filed: a folder and an archive for each failure");
  FeedbackOptions feedback_options;
  add_feedback_options(*feedback, feedback_options);
  feedback->footer(kFeedbackExamples);

  CLI::App* verify = app.add_subcommand(
      "verify", "run the cells of a bundle again, and say whether what it is about is fixed");
  VerifyOptions verify_options;
  verify_options.run.command_line = run_options.command_line;
  add_verify_options(*verify, verify_options);
  verify->footer(kVerifyExamples);

  CLI::App* complete =
      app.add_subcommand("completions", "print what a shell completes commands and options with");
  std::string shell;
  complete->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  complete->footer("Example: source <(mpsprobe completions bash)");
  CLI::App* man = app.add_subcommand("man", "print the manual page, for `man -l -`");

  for (CLI::App* command : {run, show, list, doctor, bisect}) command->group("Run and look");
  for (CLI::App* command : {report, repro, feedback, verify, merge, diff, expect, history})
    command->group("With a run's results");
  for (CLI::App* command : {complete, man}) command->group("For the shell");
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras();  // refuse_extras
  try {
    if (const auto help = help_asked_for(app, argc, argv); help.has_value()) {
      say(stdout, "{}", *help);
      return printed(kExitOk);
    }
    app.parse(argc, argv);
    for (const CLI::App* command : app.get_subcommands()) refuse_extras(*command);
    if (*run) {  // what a real one found lies in its folder, whether somebody listens or not
      const int code = run_command_line(run_options);
      return run_options.dry_run ? printed(code) : code;
    }
    if (*list && filed_folder.has_value()) {
      return printed(list_filed_command_line(*filed_folder, list_options.json));
    }
    if (*repro) return printed(repro_command_line(repro_options));
    if (*list) return printed(list_command_line(list_options));
    if (*merge) return printed(merge_command_line(merge_options));
    if (*diff) return printed(diff_command_line(diff_options));
    if (*expect) return printed(expect_command_line(expect_options));
    if (*history) return printed(history_command_line(history_options));
    if (*bisect) return printed(bisect_command_line(bisect_options));
    if (*feedback) return printed(feedback_command_line(feedback_options));
    if (*verify) return printed(verify_command_line(verify_options));
    if (*doctor) return printed(doctor_command_line(doctor_options));
    if (*complete) {
      say(stdout, "{}", completions(shell, commands_of(app)));
      return printed(kExitOk);
    }
    if (*man) {
      say(stdout, "{}", man_page(kDescription, kExitCodes, commands_of(app)));
      return printed(kExitOk);
    }
    if (*show) return printed(show_run(folder_of_run(folder)));
    return report_command_line(report_options);
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
    return printed(kExitOk);
  } catch (const CLI::ParseError& error) {
    return fail(kExitUsage, in_own_words(app, error));
  } catch (const InputError& error) {
    return fail(kExitUsage, error.what());
  } catch (const ReportError& error) {
    return fail(kExitNoReport, error.what());
  } catch (const std::exception& error) {  // MachineError, JournalError, and what nobody foresaw
    return fail(kExitMachine, error.what());
  }
}

}  // namespace mpsprobe

#include "tools/runner/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "harness/journal/journal.h"
#include "harness/wire/input_error.h"
#include "reports/text.h"
#include "reports/write.h"
#include "tools/runner/doctor_command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/feedback_command.h"
#include "tools/runner/finish_report.h"
#include "tools/runner/list_command.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/repro_command.h"
#include "tools/runner/run_command.h"
#include "tools/runner/run_options.h"
#include "tools/runner/say.h"
#include "tools/runner/verify_command.h"

namespace mpsprobe {
namespace {

const char* const kDescription =
    "Finds where a GPU software stack stops being thread-safe: runs cells of a matrix (threads x\n"
    "operation x path x processes) in isolated processes and writes a boundary report.";

const char* const kExitCodes =
    "Exit codes: 0 complete (a boundary found is a result), 1 what --fail-on names was found,\n"
    "2 wrong usage, 3 the harness or the machine could not do it, 4 nothing selected or nothing\n"
    "could run, 5 the report could not be written, 130 interrupted.";

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
    "Exit codes: 0 the verdict is written, whatever it is, 1 what --fail-on names was found,\n"
    "2 wrong usage, 3 the harness or the machine could not do it, 4 nothing could run, 5 the\n"
    "verdict could not be written, 130 interrupted.";

const char* const kReproExamples =
    "Examples:\n"
    "  mpsprobe repro sim/linear/nograph/threads=8/iterations=50\n"
    "  mpsprobe repro mpsprobe-out/2026-01-31T12-34-56Z-default/report.json\n"
    "  mpsprobe repro mpsprobe-out/2026-01-31T12-34-56Z-default --signature 'uncommitted encoder'";

const char* const kFeedbackExamples =
    "Examples:\n"
    "  mpsprobe feedback mpsprobe-out/2026-01-31T12-34-56Z-default/report.json\n"
    "  mpsprobe feedback mpsprobe-out/2026-01-31T12-34-56Z-default --signature 'commit call'\n"
    "  mpsprobe feedback RUN --for pytorch --redact 'name of a project'\n\n"
    "Personal data are replaced, unless --no-redact is given; redactions.md in the bundle says\n"
    "what was. What `mpsprobe repro` made of the same run is taken into it.\n\n"
    "Exit codes: 0 written, 2 wrong usage, or evidence that is simulated, 3 it could not be\n"
    "written, or personal data were found in the finished bundle.";

const char* const kReproExitCodes =
    "Exit codes: 0 reduced, or the budget used up, 2 wrong usage, 3 the harness or the machine\n"
    "could not do it, 4 the cell does not fail here or cannot run, 5 the result could not be\n"
    "written; its trials are kept, 130 interrupted.";

/// What could not be printed was not said: `list --json` into a full disk is no success.
int printed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return code == kExitOk ? static_cast<int>(kExitMachine) : code;
}

int fail(int code, const std::string& message) {
  say(stderr, "mpsprobe: {}\n", printable(message));
  return code;
}

}  // namespace

int command_line(int argc, char** argv) {
  CLI::App app{kDescription};
  app.name("mpsprobe");
  app.set_version_flag("--version", "mpsprobe " MPSPROBE_VERSION);
  app.footer(kExitCodes);
  app.require_subcommand(1);

  CLI::App* run = app.add_subcommand("run", "run a matrix or single cells, and write the report");
  RunOptions run_options;
  run_options.command_line = {"mpsprobe"};
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
  list->add_option("what", list_options.what, "what to show")
      ->check(CLI::IsMember({"operations", "matrices", "cells", "axes", "profiles", "backends"}))
      ->capture_default_str();
  list->add_option("--matrix", list_options.matrix, "of `cells`: a name or a JSON file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  list->add_option("--worker", list_options.workers, "a build of the worker; may be repeated")
      ->type_name("NAME=PATH");
  list->add_flag("--json", list_options.json, "as JSON");
  std::string filed_folder;
  const CLI::Option* filed =
      list->add_option("--filed", filed_folder,
                       "instead: the bundles below a folder, what each was filed as and its last "
                       "verdict [mpsprobe-out and the current folder]")
          ->expected(0, 1)
          ->type_name("[DIR]");

  CLI::App* doctor = app.add_subcommand(
      "doctor", "check workers, libraries, limits and environment, and say what to do");
  DoctorOptions doctor_options;
  add_doctor_options(*doctor, doctor_options);
  doctor->footer("Exit codes: 0 nothing failed, 2 wrong usage, 3 a check failed.");

  CLI::App* report =
      app.add_subcommand("report", "write report.json and report.md again from a journal");
  std::string folder;
  report->add_option("folder", folder, "folder of a run, which holds journal.ndjson")->required();

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

  try {
    app.parse(argc, argv);
    if (*run) return run_command_line(run_options);
    if (*list && filed->count() > 0) {
      return printed(list_filed_command_line(filed_folder, list_options.json));
    }
    if (*repro) return printed(repro_command_line(repro_options));
    if (*list) return printed(list_command_line(list_options));
    if (*feedback) return printed(feedback_command_line(feedback_options));
    if (*verify) return printed(verify_command_line(verify_options));
    if (*doctor) return printed(doctor_command_line(doctor_options));
    finish_report(folder);
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  } catch (const InputError& error) {
    return fail(kExitUsage, error.what());
  } catch (const ReportError& error) {
    return fail(kExitNoReport, error.what());
  } catch (const std::exception& error) {  // MachineError, JournalError, and what nobody foresaw
    return fail(kExitMachine, error.what());
  }
}

}  // namespace mpsprobe

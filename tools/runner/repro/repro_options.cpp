#include <CLI/CLI.hpp>

#include "tools/runner/option_check.h"
#include "tools/runner/repro/repro_command.h"
#include "tools/runner/trial_options.h"

namespace mpsprobe {

void add_repro_options(CLI::App& app, ReproOptions& options) {
  stand_alone(app, {{"--resume",
                     {"--no-programs", "--json", "--trust-run"},
                     "goes on with the options that the minimisation began with"}});
  app.add_option("what", options.what,
                 "a failing cell by its text, or the report.json or the folder of a run")
      ->type_name("CELL|REPORT|FOLDER");
  app.add_option("--signature", options.signature,
                 "the failure to keep: its title, or a part of it that no other has [the one that "
                 "occurs most often]")
      ->type_name("TEXT");
  app.add_option("--worker", options.worker,
                 "a build of the worker [of a run: the one that failed; else stock, the one beside "
                 "this program]")
      ->type_name("NAME=PATH");
  app.add_option("--most-trials", options.most_trials,
                 "trials after which a question that is still open counts as no [300]")
      ->check(whole_number_between(2, 1'000'000))
      ->type_name("N");
  app.add_option("--patience", options.patience,
                 "trials of the start cell without the failure after which it does not fail [59]")
      ->check(whole_number_between(1, 1'000'000))
      ->type_name("N");
  app.add_option("--condition-trials", options.condition_trials,
                 "the most trials of each row of the table of conditions [200]")
      ->check(whole_number_between(1, 1'000'000))
      ->type_name("N");
  app.add_flag("--no-conditions", options.no_conditions,
               "leave out the table of which conditions are necessary");
  app.add_flag("--no-programs", options.no_programs,
               "leave out the programs, which are built and run here before they are handed out");
  add_limits(app, options.limits,
             {"300, or as in the run", "20, or as in the run", "none",
              "three quarters of the machine's, or as in the run"});
  add_seed(app, options.seed, "the inputs", "1, or as in the run");
  add_environment(app, options.environment, " [as in the run]");
  add_start_process(app, options.start_process,
                    "as in the run; of a cell as `run` does, exec with --worker");
  app.add_option(
         "--crash-reports", options.crash_reports,
         "a folder where the system's crash reports appear; may be repeated [the usual ones]")
      ->type_name("DIR");
  app.add_option("--out", options.out,
                 "folder for the journal, minimum.json and repro.md [repro-SIGNATURE, in the "
                 "folder of the run where there is one]")
      ->type_name("DIR");
  app.add_option("--resume", options.resume,
                 "go on with the minimisation in this folder, with the options that it began with")
      ->type_name("DIR");
  add_trust_run(app, options.trust_run);
  app.add_flag("--json", options.json, "print minimum.json instead of the text");
}

}  // namespace mpsprobe

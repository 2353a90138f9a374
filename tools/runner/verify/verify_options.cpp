#include <CLI/CLI.hpp>

#include "tools/runner/option_check.h"
#include "tools/runner/trial_options.h"
#include "tools/runner/verify/verify_command.h"

namespace mpsprobe {

void add_verify_options(CLI::App& app, VerifyOptions& options) {
  stand_alone(app, {{"--resume",
                     {"bundle", "--known-good", "--fail-on", "--json", "--trust-run"},
                     "goes on with the options that the verification began with"}});
  app.add_option("bundle", options.bundle, "folder of a bundle that `mpsprobe feedback` wrote")
      ->type_name("BUNDLE")
      ->required();
  app.add_option("--worker", options.workers,
                 "a build of the worker; may be given twice, for the bundle's build and the one to "
                 "compare with it [stock: the one beside this program]")
      ->type_name("NAME=PATH");
  add_trials(app, options.trials, "each cell and arm",
             "20 to 200: as many as it takes to find the bundle's rate again");
  add_seed(app, options.seed, "the order of the trials, and of their inputs", "the bundle's");
  add_limits(
      app, options.limits,
      {"the bundle's", "the bundle's", "none", "the bundle's, or three quarters of the machine's"});
  add_environment(app, options.environment,
                  ". Those of the bundle are named and never put in force");
  add_start_process(app, options.start_process, "as `run` does, exec with --worker");
  add_trust_run(app, options.trust_run);
  app.add_option("--known-good", options.known_good,
                 "run a known-good cell after a failure: auto (on real devices), always, never")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("--out", options.out,
                 "folder for the journal, the report and the verdict [mpsprobe-out/TIME-verify]")
      ->type_name("DIR");
  app.add_option("--resume", options.resume,
                 "go on with the verification in this folder, or conclude from it again")
      ->type_name("DIR");
  app.add_option("--fail-on", options.fail_on,
                 "exit with 1 where the bundle: fails, in whatever way; is unfixed, which includes "
                 "inconclusive; never")
      ->check(one_of({"fails", "unfixed", "never"}))
      ->default_str("never");
  app.add_flag("--json", options.json, "print the verdict as JSON");
}

}  // namespace mpsprobe

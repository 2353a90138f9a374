#include <CLI/CLI.hpp>

#include "harness/wire/cell.h"
#include "tools/runner/bisect/bisect_command.h"
#include "tools/runner/option_check.h"
#include "tools/runner/trial_options.h"

namespace mpsprobe {

void add_bisect_options(CLI::App& app, BisectOptions& options) {
  stand_alone(app, {{"--resume",
                     {"--budget", "--json", "--trust-run"},
                     "goes on with what the bisection was asked for"}});
  app.add_option("cell", options.cell,
                 "the cell that fails with some of the builds; not needed for own code")
      ->type_name("CELL");
  app.add_option("--builds", options.builds,
                 "the builds, oldest first: paths of workers, or with --make names; a list with "
                 "commas, or a file with one on each line")
      ->type_name("LIST|FILE");
  app.add_option("--make", options.make,
                 "a command for the shell that makes the worker of a build, {} in it, and prints "
                 "its path as the last line; called when a build is first tried. For own code "
                 "\"pip install mlx=={}\" makes an environment for each build")
      ->type_name("COMMAND");
  app.add_option("--signature", options.signature,
                 "the failure that counts: a part of its title [any]")
      ->type_name("TEXT");
  app.add_option("--from", options.from,
                 "a run whose trials of this cell count as well, where its worker has the name or "
                 "the path of a build, or loads that version; may be repeated")
      ->type_name("DIR");
  app.add_option("--confidence", options.confidence,
                 "percent: it ends when one answer is as likely as this")
      ->check(number_between(50, 99.9999))
      ->type_name("PERCENT")
      ->capture_default_str();
  app.add_option("--most-trials", options.most_trials, "it ends after so many in any case")
      ->check(whole_number_between(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--confirm", options.confirm,
                 "then so many trials of the builds on either side, mixed, that chose nothing")
      ->check(whole_number_between(0, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  add_limits(app, options.limits, {"300", "20"});
  add_seed(app, options.seed, "the inputs", "1");
  add_environment(app, options.environment);
  CLI::Option* const python =
      app.add_option("--python", options.python,
                     "your own Python function, FILE::FUNCTION; the builds are Python workers "
                     "(docs/python.md)")
          ->type_name("CODE");
  app.add_option("--pytest", options.pytest, "your own test, as pytest names it")
      ->type_name("NODE")
      ->excludes(python);
  app.add_option("--threads", options.threads,
                 "of your own function or test, where no cell is named [4]")
      ->check(whole_number_between(1, kMostThreads))
      ->type_name("N");
  options.start_process = StartProcess::exec;
  add_start_process(app, options.start_process, "exec");
  app.add_option("--out", options.out, "folder for the journals and the result [mpsprobe-out/...]")
      ->type_name("DIR");
  app.add_option("--resume", options.resume,
                 "go on with the bisection in this folder, as it was asked for")
      ->type_name("DIR");
  add_trust_run(app, options.trust_run);
  app.add_flag("--json", options.json, "print bisect.json instead of the text");
}

}  // namespace mpsprobe

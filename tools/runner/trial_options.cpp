#include "tools/runner/trial_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "reports/writers/write.h"
#include "tools/runner/option_check.h"

namespace mpsprobe {
namespace {

std::string with_usual(const std::string& help, const std::string& usual) {
  return help + " [" + usual + "]";
}

}  // namespace

void add_trials(CLI::App& app, std::optional<int>& trials, const std::string& of,
                const std::string& usual) {
  app.add_option("--trials", trials, with_usual("trials of " + of, usual))
      ->check(whole_number_between(1, 1'000'000))
      ->type_name("N");
}

void add_limits(CLI::App& app, AskedLimits& limits, const UsualLimits& usual) {
  app.add_option("--timeout", limits.timeout_seconds,
                 with_usual("seconds that a process may take altogether", usual.timeout))
      ->check(number_between(0.1, 86400.0))
      ->type_name("SECONDS");
  app.add_option("--stall", limits.stall_seconds,
                 with_usual("seconds without progress that make a hang", usual.stall))
      ->check(number_between(0.1, 86400.0))
      ->type_name("SECONDS");
  app.add_option_function<double>(
         "--budget", [&limits](double minutes) { limits.budget_seconds = minutes * 60; },
         with_usual("minutes after which no trial starts; --resume runs the rest", usual.budget))
      ->check(number_between(0.01, 100000.0))
      ->type_name("MINUTES");
  app.add_option_function<uint64_t>(
         "--memory-limit", [&limits](uint64_t mib) { limits.memory_limit_bytes = mib << 20; },
         with_usual("MiB that a process may hold", usual.memory))
      ->check(whole_number_between(16, 1 << 24))
      ->type_name("MIB");
}

void add_seed(CLI::App& app, std::optional<uint64_t>& seed, const std::string& of,
              const std::string& usual) {
  app.add_option("--seed", seed, with_usual("of " + of, usual))
      ->check(whole_number_between(0, UINT64_MAX))
      ->type_name("N");
}

void add_start_process(CLI::App& app, std::optional<StartProcess>& start,
                       const std::string& usual) {
  app.add_option_function<std::string>(
         "--start-process",
         [&start](const std::string& word) { start = named<StartProcess>(word); },
         with_usual("how the process of a trial is started: exec, standby (one is loaded ahead) "
                    "or fork (Linux: of one that has loaded its library)",
                    usual))
      ->check(one_of({"exec", "standby", "fork"}))
      ->type_name("HOW");
}

void add_environment(CLI::App& app, std::vector<std::string>& variables, const std::string& more) {
  app.add_option("--env", variables,
                 "a variable of the workers' environment; may be repeated" + more)
      ->type_name("K=V");
}

void add_trust_run(CLI::App& app, bool& trust) {
  app.add_flag("--trust-run", trust,
               "start the workers, with the variables, that a run names which was made on "
               "another machine, by another account or in another folder; and take cells "
               "that set variables which no library documents");
}

void add_format(CLI::App& app, std::string& formats) {
  const std::vector<std::string> names = format_names();
  app.add_option("--format", formats,
                 fmt::format("forms of the report: {}", fmt::join(names, ", ")))
      ->check(list_of(names))
      ->type_name("NAME[,NAME]")
      ->capture_default_str();
}

}  // namespace mpsprobe

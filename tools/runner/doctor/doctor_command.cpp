#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/input/json_text.h"
#include "harness/platform/machine.h"
#include "harness/wire/axis.h"
#include "reports/words/safe_text.h"
#include "tools/runner/command.h"
#include "tools/runner/doctor/doctor_check.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/option_check.h"
#include "tools/runner/say.h"
#include "tools/runner/trial_options.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

// Of the JSON that --json prints; grows when a key changes its meaning or goes.
constexpr int kDoctorVersion = 1;

size_t count(const Checks& checks, CheckStatus status) {
  return static_cast<size_t>(
      std::count_if(checks.begin(), checks.end(),
                    [status](const Check& check) { return check.status == status; }));
}

CheckStatus worst(const Checks& checks) {
  if (count(checks, CheckStatus::fail) > 0) return CheckStatus::fail;
  return count(checks, CheckStatus::warn) > 0 ? CheckStatus::warn : CheckStatus::ok;
}

void print_text(const Checks& checks) {
  constexpr size_t kMostBytes = 1000;  // --json has all of it
  constexpr std::array<const char*, 4> kMarks{"ok  ", "warn", "FAIL", "n/a "};
  std::string section;
  for (const Check& check : checks) {
    if (check.section != section) {
      say(stdout, "{}{}\n", section.empty() ? "" : "\n", check.section);
      section = check.section;
    }
    say(stdout, "  {}  {}: {}\n", kMarks[static_cast<size_t>(check.status)], printable(check.what),
        shortened(printable(check.value), kMostBytes));
    if (!check.remedy.empty()) say(stdout, "        -> {}\n", printable(check.remedy, Lines::keep));
  }
  say(stdout, "\n{} ok, {} warn, {} FAIL, {} n/a\n", count(checks, CheckStatus::ok),
      count(checks, CheckStatus::warn), count(checks, CheckStatus::fail),
      count(checks, CheckStatus::not_applicable));
}

void print_json(const Checks& checks, const std::vector<WorkerInfo>& workers) {
  json list = json::array();
  for (const Check& check : checks) {
    list.push_back({{"id", printable(check.id)},
                    {"section", check.section},
                    {"status", name_of(check.status)},
                    {"what", printable(check.what)},
                    {"value", printable(check.value)},
                    {"remedy", check.remedy.empty() ? json(nullptr)
                                                    : json(printable(check.remedy, Lines::keep))}});
  }
  json asked = json::array();
  for (const WorkerInfo& worker : workers) {
    asked.push_back({{"name", worker.name},
                     {"path", worker.path},
                     {"version", worker.describe.value("version", json())},
                     {"provenance", worker.describe.value("provenance", json::object())},
                     {"backends", worker.describe.at("backends")}});
  }
  const json answer{{"mpsprobe_doctor", kDoctorVersion},
                    {"mpsprobe_version", MPSPROBE_VERSION},
                    {"status", name_of(worst(checks))},
                    {"checks", list},
                    {"workers", asked},
                    {"machine", machine_facts()}};
  say(stdout, "{}\n", ascii_json_text(answer, 2));
}

void add_doctor_options(CLI::App& app, DoctorOptions& options) {
  app.add_option("--worker", options.workers,
                 "a build of the worker; may be repeated [stock: the one beside this program]")
      ->type_name("NAME=PATH");
  add_environment(app, options.environment);
  app.add_option("--expect-torch", options.expect_torch,
                 "the LibTorch that is meant: VERSION, git:HASH, uuid:ID or path:FOLDER")
      ->type_name("WHICH");
  app.add_option("--probe", options.probes,
                 "a mangled symbol: does the worker have it? May be repeated")
      ->type_name("SYMBOL");
  app.add_option("--crash-reports", options.crash_reports,
                 "folder where crash reports appear; may be repeated [macOS: the system's]")
      ->type_name("DIR");
  app.add_option("--backend", options.backend, "of the known-good cell [the best one present]")
      ->check(one_of({find_axis("backend")->values.begin(), find_axis("backend")->values.end()}))
      ->type_name("BACKEND");
  app.add_flag("--json", options.json, "as JSON");
}

/// `mpsprobe doctor`: looks at workers, machine and environment, and prints what it found with what
/// to do about it. Returns kExitMachine where a check failed. Throws InputError.
int doctor_command_line(const DoctorOptions& options) {
  Checks checks;
  const std::vector<WorkerInfo> workers = check_workers(options, checks);
  check_crash_reports(options, checks);
  check_limits(checks);
  check_environment(options.environment, checks);
  check_by_running(options, workers, checks);
  if (options.json) {
    print_json(checks, workers);
  } else {
    print_text(checks);
  }
  return worst(checks) == CheckStatus::fail ? kExitMachine : kExitOk;
}

}  // namespace

RunCommand add_doctor(CLI::App& app, const Called& called) {
  DoctorOptions begin;
  begin.command_line = called.words;
  return bound(app, add_doctor_options, doctor_command_line, begin);
}

}  // namespace mpsprobe

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/wire/axis.h"
#include "reports/words/safe_text.h"
#include "tools/runner/command.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/option_check.h"
#include "tools/runner/run/own_code.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

struct ListOptions {
  std::string what = "matrices";   ///< operations, matrices, cells, axes, profiles, backends
  std::string matrix = "default";  ///< of `cells`
  std::vector<std::string> workers;
  bool json = false;
};

using nlohmann::json;

void print(const json& value) {
  say(stdout, "{}\n", json_text(value, 2));
}

int list_axes(bool as_json) {
  json list = json::array();
  for (const Axis& axis : axes()) {
    json values = json::array();
    for (std::string_view value : axis.values) values.push_back(value);
    list.push_back({{"name", axis.name},
                    {"default", axis.default_value},
                    {"help", axis.help},
                    {"values", values},
                    {"minimum", axis.minimum},
                    {"maximum", axis.maximum}});
    if (as_json) continue;
    std::string allowed(axis.form);
    if (axis.kind == AxisKind::choice) allowed = fmt::format("{}", fmt::join(axis.values, ", "));
    if (axis.kind == AxisKind::count) allowed = fmt::format("{} to {}", axis.minimum, axis.maximum);
    say(stdout, "{:<11} {} ({})\n", axis.name, axis.help, allowed);
  }
  if (as_json) print(list);
  return kExitOk;
}

int list_matrices(bool as_json) {
  json list = json::array();
  for (const std::string& name : matrix_names()) {
    const Matrix matrix = find_matrix(name);
    list.push_back({{"name", name}, {"description", matrix.description}});
    if (as_json) continue;
    constexpr size_t kNames = 17;
    const size_t screen = screen_width(STDOUT_FILENO);  // broken at words where lines end
    const size_t width = screen == 0 ? std::string::npos : std::max(screen, 2 * kNames) - kNames;
    std::string name_once = name;
    for (const std::string& line : wrapped(matrix.description, width, 0)) {
      say(stdout, "{:<16} {}\n", std::exchange(name_once, ""), line);
    }
  }
  if (as_json) print(list);
  return kExitOk;
}

int list_profiles(bool as_json) {
  const std::vector<std::string> names = profile_names();
  if (as_json) {
    print(names);
  } else {
    for (const std::string& name : names) {
      say(stdout, "{:<20} {}\n", name, printable(profile_description(name)));
    }
  }
  return kExitOk;
}

int list_operations(const ListOptions& options) {
  const Operations operations = operations_of(find_workers(options.workers));
  json list = json::array();
  for (const auto& [name, operation] : operations) {
    list.push_back({{"name", name},
                    {"summary", operation.summary},
                    {"source", operation.source},
                    {"paths", operation.paths},
                    {"has_parameters", operation.has_parameters},
                    {"dtypes", operation.dtypes},
                    {"backends", operation.backends},
                    {"shape", operation.shape},
                    {"dimensions", operation.dimensions}});
    if (options.json) continue;
    say(stdout, "{:<20} {}\n", printable(name), printable(operation.summary));
    say(stdout, "{:<20}   from {}; paths {}; shape {}{}\n", "", printable(operation.source),
        printable(fmt::format("{}", fmt::join(operation.paths, ", "))), printable(operation.shape),
        operation.dimensions.empty() ? "" : " (" + printable(operation.dimensions) + ")");
  }
  if (options.json) print(list);
  return kExitOk;
}

int list_backends(const ListOptions& options) {
  json list = json::array();
  for (const NamedWorker& named : name_workers(options.workers)) {
    WorkerInfo worker;
    try {
      worker = ask_worker(named, {});
    } catch (const MachineError& error) {
      if (!options.workers.empty()) throw;
      list.push_back({{"worker", named.name}, {"available", false}, {"reason", error.what()}});
      if (!options.json) say(stdout, "{:<8} {:<6} {:<4} {}\n", named.name, "-", "no", error.what());
      continue;
    }
    for (const json& backend : worker.describe.at("backends")) {
      json entry = backend;
      entry["worker"] = worker.name;
      list.push_back(entry);
      if (options.json) continue;
      const bool available = backend.at("available").get<bool>();
      say(stdout, "{:<8} {:<6} {:<4} {}\n", worker.name,
          printable(backend.at("name").get<std::string>()), available ? "yes" : "no",
          printable(available ? backend.value("device", "")
                              : backend.at("reason").get<std::string>()));
    }
  }
  for (const BackendInfo& row : backend_table::kRows) {
    const bool told = std::ranges::any_of(
        list, [&row](const json& entry) { return entry.value("name", "") == row.name; });
    if (told) continue;
    // Its worker tells nothing without a command.
    bool here = row.backend == Backend::command;
    std::string words = "whatever a command of your own uses: mpsprobe run -- COMMAND";
    try {
      if (here) command_worker();
    } catch (const InputError& error) {
      here = false;
    }
    if (!here) words = why_no_worker(row.backend);
    list.push_back({{"name", row.name}, {"available", here}, {here ? "device" : "reason", words}});
    if (!options.json) {
      say(stdout, "{:<8} {:<6} {:<4} {}\n", "-", row.name, here ? "yes" : "no", words);
    }
  }
  if (options.json) print(list);
  return kExitOk;
}

int list_cells(const ListOptions& options) {
  const Matrix matrix = find_matrix(options.matrix);
  const Plan plan = plan_cells(matrix, RunOptions{}, find_workers(options.workers));
  if (options.json) {
    json cells = json::array();
    for (const PlannedCell& planned : plan.cells) cells.push_back(to_string(planned.cell));
    json left_out = json::array();
    for (const LeftOut& cell : plan.left_out) {
      left_out.push_back({{"cell", cell.cell}, {"reason", cell.reason}});
    }
    print({{"matrix", matrix.name}, {"cells", cells}, {"left_out", left_out}});
  } else {
    for (const PlannedCell& planned : plan.cells) say(stdout, "{}\n", to_string(planned.cell));
    for (const LeftOut& cell : plan.left_out) {
      say(stdout, "# left out: {}: {}\n", cell.cell, cell.reason);
    }
  }
  return plan.cells.empty() ? kExitNothingRun : kExitOk;
}

void add_list_options(CLI::App& app, ListOptions& options) {
  const std::vector<std::string> what{"matrices", "cells",    "operations",
                                      "axes",     "backends", "profiles"};
  app.add_option("what", options.what,
                 "what to show: matrices, cells, operations, axes, backends or profiles")
      ->type_name("WHAT")
      ->check(one_of(what))
      ->capture_default_str();
  app.add_option("--matrix", options.matrix,
                 "of `cells`: a name from `mpsprobe list matrices`, or a JSON file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  app.add_option("--worker", options.workers, "a build of the worker; may be repeated")
      ->type_name("NAME=PATH");
  app.add_flag("--json", options.json, "as JSON");
}

/// `mpsprobe list`. Returns the exit code; throws InputError and MachineError.
int list_command_line(const ListOptions& options) {
  if (options.what == "axes") return list_axes(options.json);
  if (options.what == "profiles") return list_profiles(options.json);
  if (options.what == "operations") return list_operations(options);
  if (options.what == "backends") return list_backends(options);
  if (options.what == "cells") return list_cells(options);
  return list_matrices(options.json);
}

}  // namespace

RunCommand add_list(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_list_options, list_command_line);
}

}  // namespace mpsprobe

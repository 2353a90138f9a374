#include "tools/runner/run/variables_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/input/input_error.h"
#include "harness/provenance/probes_variable.h"
#include "harness/wire/variables.h"
#include "reports/words/safe_text.h"
#include "tools/runner/say.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

void add_names(std::set<std::string>& names, const std::string& value) {
  for (const auto& [name, set] : parse_variables(value)) names.insert(name);
}

void add_names(std::set<std::string>& names, const AxisValues& values) {
  const auto at = values.find("env");
  if (at == values.end()) return;
  for (const std::string& value : at->second) add_names(names, value);
}

/// What the worker answered for a backend: another program may run its cells, with other libraries.
const nlohmann::json& answers_for(const WorkerInfo& worker, Backend backend) {
  static const nlohmann::json none = nlohmann::json::object();
  const auto own = worker.describe.find("variables");
  const auto backends = worker.describe.find("backends");
  if (backends != worker.describe.end() && backends->is_array()) {
    for (const nlohmann::json& each : *backends) {
      const bool it = each.is_object() && each.value("name", nlohmann::json()) == name_of(backend);
      if (it && each.contains("variables")) return each["variables"];
    }
  }
  return own == worker.describe.end() ? none : *own;
}

/// Whether a library that the worker loads has the name; one that does not say so has not.
bool has_variable(const WorkerInfo& worker, Backend backend, const std::string& name) {
  const nlohmann::json& answers = answers_for(worker, backend);
  if (!answers.is_object()) return false;
  const auto answer = answers.find(name);
  return answer != answers.end() && answer->is_string() &&
         !answer->get_ref<const std::string&>().empty();
}

/// The backends of the cells that set a variable, by its name.
using SetOn = std::map<std::string, std::set<Backend>>;

void add_variables(SetOn& set_on, const Cell& cell) {
  for (const auto& [name, value] : parse_variables(cell.env)) set_on[name].insert(cell.backend);
}

void check_once(const SetOn& set_on, const std::vector<std::string>& environment) {
  for (const auto& [name, backends] : set_on) {
    const std::string begin = name + "=";
    if (std::any_of(environment.begin(), environment.end(),
                    [&begin](const std::string& entry) { return entry.starts_with(begin); })) {
      throw InputError("env." + name, "is what the cells say, and --env says it for all of them",
                       "Take one of the two out");
    }
  }
}

void check_known(const SetOn& set_on, const std::vector<WorkerInfo>& workers) {
  for (const auto& variable : set_on) {
    const std::string& name = variable.first;
    for (const WorkerInfo& worker : workers) {
      const auto unknown = [&](Backend backend) {
        return names_backend(worker, backend) && !has_variable(worker, backend, name);
      };
      if (std::none_of(variable.second.begin(), variable.second.end(), unknown)) continue;
      throw UnreadVariable(
          "env." + name,
          fmt::format("no library that the worker {} loads has a variable of this name: it would "
                      "do nothing, and say nothing",
                      worker.name),
          "Look for the name in the library's release, or run it nonetheless with --force-env");
    }
  }
}

}  // namespace

std::set<std::string> variables_named(const Matrix& matrix, const AxisValues& fixed) {
  std::set<std::string> names;
  add_names(names, fixed);
  for (const Block& block : matrix.blocks) add_names(names, block.axes);
  for (const std::string& cell : matrix.include) add_names(names, parse_cell(cell).env);
  return names;
}

void refuse_foreign_variables(const RunOptions& options, const Matrix& matrix) {
  if (options.own_cells) return;
  std::map<std::string, std::string> foreign;
  // Beside --cell an option can only add variables to what the text sets.
  const auto own = [&options](const std::string& name) {
    return !options.cells.empty() && options.axes.contains("env." + name);
  };
  const auto add = [&](const std::string& value) {
    for (const auto& [name, set] : parse_variables(value)) {
      if (!is_documented_switch(name) && !own(name)) foreign.emplace(name, set);
    }
  };
  for (const Block& block : matrix.blocks) {
    const auto at = block.axes.find("env");
    if (at == block.axes.end()) continue;
    for (const std::string& value : at->second) add(value);
  }
  for (const std::string& cell : matrix.include) add(parse_cell(cell).env);
  if (foreign.empty()) return;
  std::string shown;
  for (const auto& [name, value] : foreign) {
    shown += (shown.empty() ? "" : ", ") + name + "=" + value;
  }
  if (options.trust_run) {
    say(stderr, "mpsprobe: trusted, though no documented switch: {}\n", shortened(shown, 1000));
    return;
  }
  throw InputError(
      "env." + foreign.begin()->first,
      fmt::format(
          "is no switch that a library under test documents, and could choose the code that "
          "runs. The cells set: {}. Nothing was started",
          shortened(shown, 300)),
      "Add --trust-run if you wrote them or trust who did; --env.NAME VALUE beside --cell or --op "
      "is your own word and needs none");
}

std::string variables_question(const std::set<std::string>& variables) {
  return fmt::format("{}={}", kVariablesVariable, fmt::join(variables, " "));
}

void check_variables(const RunOptions& options, const Plan& plan,
                     const std::vector<WorkerInfo>& workers) {
  SetOn set_on;
  for (const PlannedCell& planned : plan.cells) add_variables(set_on, planned.cell);
  check_once(set_on, options.environment);
  if (options.force_env) return;
  check_known(set_on, workers);
}

}  // namespace mpsprobe

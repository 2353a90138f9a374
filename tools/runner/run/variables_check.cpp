#include "tools/runner/run/variables_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/provenance/probes_variable.h"
#include "harness/wire/variables.h"
#include "reports/words/safe_text.h"
#include "tools/runner/say.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

/// Every value of the axis env that the cells of a matrix may have, and of `fixed`.
std::vector<std::string> env_values(const Matrix& matrix, const AxisValues& fixed) {
  std::vector<std::string> values;
  const auto add = [&values](const AxisValues& axes) {
    const auto at = axes.find("env");
    if (at != axes.end()) values.insert(values.end(), at->second.begin(), at->second.end());
  };
  add(fixed);
  for (const Block& block : matrix.blocks) add(block.axes);
  for (const std::string& cell : matrix.include) values.push_back(parse_cell(cell).env);
  return values;
}

/// Whether a library that the worker loads has the name; one that does not say so has not. Another
/// program may run the cells of the backend, with other libraries: its answer then stands there.
bool has_variable(const WorkerInfo& worker, Backend backend, const std::string& name) {
  const nlohmann::json told = backend_told(worker, backend);
  const nlohmann::json& answers = told.contains("variables") ? told : worker.describe;
  return !text_at(answers.value("variables", nlohmann::json()), name.c_str()).empty();
}

/// The backends of the cells that set a variable, by its name.
using SetOn = std::map<std::string, std::set<Backend>>;

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

void check_known(const SetOn& set_on, const std::vector<WorkerInfo>& workers,
                 const std::string& remedy) {
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
          remedy);
    }
  }
}

}  // namespace

std::set<std::string> variables_named(const Matrix& matrix, const AxisValues& fixed) {
  std::set<std::string> names;
  for (const std::string& value : env_values(matrix, fixed)) {
    for (const auto& each : parse_variables(value)) names.insert(each.first);
  }
  return names;
}

void refuse_foreign_variables(const RunOptions& options, const Matrix& matrix) {
  if (options.own_cells) return;
  std::map<std::string, std::string> foreign;
  // Beside --cell an option can only add variables to what the text sets.
  const auto own = [&options](const std::string& name) {
    return !options.cells.empty() && options.axes.contains("env." + name);
  };
  for (const std::string& value : env_values(matrix, {})) {
    for (const auto& [name, set] : parse_variables(value)) {
      if (!is_documented_switch(name) && !own(name)) foreign.emplace(name, set);
    }
  }
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
  for (const PlannedCell& planned : plan.cells) {
    for (const auto& each : parse_variables(planned.cell.env)) {
      set_on[each.first].insert(planned.cell.backend);
    }
  }
  check_once(set_on, options.environment);
  if (options.force_env) return;
  check_known(set_on, workers,
              std::string("Look for the name in the library's release") +
                  (options.part ? "" : ", or run it nonetheless with --force-env"));
}

}  // namespace mpsprobe

#include "tools/runner/run/own_code.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/input/input_error.h"
#include "harness/wire/own_command.h"
#include "reports/words/safe_text.h"
#include "tools/runner/run/run_options.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// FILE::WHAT with the file by its absolute path; a module's name stays as it is. A folder may have
/// "::" in its name where a function is named.
std::string with_absolute_file(const std::string& option, const std::string& text,
                               bool needs_name) {
  const size_t ends = needs_name ? text.rfind(".py::") : std::string::npos;
  const size_t colons = ends == std::string::npos ? text.find("::") : ends + 3;
  const std::string file = text.substr(0, colons);
  const bool is_named = colons != std::string::npos && colons + 2 < text.size();
  if (file.empty() || (needs_name && !is_named)) {
    throw InputError(option + " " + printable(text), "does not say which function of which file",
                     "Write for example --python app.py::infer");
  }
  std::error_code error;
  if (fs::exists(file, error))
    return fs::absolute(file).lexically_normal().string() + text.substr(file.size());
  if (needs_name && !file.ends_with(".py") && file.find('/') == std::string::npos) return text;
  throw InputError(option + " " + printable(text), printable(file) + " is not there",
                   "Name a file that is, by its path from the current folder");
}

std::string names_of_operations(const RunOptions& options) {
  std::set<std::string> names;
  const std::vector<WorkerInfo> workers =
      find_workers(options.workers, options.environment, {},
                   options.limits.timeout_seconds.value_or(kDescribeSeconds));
  for (const auto& each : operations_of(workers)) {
    names.insert(each.first);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

/// A script that is to run with arguments, or as it is, and not one of its functions.
bool names_script(const std::string& python) {
  std::error_code error;
  return fs::is_regular_file(python, error);
}

/// Refuses what belongs to a command where there is none, and a command beside other code.
void check_command(const RunOptions& options) {
  if (options.command.empty()) {
    const char* const option = !options.set.empty()             ? "--set"
                               : !options.expect_output.empty() ? "--expect-output"
                                                                : "--fail-on-output";
    if (options.set.empty() && options.expect_output.empty() && options.fail_on_output.empty())
      return;
    throw InputError(option, "is for a command, and there is none",
                     "Write one behind `--`: mpsprobe run --set batch=1,8 -- ./train {batch}");
  }
  const std::string first = shortened(printable(options.command.front()), 60);
  if (options.python || options.pytest) {
    throw InputError("-- " + first, "is a command, and --python or --pytest names other code",
                     "Run one of them; arguments stand behind a whole script alone");
  }
}

/// The command with all that was said of it; nothing where there is none.
std::optional<std::string> take_command(RunOptions& options) {
  if (options.python && names_script(*options.python)) {
    options.command.insert(options.command.begin(), {python_for_scripts(), *options.python});
    options.python.reset();
  }
  check_command(options);
  if (options.command.empty()) return std::nullopt;
  for (const std::string& each : options.set) {
    const size_t equals = each.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == each.size()) {
      throw InputError("--set " + printable(each), "is not NAME=VALUES",
                       "Write for example --set batch=1,8,64");
    }
    const auto [at, fresh] =
        options.axes.emplace("env." + each.substr(0, equals), each.substr(equals + 1));
    if (!fresh) {
      throw InputError("--set " + printable(each),
                       "comes after " + printable(each.substr(0, equals + 1) + at->second),
                       "Give a parameter all its values at once: --set batch=1,8,64");
    }
  }
  OwnCommand command{options.command, fs::current_path().string(), options.expect_output,
                     options.fail_on_output};
  if (!command.expect_output.empty() && command.expect_output != "same") {
    if (!fs::is_regular_file(command.expect_output)) {
      throw InputError("--expect-output " + printable(command.expect_output), "is no file",
                       "Name a file with the output, or write `same`: as with one thread");
    }
    command.expect_output = fs::absolute(command.expect_output).string();
  }
  return to_variable(command);
}

}  // namespace

std::optional<std::string> own_code_variable(RunOptions& options) {
  if (const std::optional<std::string> command = take_command(options)) return command;
  if (options.python) {
    return std::string(kPythonCodeVariable) + "=" +
           with_absolute_file("--python", *options.python, true);
  }
  if (options.pytest) {
    return std::string(kPytestVariable) + "=" +
           with_absolute_file("--pytest", *options.pytest, false);
  }
  return std::nullopt;
}

void use_own_code(RunOptions& options) {
  const std::optional<std::string> variable = own_code_variable(options);
  if (!variable) return;
  const auto use = [&options](const std::string& option, const std::string& value) {
    (option == "--worker" ? options.workers : options.environment).push_back(value);
    // A command stands in the line as it was called, behind everything else.
    if (options.command.empty())
      options.command_line.insert(options.command_line.end(), {option, value});
  };
  if (options.workers.empty()) {
    use("--worker",
        options.command.empty() ? "python=" + python_worker() : "command=" + command_worker());
  }
  use("--env", *variable);
  if (options.matrix || !options.cells.empty()) return;
  if (!options.command.empty()) options.axes.emplace("backend", "command");
  if (!options.axes.contains("op")) options.axes["op"] = names_of_operations(options);
}

}  // namespace mpsprobe

#include "tools/runner/run/own_code.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "harness/input/input_error.h"
#include "harness/platform/executable.h"
#include "reports/words/safe_text.h"
#include "tools/runner/run/run_options.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPythonWorker = "mpsprobe-python-worker";

/// FILE::WHAT with the file by its absolute path; a module's name stays as it is.
std::string with_absolute_file(const std::string& option, const std::string& text,
                               bool needs_name) {
  const size_t colons = text.find("::");
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
  const std::vector<WorkerInfo> workers = find_workers(options.workers, options.environment, {},
                                                       options.limits.timeout_seconds.value_or(0));
  for (const auto& each : operations_of(workers)) {
    names.insert(each.first);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

std::string python_worker() {
  std::vector<fs::path> folders{executable_path().parent_path()};
  const char* path = std::getenv("PATH");
  std::istringstream list(path == nullptr ? "" : path);
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  for (const fs::path& folder : folders) {
    const fs::path program = folder / kPythonWorker;
    if (access(program.c_str(), X_OK) == 0) return fs::absolute(program).string();
  }
  throw InputError(
      "--python", fmt::format("{} is neither beside this program nor in PATH", kPythonWorker),
      "Install mpsprobe into the Python environment that has your library: pip install "
      "mpsprobe. Or name the worker: --worker python=PATH");
}

std::optional<std::string> own_code_variable(const OwnCode& code) {
  if (code.python) {
    return kPythonCodeVariable + ("=" + with_absolute_file("--python", *code.python, true));
  }
  if (code.pytest) {
    return kPytestVariable + ("=" + with_absolute_file("--pytest", *code.pytest, false));
  }
  return std::nullopt;
}

void use_own_code(RunOptions& options) {
  const std::optional<std::string> variable = own_code_variable({options.python, options.pytest});
  if (!variable) return;
  const auto use = [&options](const std::string& option, const std::string& value) {
    (option == "--worker" ? options.workers : options.environment).push_back(value);
    options.command_line.insert(options.command_line.end(), {option, value});
  };
  if (options.workers.empty()) use("--worker", "python=" + python_worker());
  use("--env", *variable);
  if (options.matrix || !options.cells.empty() || options.axes.contains("op")) return;
  options.axes["op"] = names_of_operations(options);
}

}  // namespace mpsprobe

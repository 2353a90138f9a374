#include "harness/executor/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "harness/wire/variables.h"

extern char** environ;

namespace mpsprobe {
namespace {

// What a cell decides must not come from whoever started the runner.
constexpr std::array<std::string_view, 7> kDecidedByCell{
    "MPS_FORCE_GRAPH_PATH",        "MTL_DEBUG_LAYER",
    "MTL_SHADER_VALIDATION",       "MTL_SHADER_VALIDATION_REPORT_TO_STDERR",
    "METAL_DEVICE_WRAPPER_TYPE",   "MPSPROBE_SIM_PROFILE",
    "PYTORCH_MPS_LOG_PROFILE_INFO"};  // disturbs every trial: a probe of the path asks for it

// Every race of a process is told, on stderr, and leaves its end as it is; crashes are for the
// worker's own handler. What a signal's handler calls, and threads that outlive main, are no races.
constexpr std::string_view kThreadSanitizer =
    "halt_on_error=0:exitcode=0:log_path=stderr:history_size=5:atexit_sleep_ms=0:"
    "report_signal_unsafe=0:report_thread_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigill=0:"
    "handle_sigfpe=0:handle_abort=0";

std::pair<std::string, std::string> split(const std::string& entry) {
  const size_t equals = entry.find('=');
  return {entry.substr(0, equals),
          equals == std::string::npos ? std::string() : entry.substr(equals + 1)};
}

}  // namespace

std::vector<std::string> worker_environment(const Cell& cell,
                                            const std::vector<std::string>& inherited,
                                            const std::vector<std::string>& extra, System system) {
  std::map<std::string, std::string> variables;
  for (const std::string& entry : inherited) variables.insert(split(entry));
  // Else libmalloc says to a terminal alone why it ends a process (docs/macos.md).
  if (system == System::macos) variables.insert({"MallocDebugReport", "crash"});
  for (std::string_view name : kDecidedByCell) variables.erase(std::string(name));
  // The reports' fork reads it; stock PyTorch is brought onto the path by the layout of the weight.
  if (cell.path == Path::graph && cell.backend != Backend::metal) {
    variables["MPS_FORCE_GRAPH_PATH"] = "1";
  }
  // Both names are documented in `man MetalValidation`.
  if (cell.validation != Validation::none) variables["MTL_DEBUG_LAYER"] = "1";
  if (cell.validation == Validation::api_shader) {
    variables["MTL_SHADER_VALIDATION"] = "1";
    // Else its findings go to the system's log, where nobody here sees them.
    variables["MTL_SHADER_VALIDATION_REPORT_TO_STDERR"] = "1";
  }
  for (const auto& [name, value] : parse_variables(cell.env)) {
    if (value == kUnset) {
      variables.erase(name);
    } else {
      variables[name] = value;
    }
  }
  for (const std::string& entry : extra) {
    const auto [name, value] = split(entry);
    variables[name] = value;
  }
  // Of an option that is given twice the last one counts.
  if (cell.sanitizer == Sanitizer::thread) {
    std::string& options = variables["TSAN_OPTIONS"];
    options = std::string(kThreadSanitizer) + (options.empty() ? "" : ":" + options);
  }
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

ValidationSeen validation_seen(const std::string& text) {
  const auto seen = [&text](const char* banner) { return text.find(banner) != std::string::npos; };
  return {seen("Metal API Validation Enabled"), seen("Metal GPU Validation Enabled")};
}

bool validation_in_force(const Cell& cell, const std::string& text) {
  if (cell.validation == Validation::none) return true;
  const ValidationSeen seen = validation_seen(text);
  return seen.api && (seen.shader || cell.validation == Validation::api);
}

std::vector<std::string> inherited_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

}  // namespace mpsprobe

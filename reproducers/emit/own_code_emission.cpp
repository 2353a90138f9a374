#include "reproducers/emit/own_code_emission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "harness/wire/input_error.h"
#include "reproducers/emit/program_text.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

// As scenarios/python/mpsprobe/worker.py has them.
constexpr std::string_view kFunctions = "MPSPROBE_PYTHON_CODE=";
constexpr std::string_view kTests = "MPSPROBE_PYTEST=";

/// The value of the last such variable; empty where there is none.
std::string value_of(const EmissionRequest& request, std::string_view name) {
  std::string found;
  for (const std::string& each : request.environment) {
    if (each.starts_with(name)) found = each.substr(name.size());
  }
  return found;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The function that the operation is: the only one, or the one that is called so.
std::string function_of(const std::string& names, const std::string& op) {
  std::istringstream list(names);
  std::string found;
  size_t count = 0;
  for (std::string name; std::getline(list, name, ','); ++count) {
    if (count == 0 || lower(name) == op) found = name;
  }
  return count == 1 || lower(found) == op ? found : "";
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

bool is_own_code(const EmissionRequest& request) {
  return !value_of(request, kFunctions).empty() || !value_of(request, kTests).empty();
}

Emission emit_own_code(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::python};
  const std::string code = value_of(request, kFunctions);
  const size_t colons = code.find("::");
  if (code.empty()) {
    emission.why_not = "the cell is of a test with pytest's fixtures: run it by mpsprobe";
  } else if (cell.processes > 1) {
    emission.why_not = "the cell has several processes, and the program is one";
  } else if (colons == std::string::npos || !is_printable(code)) {
    emission.why_not = "the variable that names the code has not the form FILE::FUNCTION";
  }
  if (!emission.possible()) return emission;
  const std::string function = function_of(code.substr(colons + 2), cell.op);
  if (function.empty()) emission.why_not = "no function of the code is called " + cell.op;
  const fs::path place = code.substr(0, colons);
  std::string module = place.string();
  if (place.is_absolute()) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) emission.why_not = "the file of the code is not there";
    module = place.stem().string();
    if (module == "reproducer") emission.why_not = "the file has the name of the program";
  }
  if (!emission.possible()) return emission;

  const fs::path harness = request.programs / "python" / "own_code.py";
  ParameterBlock block(read_program(harness), harness.string());
  const std::string folder = place.is_absolute() ? place.parent_path().string() : ".";
  block.set("MODULE, FOLDER, FUNCTION",
            fmt::format("{}, {}, {}", in_quotes(module), in_quotes(folder), in_quotes(function)));
  block.set("THREADS, ITERATIONS, ROUNDS, RUNS, LOCKED",
            fmt::format("{}, {}, {}, {}, {}", cell.threads, cell.iterations, cell.churn,
                        std::min<size_t>(runs_for(request), 50),
                        cell.lock == Lock::forward ? "True" : "False"));
  emission.files = {{"reproducer.py", headed(request, "#", block.text())}};
  if (place.is_absolute()) {
    emission.files.push_back({place.filename().string(), read_program(place)});
  }
  emission.run = "python3 reproducer.py";
  say_common(emission, cell);
  say_rest(emission, cell, {"threads", "iterations", "churn", "lock"});
  return emission;
}

}  // namespace mpsprobe

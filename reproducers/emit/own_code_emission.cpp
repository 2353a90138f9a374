#include <fmt/format.h>

#include <algorithm>

#include "harness/input/input_error.h"
#include "reproducers/emit/kinds.h"
#include "reproducers/emit/program_text.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string python_bool(bool value) {
  return value ? "True" : "False";
}

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string why_not(const Cell& cell, const std::string& code, const fs::path& place) {
  std::error_code error;
  if (cell.processes > 1) return "the cell has several processes, and the program is one";
  if (!is_printable(code) || place.string().size() + 2 >= code.size()) {
    return "the worker's name of the code has not the form FILE::NAME";
  }
  if (!place.is_absolute()) return "";
  if (!fs::is_regular_file(place, error)) return "the file of the code is not there";
  return place.stem() == "reproducer" ? "the file has the name of the program" : "";
}

void set_what(ParameterBlock& block, const fs::path& place, const std::string& name, bool test) {
  if (test) {
    block.set("FILE, NAME", fmt::format("{}, {}", in_quotes(place.string()), in_quotes(name)));
    return;
  }
  const bool file = place.is_absolute();
  block.set("MODULE, FOLDER, FUNCTION",
            fmt::format("{}, {}, {}", in_quotes(file ? place.stem().string() : place.string()),
                        in_quotes(file ? place.parent_path().string() : "."), in_quotes(name)));
}

}  // namespace

bool is_own_code(const EmissionRequest& request) {
  return !request.own_function.empty() || !request.own_test.empty();
}

Emission emit_own_code(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::python};
  const bool test = request.own_function.empty();
  const std::string& code = test ? request.own_test : request.own_function;
  const fs::path place = code.substr(0, code.find("::"));
  emission.why_not = why_not(cell, code, place);
  if (!emission.possible()) return emission;

  const fs::path harness = request.programs / "python" / (test ? "own_test.py" : "own_code.py");
  ParameterBlock block(read_program(harness), harness.string());
  set_what(block, place, code.substr(place.string().size() + 2), test);
  block.set("THREADS, ITERATIONS, ROUNDS, RUNS",
            fmt::format("{}, {}, {}, {}", cell.threads, cell.iterations, cell.churn,
                        std::min<size_t>(runs_for(request), 50)));
  block.set("LOCKED, IN_TURN, WARM_UP, CLEAR_STREAMS, STACK",
            fmt::format("{}, {}, {}, {}, {}", python_bool(cell.lock == Lock::forward),
                        python_bool(cell.start == Start::sequential),
                        python_bool(cell.warmup == Warmup::main),
                        python_bool(cell.leave == Leave::clear_streams), cell.stack));
  emission.files = {{"reproducer.py", headed(request, "#", block.text())}};
  if (place.is_absolute()) {
    emission.files.push_back({place.filename().string(), read_program(place)});
  }
  emission.run = "python3 reproducer.py";
  Cell rest = cell;
  if (rest.start == Start::sequential) rest.start = Start::barrier;
  say_common(emission, rest);
  say_rest(emission, rest, {"threads", "iterations", "churn", "lock", "warmup", "leave", "stack"});
  return emission;
}

}  // namespace mpsprobe

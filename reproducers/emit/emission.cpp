#include "reproducers/emit/emission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "harness/input/input_error.h"
#include "harness/wire/axis.h"
#include "harness/wire/split.h"
#include "harness/wire/variables.h"
#include "reproducers/emit/program.h"

namespace mpsprobe {
namespace {

/// What a program does of an axis that it does not have. Others are named alone.
constexpr std::pair<std::string_view, std::string_view> kInstead[] = {
    {"processes", "the program's work is in one process at a time"},
    {"start", "the threads start together"},
    {"validation", "set MTL_DEBUG_LAYER=1 (and MTL_SHADER_VALIDATION=1) when you run it"},
    {"sanitizer", "compile it and the library with -fsanitize=thread"},
    {"lifetime", "all iterations are in one process"},
    {"init", "the device is touched on main first"},
    {"warmup", "nothing is launched before"},
    {"wait", "the whole device is waited for"},
    {"sync", "each thread waits once, at its end"},
    {"model", "the threads share their weights"},
    {"owner", "each thread makes its own"},
    {"lock", "nothing is locked"},
};

// One line that no compiler takes for anything but a comment, whatever a failure was called.
std::string as_comment(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, 160)) {
    line += c < 0x20 || c > 0x7e || c == '\\' ? '?' : c;
  }
  return line;
}

std::string main_of(const EmissionRequest& request, std::string_view ending, int rounds,
                    const std::string& attempt) {
  const bool printed =
      request.outcome == Outcome::gpu_error && request.cell.backend != Backend::metal;
  const std::filesystem::path file = request.programs / fmt::format("main.{}.mustache", ending);
  const std::string in_all =
      request.form.seconds > 0
          ? fmt::format(", {:.0f} s in all", std::max(1.0, request.form.seconds))
          : "";
  std::string made = "attempt()";
  if (!attempt.empty()) made = attempt;
  if (rounds > 1) {
    made = fmt::format("for _ in range({}):\n    {}", rounds, replaced(made, {{"\n", "\n    "}}));
  }
  return rendered(read_program(file),
                  {{"rounds", rounds > 1 ? std::to_string(rounds) : ""},
                   {"attempts", std::to_string(request.form.attempts)},
                   {"in_all", in_all},
                   {"hangs", request.outcome == Outcome::hang ? "yes" : ""},
                   {"attempt", made},
                   {"limit", std::to_string(request.form.limit)},
                   {"at_end", request.at_end ? "yes" : ""},
                   {"printed", printed ? "yes" : ""}},
                  file.string());
}

}  // namespace

std::string read_program(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) {
    throw InputError(path.string(), "cannot be read",
                     "It comes with mpsprobe: install it whole, with share/mpsprobe/programs");
  }
  return text.str();
}

std::string compose(const EmissionRequest& request, std::string_view name, TemplateValues values) {
  const Cell& cell = request.cell;
  const bool python = name.ends_with("py.mustache");
  const std::string_view mark = python ? "# " : "// ";
  // A cell that starts its threads anew is as many rounds of a process.
  const int rounds = cell.churn * request.form.rounds;
  values.try_emplace("attempt", "");
  if (!values.contains("main")) {
    values["main"] = main_of(request, python ? "py" : "cpp", rounds, values["attempt"]);
  }
  while (values["main"].ends_with('\n')) values["main"].pop_back();
  values["title"] =
      as_comment(request.signature.empty() ? "A failure with several threads" : request.signature);
  values["cell"] = "mpsprobe run --cell " + to_string(cell);
  values["notes"] =
      request.watermark.empty() ? "" : std::string(mark) + as_comment(request.watermark);
  values["threads"] = std::to_string(cell.threads);
  values["iterations"] = std::to_string(cell.iterations);
  values["repeats"] = cell.iterations > 1 ? "yes" : "";
  values["lock"] = cell.lock == Lock::forward ? "yes" : "";
  // What a thread raises ends no process of Python's.
  values["raises"] = request.outcome == Outcome::exception ? "yes" : "";
  const std::filesystem::path file = request.programs / name;
  return rendered(read_program(file), values, file.string());
}

std::vector<std::string> sizes_of(const Cell& cell, std::string_view usual) {
  const std::vector<std::string_view> sizes =
      split(cell.shape == "default" ? usual : cell.shape, 'x');
  return {sizes.begin(), sizes.end()};
}

std::string filled(std::string_view text, const std::vector<std::string>& sizes,
                   const std::map<char, std::string>& more) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
      continue;
    }
    const char which = text[++i];
    const auto index = static_cast<size_t>(which - '0');
    if (which == 'S') result += fmt::format("{}", fmt::join(sizes, ", "));
    if (which == 'P') result += fmt::format("{}", fmt::join(sizes, " * "));
    if (which == 'L') result += sizes.back();
    if (const auto other = more.find(which); other != more.end()) result += other->second;
    if (which >= '0' && which <= '9') result += index < sizes.size() ? sizes[index] : "1";
  }
  return result;
}

std::vector<Variable> variables_of(std::string_view list) {
  std::vector<Variable> variables;
  if (list.empty()) return variables;
  for (const std::string_view each : split(list, ';')) {
    const size_t begin = each.find_first_not_of(' ');
    const size_t equals = each.find(" = ");
    variables.push_back(
        {std::string(each.substr(begin, equals - begin)), std::string(each.substr(equals + 3))});
  }
  return variables;
}

std::string replaced(std::string text,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> words) {
  for (const auto& [from, to] : words) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

std::string names_in(std::string_view call, std::string_view prefix, std::string_view shown) {
  std::string names;
  for (size_t at = 0; (at = call.find(prefix, at)) != std::string_view::npos;) {
    const size_t end = call.find_first_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.", at);
    const std::string name(call.substr(at + prefix.size(), end - at - prefix.size()));
    at = end;
    if (end == std::string_view::npos || call[end] != '(' || name == "array") continue;
    const std::string whole = std::string(shown) + replaced(name, {{"::", "."}});
    if (names.find(whole) == std::string::npos) names += (names.empty() ? "" : ", ") + whole;
  }
  return names;
}

std::string api_of(const Cell& cell) {
  if (cell.backend == Backend::command) return cell.op;
  const std::string name = cell.backend == Backend::mlx     ? api_of_mlx(cell)
                           : cell.backend == Backend::metal ? api_of_metal(cell)
                                                            : api_of_torch(cell);
  return name.empty() ? cell.op : name;
}

std::string why_no_program(const Cell& cell) {
  if (cell.backend == Backend::cuda) return "the cell is of the backend cuda";
  if (cell.op.starts_with("selftest.")) return "the cell is of a self-test";
  if (cell.processes > 1 && cell.threads == 1) {
    return "the cell fails with several processes of one thread each, and the program is one "
           "process";
  }
  return "";
}

void say_rest(Emission& emission, const Cell& cell, std::initializer_list<std::string_view> said) {
  constexpr std::string_view kOfTheCell[] = {"backend", "op",    "path",       "profile",
                                             "threads", "churn", "iterations", "shape"};
  for (const auto& [name, value] : parse_variables(cell.env)) {
    emission.not_expressed.push_back(
        value == kUnset ? fmt::format("env.{}: unset {} before you run it", name, name)
                        : fmt::format("env.{}: set {}={} when you run it", name, name, value));
  }
  const auto among = [](const auto& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  for (const Axis& axis : axes()) {
    const std::string value = axis.read(cell);
    if (axis.name == "env" || value == axis.default_value || among(kOfTheCell, axis.name) ||
        among(said, axis.name)) {
      continue;
    }
    const auto* const instead =
        std::find_if(std::begin(kInstead), std::end(kInstead),
                     [&](const auto& each) { return each.first == axis.name; });
    emission.not_expressed.push_back(fmt::format(
        "{}={}: {}", axis.name, value,
        instead == std::end(kInstead) ? "the program does not say it" : instead->second));
  }
}

std::vector<Emission> emit(const EmissionRequest& request) {
  if (!request.own_function.empty() || !request.own_test.empty()) {
    return {emit_own_code(request)};
  }
  if (request.cell.backend == Backend::mlx) {
    return {emit_mlx(request), emit_mlx_python(request)};
  }
  return {emit_metal(request), emit_libtorch(request), emit_torch_python(request)};
}

int attempts_for(double rate, int most) {
  const double chance = std::clamp(rate, 0.001, 0.999);
  return static_cast<int>(
      std::clamp(std::ceil(std::log(0.01) / std::log(1 - chance)), 1.0, static_cast<double>(most)));
}

std::string simulated_watermark(const Cell& cell, const std::string& own_mps_code) {
  return fmt::format("SIMULATED ({}): no evidence about Apple's software.",
                     own_mps_code.empty() ? "profile " + cell.profile : own_mps_code);
}

}  // namespace mpsprobe

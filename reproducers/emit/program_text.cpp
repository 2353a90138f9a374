#include "reproducers/emit/program_text.h"

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

namespace mpsprobe {
namespace {

// One line that no compiler takes for anything but a comment, whatever a failure was called.
std::string as_comment(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, 160)) {
    line += c < 0x20 || c > 0x7e || c == '\\' ? '?' : c;
  }
  return line;
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

std::string headed(const EmissionRequest& request, std::string_view mark, const std::string& text) {
  const std::string second = request.watermark.empty() || request.signature.empty()
                                 ? request.watermark + request.signature
                                 : request.watermark + " " + request.signature;
  std::string head = fmt::format("{} {}\n", mark, to_string(request.cell));
  if (!second.empty()) head += fmt::format("{} {}\n", mark, as_comment(second));
  return head + text;
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
    if (which == 'L') result += sizes.back();
    if (const auto other = more.find(which); other != more.end()) result += other->second;
    if (which >= '0' && which <= '9') result += index < sizes.size() ? sizes[index] : "1";
  }
  return result;
}

std::string_view bool_of(bool value) {
  return value ? "true" : "false";
}

std::string element(const std::string& value) {
  const bool depends = value.find("i %") != std::string::npos;
  return fmt::format("[](float x, size_t{}) {{ return {}; }}", depends ? " i" : "", value);
}

void say(Emission& emission, bool applies, std::string_view axis, const Cell& cell,
         const std::string& what) {
  if (!applies) return;
  emission.not_expressed.push_back(
      fmt::format("{}={}: {}", axis, find_axis(axis)->read(cell), what));
}

void say_common(Emission& emission, const Cell& cell) {
  say(emission, cell.processes > 1, "processes", cell,
      "the program's work is in one process at a time");
  say(emission, cell.start != Start::barrier, "start", cell, "the threads start together");
  say(emission, cell.validation != Validation::none, "validation", cell,
      emission.kind == Kind::metal
          ? "the arms called validation are under both layers, and no other is"
          : "set MTL_DEBUG_LAYER=1 (and MTL_SHADER_VALIDATION=1) when you run it");
  say(emission, cell.sanitizer != Sanitizer::none, "sanitizer", cell,
      "compile it and the library with -fsanitize=thread");
  for (const auto& [name, value] : parse_variables(cell.env)) {
    emission.not_expressed.push_back(
        value == kUnset ? fmt::format("env.{}: unset {} before you run it", name, name)
                        : fmt::format("env.{}: set {}={} when you run it", name, name, value));
  }
  say(emission, cell.lifetime == Lifetime::fresh, "lifetime", cell,
      "all iterations are in one process");
}

void say_once(Emission& emission, const Cell& cell) {
  say(emission, cell.churn > 1, "churn", cell, "the threads are started and joined once");
}

void say_of_metal(Emission& emission, const Cell& cell) {
  say_common(emission, cell);
  say(emission, cell.wait != WaitFor::device, "wait", cell,
      "each thread waits for its own command buffers");
  say(emission, cell.stream == StreamUse::per_thread, "stream", cell,
      "streams are LibTorch's; here each thread has a command queue");
  say(emission, cell.init == Init::threads, "init", cell, "the device is touched on main first");
  say(emission, cell.warmup == Warmup::main, "warmup", cell, "nothing is launched before");
}

void say_rest(Emission& emission, const Cell& cell, std::initializer_list<std::string_view> said) {
  constexpr std::string_view kOfTheCell[] = {"backend", "op", "path", "env", "profile"};
  for (const Axis& axis : axes()) {
    const std::string noted = fmt::format("{}=", axis.name);
    const std::vector<std::string>& lines = emission.not_expressed;
    if (axis.read(cell) == axis.default_value ||
        std::find(std::begin(kOfTheCell), std::end(kOfTheCell), axis.name) !=
            std::end(kOfTheCell) ||
        std::find(said.begin(), said.end(), axis.name) != said.end() ||
        std::any_of(lines.begin(), lines.end(),
                    [&](const std::string& line) { return line.starts_with(noted); })) {
      continue;
    }
    say(emission, true, axis.name, cell, "the program does not say it");
  }
}

size_t runs_for(const EmissionRequest& request) {
  // As many as see the failure with 99%, at most 300.
  const double rate = std::clamp(request.failure_rate, 0.01, 0.9);
  return static_cast<size_t>(
      std::clamp(std::ceil(std::log(0.01) / std::log(1 - rate)), 10.0, 300.0));
}

void set_common(ParameterBlock& block, const EmissionRequest& request) {
  const Cell& cell = request.cell;
  block.set("kThreads", std::to_string(cell.threads));
  block.set("kIterations", std::to_string(cell.iterations));
  block.set("kRuns", std::to_string(runs_for(request)));
  block.set("kLock", bool_of(cell.lock == Lock::forward));
}

}  // namespace mpsprobe

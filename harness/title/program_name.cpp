#include "harness/title/program_name.h"

#include <algorithm>

#include "harness/text/ascii.h"
#include "harness/title/operator_names.h"

namespace mpsprobe {
namespace {

constexpr auto npos = std::string_view::npos;

// Words that say what went wrong, or of what.
constexpr std::string_view kNotPrograms[] = {
    "attribute", "bias",     "conv1d", "conv2d",      "conv3d", "error",  "kernel",
    "parameter", "quantize", "tensor", "terminating", "torch",  "typeid", "weight"};

// "saver", "edge_runner_v2", "tp-worker"
bool is_program(std::string_view name) {
  if (!ascii::lower(ascii::at(name, 0))) return false;
  return std::all_of(
             name.begin(), name.end(),
             [](char c) { return ascii::lower(c) || ascii::digit(c) || c == '-' || c == '_'; }) &&
         !ascii::is_one_of(name, kNotPrograms) && !is_operator_name(name);
}

// "rank 2", "worker 13"
bool is_numbered(std::string_view name) {
  constexpr std::string_view kWho[] = {"job", "process", "rank", "task", "thread", "worker"};
  const size_t space = name.find(' ');
  return space != npos && space + 1 < name.size() &&
         name.find_first_not_of("0123456789", space + 1) == npos &&
         ascii::is_one_of(name.substr(0, space), kWho);
}

size_t one_name_length(std::string_view line, bool first) {
  constexpr size_t kLongest = 40;
  const std::string_view head = line.substr(0, kLongest);
  if (const size_t close = head.find("] "); head.starts_with('[') && close != npos) {
    if (is_program(head.substr(1, close - 1))) return close + 2;
  }
  constexpr std::string_view kIn = "in ";
  if (const size_t call = head.find("(): "); call != npos && head.starts_with(kIn)) {
    if (call == kIn.size() + ascii::word_length(head.substr(kIn.size()))) return call + 4;
  }
  const size_t end = head.find(": ");
  if (end == npos) return 0;
  const std::string_view name = head.substr(0, end);
  // The C++ library's words are no operator's.
  for (std::string_view own : {"vector::", "basic_string::", "map::at", "bad_", "std::"}) {
    if (line.substr(end + 2).starts_with(own) && name.find(' ') == npos) return end + 2;
  }
  // "fused_lanes: fatal: ": what stands in front of such a word is no operator, whatever its name.
  const bool fatal =
      first && name.find(' ') == npos && ascii::lower(ascii::at(name, 0)) &&
      (line.substr(end + 2).starts_with("fatal: ") || line.substr(end + 2).starts_with("error: "));
  if (fatal && name != "error") return end + 2;
  // Behind another name it is what the message is about.
  const bool script = first && name.find(' ') == npos &&
                      (name.ends_with(".py") || name.starts_with("./") || name.starts_with('/'));
  return script || is_program(name) ? end + 2 : 0;
}

}  // namespace

size_t program_name_length(std::string_view line) {
  // "stress: take_window: ": the program, and its function.
  constexpr int kMost = 3;
  // "rank 2: " in front of them names none by itself.
  const size_t colon = line.substr(0, 20).find(": ");
  const size_t number = colon != npos && is_numbered(line.substr(0, colon)) ? colon + 2 : 0;
  size_t length = number;
  for (int i = 0; i < kMost; ++i) {
    const size_t more = one_name_length(line.substr(length), i == 0);
    if (more == 0) break;
    length += more;
  }
  return length == number ? 0 : length;
}

}  // namespace mpsprobe

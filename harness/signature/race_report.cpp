#include "harness/signature/race_report.h"

#include <algorithm>

#include "harness/signature/function_name.h"
#include "harness/signature/rules.h"
#include "harness/signature/shape.h"
#include "harness/signature/title.h"
#include "harness/signature/written_stacks.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

using std::string_view;
constexpr size_t kMostSides = 4;
constexpr size_t kMostFramesOfSide = 256;

// "race on vptr" of "WARNING: ThreadSanitizer: data race on vptr (ctor/dtor vs virtual call)
// (pid=1)".
std::string kind_of(string_view line) {
  static const Shape kKind(R"(.*?ThreadSanitizer: (?:data (?=race))?([\w -]*))");
  const auto kind = kKind.match(line, 0);
  if (!kind) return "report";
  line = trimmed(line.substr(kind->inner_begin, kind->inner_end - kind->inner_begin));
  return std::string(line.empty() ? "report" : line);
}

// What a report tells behind its sides.
bool ends_the_sides(string_view line) {
  static const Shape kEnd(
      "Location is |Thread |As if |SUMMARY: |=====|.*ThreadSanitizer: |Mutex .* created at");
  return kEnd.match(line, 0).has_value();
}

// "Write of size 8 at 0x7b04 by thread T2 (mutexes: write M1):" without where, and what it held.
std::string without_address(string_view header) {
  static const Shape kProcess("==\\d+== ?");
  if (const auto process = kProcess.match(header, 0)) header.remove_prefix(process->end);
  std::string what(header.substr(0, std::min(header.find(" (mutexes: "), header.size())));
  if (what.ends_with(':')) what.pop_back();
  const size_t at = what.find(" at 0x");
  if (at != std::string::npos) what.erase(at, std::min(what.find(' ', at + 4), what.size()) - at);
  return what;
}

// "MPSGraphCache::getInstance" of "at::native::mps::MPSGraphCache::getInstance".
string_view without_namespaces(string_view function) {
  if (function.starts_with('-') || function.starts_with('+')) return function;
  size_t colons = function.rfind("::");
  if (colons != string_view::npos && colons > 0) colons = function.rfind("::", colons - 1);
  return colons == string_view::npos ? function : function.substr(colons + 2);
}

/// What the frames of a side say.
struct Spoken {
  std::string name;  ///< of its function; empty where none is the library's
  std::string own;   ///< the innermost of this project's own
  bool teardown = false;
};

Spoken speak(const std::vector<StackFrame>& frames, const Rules& rules) {
  Spoken spoken;
  std::string image;   // that is all that is known of a frame
  std::string lambda;  // that has no name
  for (const StackFrame& frame : frames) {
    const std::string function = normalise_function(frame.function);
    const std::string in = normalise_image(frame.image);
    const PassingFrame* const passing = find_passing_frame(in, function, rules.frames);
    if (passing != nullptr && passing->meaning == Passing::teardown) spoken.teardown = true;
    // The C++ library's, compiled into its caller, may have a name without its space.
    if (frame.source.find("/c++/") != string_view::npos) continue;
    if (passing != nullptr) {
      if (passing->meaning == Passing::placeholder && lambda.empty() && !frame.source.empty()) {
        lambda = "lambda in " + normalise_image(frame.source.substr(0, frame.source.find(':')));
      }
      continue;
    }
    if (find_passing_frame(in, function, rules.own) != nullptr) {
      if (spoken.own.empty()) spoken.own = function;
      continue;
    }
    if (function.empty() && image.empty()) image = in;
    const bool begins = function == "main" && !spoken.own.empty();
    if (!function.empty() && spoken.name.empty() && !begins) spoken.name = function;
  }
  if (spoken.name.empty() && spoken.own.empty()) {
    spoken.name = !lambda.empty() || image.empty() ? lambda : "a function of " + image;
    if (spoken.name.empty()) spoken.name = "?";
  }
  return spoken;
}

}  // namespace

RaceReport read_race_report(string_view text) {
  RaceReport report;
  const string_view whole = text;
  string_view header;
  bool in_frames = false;  // the line before was a frame of the last side
  const auto add_side = [&] {
    report.sides.push_back({.thread = kSideOfRace, .name = without_address(header)});
  };
  for (bool first = true; !text.empty(); first = false) {
    const size_t end = std::min(text.find('\n'), text.size());
    const string_view line = trimmed(text.substr(0, end));
    auto frame = line.starts_with('#') ? read_written_frame(line) : std::nullopt;
    if (first) {
      report.kind = kind_of(line);
    } else if (ends_the_sides(line)) {
      break;
    } else if (frame) {
      if (!in_frames && report.sides.size() == kMostSides) break;
      if (!in_frames) add_side();
      in_frames = true;
      if (report.sides.back().frames.size() < kMostFramesOfSide)
        report.sides.back().frames.push_back(std::move(*frame));
    } else if (line.ends_with(" bytes left out]")) {
      header = {};
      if (report.sides.size() < 2) add_side();
      break;
    } else if (line.starts_with("[failed to restore the stack]")) {
      if (report.sides.size() == kMostSides) break;
      add_side();
    } else if (!line.empty()) {
      header = line;
      in_frames = false;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  report.length = whole.size() - text.size();
  return report;
}

std::string title_of_race(const RaceReport& report, const Rules& rules) {
  std::vector<std::string> names;
  bool own = !report.sides.empty();
  bool teardown = !report.sides.empty();
  for (const ThreadStack& side : report.sides) {
    const Spoken spoken = speak(side.frames, rules);
    names.emplace_back(without_namespaces(spoken.name.empty() ? spoken.own : spoken.name));
    own = own && spoken.name.empty();
    teardown = teardown && spoken.teardown;
  }
  std::sort(names.begin(), names.end());
  std::string title = report.kind;
  for (size_t i = 0; i < names.size(); ++i) title += (i == 0 ? ": " : " / ") + names[i];
  const string_view suffix = own ? kInOwnCode : teardown ? kInTeardown : string_view();
  title.resize(std::min(title.size(), kLongestTitle - suffix.size()));
  return title + std::string(suffix);
}

}  // namespace mpsprobe

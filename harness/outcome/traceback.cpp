#include "harness/outcome/traceback.h"

#include <algorithm>
#include <array>
#include <utility>

#include "harness/outcome/torchscript.h"
#include "harness/text/ascii.h"
#include "harness/text/log_prefix.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostText = 64 << 10;
constexpr size_t kMostLine = 1024;
constexpr std::string_view kPytestSummary = "= short test summary info";
constexpr std::string_view kHeading = "Traceback (most recent call last):";
constexpr auto npos = std::string_view::npos;

bool in_type(char c) {
  return ascii::word(c) || c == '.';
}

bool names_an_error(std::string_view type) {
  constexpr std::array<std::string_view, 4> kEndings{"Error", "Exception", "Interrupt", "Exit"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [type](std::string_view ending) { return type.ends_with(ending); });
}

// How much of `line` is `mark`, numbers being as good as others; npos where it is not there.
size_t marked_length(std::string_view line, std::string_view mark) {
  size_t i = 0;
  for (size_t k = 0; k < mark.size();) {
    if (ascii::digit(mark[k]) && ascii::digit(ascii::at(line, i))) {
      while (k < mark.size() && ascii::digit(mark[k])) ++k;
      while (ascii::digit(ascii::at(line, i))) ++i;
    } else if (ascii::at(line, i++) != mark[k++]) {
      return npos;
    }
  }
  return i;
}

struct LogLine {
  std::string_view text;
  size_t indent;  ///< spaces between what stands in front of it and the text
};

// `mark` stands between what logs are known to put in front and the text, if it does.
LogLine behind_log(std::string_view line, std::string_view mark) {
  const size_t prefix = log_prefix_length(line);
  const std::string_view front = line.substr(0, prefix);
  std::string_view rest = line.substr(prefix);
  const size_t length = mark.empty() ? npos : marked_length(rest, mark);
  if (length == npos) {
    const size_t last = front.find_last_not_of(" \t");
    return {rest, prefix - (last == npos ? 0 : last + 1)};
  }
  rest.remove_prefix(length);
  const size_t text = std::min(rest.find_first_not_of(" \t"), rest.size());
  return {rest.substr(text), text};
}

// "... File "x.py", line 3, in f take() LaneError: no lane": the last type with a message.
std::string_view in_one_line(std::string_view line) {
  constexpr std::array<std::string_view, 4> kTypes{
      "Error: ", "Exception: ", "Interrupt: ", "Exit: "};
  size_t found = npos;
  for (std::string_view type : kTypes) {
    const size_t last = line.rfind(type);
    if (last != npos && (found == npos || last > found)) found = last;
  }
  if (found == npos) return {};
  size_t begin = found;
  while (begin > 0 && in_type(line[begin - 1])) --begin;
  return line.substr(begin);
}

/// A line as pytest shows it of an exception, without its mark.
struct PytestLine {
  bool shown = false;
  std::string_view what;
};

PytestLine pytest_line(std::string_view line) {
  constexpr std::string_view kMark = "E   ";
  const size_t mark = line.find(kMark);
  if (mark == npos || mark > log_prefix_length(line)) return {};
  const std::string_view rest = line.substr(mark + kMark.size());
  return {true, rest.substr(std::min(rest.find_first_not_of(" \r"), rest.size()))};
}

// "E       LaneError: no lane", as pytest shows what a test ended with: the first such line of the
// last test, or of what led to it. The line that pytest ends with is cut to the terminal's width.
std::string in_pytest(std::string_view text) {
  text = text.substr(0, text.rfind(kPytestSummary));
  std::string found;
  bool before = false;
  bool caused = false;  // what is shown next, the exception that was found led to
  bool goes_on = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    caused = caused || line.find("direct cause of the following exception") != npos;
    const auto [shown, what] = pytest_line(line);
    if (shown && goes_on) {
      found += ' ';
      found += what.substr(0, kMostLine);
    }
    goes_on = false;
    if (shown && !before) {
      const auto type = std::find_if_not(what.begin(), what.end(), in_type);
      if (type != what.begin() && (type == what.end() || *type == ':') && !caused) {
        found = what.substr(0, kMostLine);
        // "E   LaneError:", and the message below it.
        goes_on = found.find_last_not_of(' ') == found.rfind(':');
      }
      caused = false;
    }
    before = shown;
  }
  return found;
}

// The TorchScript interpreter raises its own exception with the whole story in it: the last line.
std::string_view behind_torchscript(std::string_view text, std::string_view what) {
  if (what.find(kTorchScriptStory) == npos) return what;
  while (!text.empty()) {
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    const std::string_view line = text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
    const size_t colon = line.find(": ");
    const std::string_view type = line.substr(0, std::min(colon, line.size()));
    if (colon != npos && type.ends_with("Error") && line.find(kTorchScriptStory) == npos) {
      return line;
    }
    text.remove_suffix(line.size());
  }
  return what;
}

// What launchers raise over a process that they started, and that told its own story.
bool passes_on(std::string_view type) {
  return type.ends_with("ChildFailedError");
}

// "LaneBroken: no lane of the pool is left": a type that does not call itself an error says less
// than a whole message.
std::string without_type(std::string message, std::string_view type) {
  constexpr int kFewestSpaces = 3;
  const bool whole = message.size() > type.size() + 2 &&
                     std::count(message.begin() + static_cast<std::ptrdiff_t>(type.size()) + 2,
                                message.end(), ' ') >= kFewestSpaces;
  if (!names_an_error(type) && whole) message.erase(0, type.size() + 2);
  return message;
}

// Where the exception that led to the one told last is over; npos where Python names no such one.
size_t end_of_cause(std::string_view text, size_t traceback) {
  constexpr std::string_view kCause = "direct cause of the following exception";
  const size_t cause = text.substr(0, traceback).rfind(kCause);
  if (cause == npos) return npos;
  const size_t before = text.substr(0, traceback).rfind(kHeading);
  return before != npos && before < cause ? text.rfind('\n', cause) : npos;
}

// Whether the interpreter says of the traceback below `above` that it went on.
bool was_ignored(std::string_view above) {
  while (above.ends_with('\n') || above.ends_with('\r')) above.remove_suffix(1);
  return above.substr(above.rfind('\n') + 1).find("Exception ignored in") != npos;  // npos + 1 is 0
}

/// An exception, and where the text is over that tells of the one which led to it, or which says
/// more; npos where there is none.
struct ToldException {
  std::string message;
  size_t earlier = npos;
};

// The one below the heading at `traceback`.
ToldException exception_below(std::string_view text, size_t traceback) {
  const size_t begins = text.rfind('\n', traceback) + 1;  // npos + 1 is 0
  size_t earlier = was_ignored(text.substr(0, begins)) ? begins : end_of_cause(text, traceback);
  size_t line = text.find('\n', traceback);
  const std::string_view heading = text.substr(begins, line - begins);
  const size_t heading_end = traceback - begins + kHeading.size();
  const size_t goes_on = heading.find_first_not_of(" .\t\r", heading_end);
  if (goes_on != npos && heading.find("File ", goes_on) != npos) {
    return {std::string(in_one_line(heading.substr(goes_on)).substr(0, kMostLine)), earlier};
  }
  // What stands in front of the heading, where it stands in front of the lines below as well.
  std::string_view mark = heading.substr(0, traceback - begins);
  mark.remove_prefix(std::min(log_prefix_length(heading), mark.size()));
  if (line != npos) {
    const std::string_view next = text.substr(line + 1, text.find('\n', line + 1) - line - 1);
    const std::string_view rest = next.substr(log_prefix_length(next));
    if (marked_length(rest, mark) == npos) mark = {};
  }
  const size_t own = behind_log(heading, mark).indent;
  bool broken = false;
  // Below the frames, which are indented, stands "Type: message".
  while (line != npos && line + 1 < text.size()) {
    const size_t begin = line + 1;
    line = text.find('\n', begin);
    const LogLine logged = behind_log(text.substr(begin, line - begin), mark);
    const std::string_view what = logged.text;
    if (what.empty() || logged.indent > own || what[0] == '\r') continue;
    // Frames that somebody, or a logger, left out.
    if (what.find_first_not_of(".\r") == npos) continue;
    const size_t type =
        static_cast<size_t>(std::find_if_not(what.begin(), what.end(), in_type) - what.begin());
    // What marks a place in the line above.
    if (what.find_first_not_of("^~ \r") == npos) continue;
    // The end of a frame's line that a page broke: "__init__".
    const std::string_view name = what.substr(0, type);
    const size_t letter = name.find_first_not_of('_', name.rfind('.') + 1);  // npos + 1 is 0
    if (type >= what.find_last_not_of('\r') + 1 && !ascii::upper(ascii::at(name, letter))) continue;
    const bool form = type > 0 && (type == what.size() || what[type] == ':' || what[type] == '\r');
    // A page broke the frames' lines as well: only what calls itself an error is one.
    broken = broken || !form;
    if (broken && !(form && names_an_error(name))) continue;
    if (passes_on(name)) earlier = begins;
    std::string message(behind_torchscript(text.substr(begin), what).substr(0, kMostLine));
    // "RuntimeError:", and the message below it; "RuntimeError: {", as an NSError is written; what
    // torch.compile says above the error that it caught.
    if (message.ends_with(": ") || message.ends_with(':') || message.ends_with('{') ||
        message.ends_with(" when making fake tensor call")) {
      const size_t below = line == npos ? npos : text.find_first_not_of("\r\n", line);
      if (below != npos) {
        const std::string_view next = text.substr(below, text.find('\n', below) - below);
        const bool rule = next.starts_with("===") || next.starts_with("---");
        if (!rule) {
          message += ' ';
          message += behind_log(next.substr(0, kMostLine), mark).text;
        }
      }
    }
    return {without_type(std::move(message), name), earlier};
  }
  return {"", earlier};
}

// Somebody left the heading out, and the lines' ends got lost.
std::string without_heading(std::string_view text) {
  const size_t frame = text.rfind("File \"");
  const std::string_view rest = frame == npos ? text.substr(text.size()) : text.substr(frame);
  const std::string_view last = rest.substr(0, rest.find('\n'));
  return last.find(", line ") == npos ? "" : std::string(in_one_line(last).substr(0, kMostLine));
}

// The last one, or the one that led to it.
std::string last_exception(std::string_view text) {
  constexpr int kMostLinks = 32;
  std::string told;
  for (int i = 0; i < kMostLinks; ++i) {
    if (text.find(kPytestSummary) != npos) {
      if (std::string what = in_pytest(text); !what.empty()) return what;
    }
    const size_t traceback = text.rfind(kHeading);
    if (traceback == npos) return told.empty() ? without_heading(text) : told;
    ToldException one = exception_below(text, traceback);
    if (!one.message.empty()) told = std::move(one.message);
    if (one.earlier == npos) break;
    text = text.substr(0, one.earlier);
  }
  return told;
}

// Up to the end of what unittest tells of the first test that failed; all where it tells of none.
std::string_view up_to_first_failed_test(std::string_view text) {
  constexpr std::string_view kRule =
      "======================================================================";
  size_t first = npos;
  for (std::string_view heading : {"ERROR: ", "FAIL: "}) {
    const size_t found = text.find(std::string(kRule) + "\n" + std::string(heading));
    first = std::min(first, found);
  }
  return first == npos ? text : text.substr(0, text.find(kRule, first + kRule.size()));
}

}  // namespace

std::string_view above_launcher(std::string_view printed) {
  constexpr std::string_view kLaunchers[] = {"ProcessExitedException: process "};
  size_t raised = npos;
  for (std::string_view launcher : kLaunchers) {
    raised = std::min(raised, printed.rfind(launcher));
  }
  const size_t heading = raised == npos ? npos : printed.substr(0, raised).rfind(kHeading);
  if (heading == npos) return printed;
  const std::string_view above = printed.substr(0, printed.rfind('\n', heading) + 1);
  return above.find_first_not_of(" \r\n") == npos ? printed : above;
}

std::string uncaught_python_exception(std::string_view printed) {
  std::string told = last_exception(up_to_first_failed_test(
      printed.substr(printed.size() > kMostText ? printed.size() - kMostText : 0)));
  if (told.size() > kMostLine) told.resize(kMostLine);
  return told;
}

}  // namespace mpsprobe

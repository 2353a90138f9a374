#include "harness/title/wrapper.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"
#include "harness/text/log_prefix.h"
#include "harness/title/own_words.h"
#include "harness/title/system_error.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::ends_with_in_any_case;
using ascii::lower;
using ascii::starts_with_in_any_case;
using ascii::upper;
using ascii::word;

constexpr auto npos = std::string_view::npos;

// What runtimes and programs say in front of the message of an exception that they caught or not.
constexpr std::string_view kPhrases[] = {
    "libc++abi.dylib: ",
    "libc++abi: ",
    "terminate called after throwing an instance of ",
    "terminating due to uncaught exception of type ",
    "terminating with uncaught exception of type ",
    "what(): ",
    "what: ",
    "caused by: ",
    "exception message:",
    "error message:",
    "reason: ",
    "description: ",
    "message: ",
    "dyld error message: ",
    "failed: ",
    "fatal: ",
    "panic: ",
    "stdout: ",
    "stderr: ",
    "stdout | ",
    "stderr | ",
    "global exception ",
    "uncaught exception ",
    "unhandled exception ",
    "raw: ",
    "brokenprocesspool: ",
    "brokenthreadpool: ",
    "unsupported: ",
    "unhandled: ",
    "caught exception ",
    "got exception ",
    "caught ",
    "uncaught (in promise) ",
    "uncaught ",
    "##[error]",
};

// A progress bar that was being drawn when somebody else printed: all up to its rate.
size_t progress_length(std::string_view line) {
  const std::string_view head = line.substr(0, 512);
  size_t end = 0;
  for (std::string_view rate : {"it/s]", "s/it]", "B/s]"}) {
    const size_t found = head.rfind(rate);
    if (found != npos) end = std::max(end, found + rate.size());
  }
  return end;
}

// "**", "!!! ", "### ", "---> ": what a page or a program decorates a line with. One such character
// alone may belong to the message ("!ready", "-[Class method]", "*this").
size_t markup_length(std::string_view line) {
  constexpr std::string_view kMarkup = "*!#~-=<>+";
  const size_t end = std::min(line.find_first_not_of(kMarkup), line.size());
  return end >= 2 || (end == 1 && at(line, 1) == ' ') ? end : 0;
}

// "an error occurred during the run", "exception in lane", "Error while taking": in the first two
// or three words a program says that there was an error, and goes on with where.
bool tells_where(std::string_view name) {
  constexpr std::string_view kNouns[] = {"error ", "exception "};
  constexpr std::string_view kVerbs[] = {"occurred", "during",  "while",      "when",
                                         "in ",      "caught ", "executing ", "raised ",
                                         "thrown ",  "from ",   "processing", "setting up"};
  for (int i = 0; i < 3; ++i) {
    for (std::string_view noun : kNouns) {
      if (!starts_with_in_any_case(name, noun)) continue;
      const std::string_view rest = name.substr(noun.size());
      return std::any_of(std::begin(kVerbs), std::end(kVerbs),
                         [&](auto verb) { return starts_with_in_any_case(rest, verb); });
    }
    const size_t space = name.find(' ');
    if (space == npos) return false;
    name.remove_prefix(space + 1);
  }
  return false;
}

// "error loading the lanes", in front of a message that says why, and more than the system's words.
bool tells_what_it_did(std::string_view name, std::string_view message) {
  constexpr std::string_view kError = "error ";
  constexpr auto kMostSpaces = 3;
  constexpr std::string_view kDeeds[] = {"creating",  "executing", "loading",   "opening",
                                         "preparing", "reading",   "restoring", "running",
                                         "saving",    "starting",  "writing"};
  if (!starts_with_in_any_case(name, kError) || begins_with_system_error(message)) return false;
  name.remove_prefix(kError.size());
  const auto spaces = [](std::string_view text) {
    return std::count(text.begin(), text.end(), ' ');
  };
  return ascii::is_one_of(name.substr(0, name.find(' ')), kDeeds) && spaces(name) <= kMostSpaces &&
         std::all_of(name.begin(), name.end(), [](char c) { return lower(c) || c == ' '; }) &&
         spaces(message) >= kMostSpaces;
}

// "RuntimeError: ", "MLX error: ", "ggml_metal_init: load pipeline error: ", "Exception during
// processing!!! ": up to a few words that name an error and do not tell it.
size_t error_name_length(std::string_view line) {
  constexpr size_t kLongest = 100;
  const std::string_view head = line.substr(0, kLongest);
  const size_t shout = head.find("! ");
  if (shout != npos) {
    const std::string_view name = head.substr(0, head.find('!'));
    if (tells_where(name) && name.find(": ") == npos) return shout + 2;
  }
  const size_t colon = head.find(": ");
  if (colon == npos) return 0;
  std::string_view name = line.substr(0, colon);
  // "`RuntimeError`: ", "RuntimeError : "
  while (name.ends_with('\'') || name.ends_with(' ')) name.remove_suffix(1);
  if (tells_where(name) && std::count(name.begin(), name.end(), ' ') < 10) return colon + 2;
  if (tells_what_it_did(name, line.substr(colon + 2))) return colon + 2;
  if (name.ends_with(')')) name = name.substr(0, name.rfind('('));
  if (std::count(name.begin(), name.end(), ' ') > 3 || name.find('\'') != npos) return 0;
  constexpr std::string_view kEndings[] = {
      "error",     "exception",     "error occurred", "exception caught", "keyboardinterrupt",
      "error was", "exception was", "error message",  "exception message"};
  const bool names = std::any_of(std::begin(kEndings), std::end(kEndings),
                                 [&](auto ending) { return ends_with_in_any_case(name, ending); });
  return names ? colon + 2 : 0;
}

// "[pool.cc : 1400] ", "[lanes FATAL lanes/pool.h:654] ": a place in the source, and what else a
// library's own log puts there.
size_t bracketed_place_length(std::string_view line) {
  constexpr size_t kLongest = 160;
  if (line[0] != '[') return 0;
  const size_t close = line.substr(0, kLongest).find(']');
  if (close == npos || at(line, close + 1) != ' ') return 0;
  const std::string_view inside = line.substr(1, close - 1);
  const size_t number = inside.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  if (number == inside.size()) return 0;
  std::string_view file = inside.substr(0, number);
  while (file.ends_with(' ') || file.ends_with(':')) file.remove_suffix(1);
  constexpr std::string_view kSuffixes[] = {".cc", ".cpp", ".h", ".hpp", ".cu", ".mm"};
  const bool source =
      std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                  [file](std::string_view suffix) { return file.ends_with(suffix); });
  return source && file.size() < number ? close + 2 : 0;
}

// "[E:lanes:, pool.cc:12 Take] ", "3 : INVALID_LANE : ": a level in a library's own log, the
// number and the name of its status.
size_t status_length(std::string_view line) {
  constexpr size_t kLongest = 160;
  if (line[0] == '[' && at(line, 2) == ':' && is_level(line.substr(1, 1))) {
    const size_t close = line.substr(0, kLongest).find("] ");
    return close == npos ? 0 : close + 2;
  }
  const size_t number = line.find_first_not_of("0123456789");
  if (number == 0 || number == npos || !line.substr(number).starts_with(" : ")) return 0;
  const size_t name = number + 3;
  const size_t end = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", name);
  return end != npos && end > name && line.substr(end).starts_with(" : ") ? end + 3 : 0;
}

// "std::out_of_range: "
size_t standard_type_length(std::string_view line) {
  constexpr std::string_view kScope = "std::";
  if (!line.starts_with(kScope)) return 0;
  const size_t end = kScope.size() + ascii::word_length(line.substr(kScope.size()));
  return end > kScope.size() && line.substr(end).starts_with(": ") ? end + 2 : 0;
}

// A dotted type of Python: "lanes.state.NoSuchLane: ".
size_t dotted_type_length(std::string_view line) {
  constexpr size_t kLongest = 100;
  const size_t colon = line.substr(0, kLongest).find(": ");
  if (colon == npos) return 0;
  const std::string_view type = line.substr(0, colon);
  const size_t dot = type.rfind('.');
  const bool plain =
      std::all_of(type.begin(), type.end(), [](char c) { return word(c) || c == '.'; });
  return plain && dot != npos && lower(type[0]) && upper(at(type, dot + 1)) &&
                 std::any_of(type.begin() + static_cast<std::ptrdiff_t>(dot), type.end(), lower)
             ? colon + 2
             : 0;
}

// "LaneError - ", "<class 'LaneError'>: ", "ERROR:lanes.pool:"
size_t typed_length(std::string_view line, std::string_view token) {
  const std::string_view rest = line.substr(token.size());
  const bool capital = upper(token[0]) || token.find('.') != npos;
  const bool type = capital && (token.ends_with("Error") || token.ends_with("Exception"));
  if (type && (rest.starts_with(" - ") || rest.starts_with(" | "))) return token.size() + 3;
  for (std::string_view lead : {"<class '", "caught <class '"}) {
    if (!line.starts_with(lead)) continue;
    const size_t close = line.substr(0, 100).find("'>");
    return close == npos ? 0 : close + 2;
  }
  const size_t level = token.find(':');
  const size_t name = level == npos ? npos : token.find(':', level + 1);
  const bool module = name != npos && name > level + 1 && upper(token[0]) &&
                      std::all_of(token.begin() + static_cast<std::ptrdiff_t>(level) + 1,
                                  token.begin() + static_cast<std::ptrdiff_t>(name),
                                  [](char c) { return word(c) || c == '.'; });
  return module && is_level(token.substr(0, level)) ? name + 1 : 0;
}

}  // namespace

size_t wrapper_length(std::string_view line) {
  // "::error file=x::", as a workflow marks it.
  if (line.starts_with("::error")) {
    const size_t end = line.find("::", 2);
    if (end != npos) return end + 2;
  }
  for (std::string_view tag : {"<p>", "<li>", "<td>", "<div>", "<b>", "<strong>"}) {
    if (line.starts_with(tag)) return tag.size();
  }
  // Titles go without quotes: one that opens the line only hides what it is.
  if (std::string_view(" :;,|>?='").find(line[0]) != npos) return 1;
  if (const size_t length = markup_length(line); length > 0) return length;
  // "Failed running call_function f(*(...), **{}): ", as torch.compile passes an operator's on.
  if (line.starts_with("Failed running call_")) {
    const size_t end = line.find("}): ");
    if (end != npos) return end + 4;
  }
  if (const size_t length = progress_length(line); length > 0) return length;
  if (const size_t length = tag_length(line); length > 0) return length;
  if (const size_t length = bracketed_place_length(line); length > 0) return length;
  if (const size_t length = status_length(line); length > 0) return length;
  const std::string_view token = line.substr(0, line.find(' '));
  if (const size_t length = typed_length(line, token); length > 0) return length;
  if (token.size() < line.size()) {
    // "128 is no lane": a number alone is none of a log's, but for seconds since 1970 and what
    // stands in front of a place in the source.
    const std::string_view behind = line.substr(token.size() + 1);
    const bool logged = (token.size() >= 10 && token[0] == '1') ||
                        is_source_place(behind.substr(0, behind.find(' ')));
    const bool time = is_time(token) && (logged || !is_number(token));
    if (time || is_process(token) || is_level(token) || is_source_place(token)) {
      return token.size();
    }
    // "name - LEVEL - ", "file.py::test - "
    const std::string_view rest = line.substr(token.size());
    const bool named = token.find("::") != npos && token.find(".py") != npos;
    if (rest.starts_with(" - ") && (named || is_level(rest.substr(3, rest.find(' ', 3) - 3)))) {
      return token.size();
    }
  }
  for (std::string_view phrase : kPhrases) {
    if (starts_with_in_any_case(line, phrase)) return phrase.size();
  }
  if (const size_t length = error_name_length(line); length > 0) return length;
  if (const size_t length = dotted_type_length(line); length > 0) return length;
  if (const size_t length = standard_type_length(line); length > 0) return length;
  return own_words_length(line);
}

size_t wrapper_length_within(std::string_view line) {
  constexpr size_t kFarthest = 240;
  const std::string_view head = line.substr(0, kFarthest);
  size_t end = 0;
  // Types: "lanes.LaneError: ", and "Error: " alone.
  for (std::string_view ending : {"Error: ", "Exception: "}) {
    const size_t found = head.rfind(ending);
    if (found == npos || found == 0) continue;
    const size_t begin = head.find_last_of(" '([{=:,>*!", found - 1) + 1;  // npos + 1 is 0
    const std::string_view scope = head.substr(begin, found - begin);
    const bool type = upper(head[begin]) || scope.find('.') != npos;
    if (type && (scope.empty() || lower(scope.back()))) end = std::max(end, found + ending.size());
  }
  // A compiler's: "loc(...): error: message". A program's: "stopped due to exception: message".
  for (std::string_view ending : {": error: ", ": fatal error: ", " exception: ", " an error: ",
                                  " raised: ", " what(): ", ", reason: "}) {
    const size_t found = head.rfind(ending);
    if (found != npos) end = std::max(end, found + ending.size());
  }
  return end;
}

}  // namespace mpsprobe

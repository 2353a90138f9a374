#include "tools/signatures/pastes/log_prefix.h"

#include <algorithm>
#include <iterator>

#include "harness/signature/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;
using ascii::upper;
using ascii::word;

constexpr size_t kLongestTag = 60;
constexpr size_t kLongestPrefix = 200;
constexpr auto npos = std::string_view::npos;

constexpr std::string_view kLevels[] = {"trace", "debug", "info",     "warn",  "warning", "error",
                                        "err",   "crit",  "critical", "fatal", "notice",  "fault",
                                        "e",     "w",     "i",        "f",     "d"};

// "E1122": the level, the year in newer loggers of Google's, the month and the day.
bool is_google_level(std::string_view token) {
  return (token.size() == 5 || token.size() == 9) &&
         std::string_view("EWIF").find(token[0]) != npos &&
         token.find_first_not_of("0123456789", 1) == npos;
}

constexpr std::string_view kBrowsers[] = {":ERROR:", ":FATAL:", ":WARNING:", ":INFO:"};

}  // namespace

bool is_level(std::string_view token) {
  constexpr std::string_view kMarks = "[]()|<>:,-";
  const size_t begin = token.find_first_not_of(kMarks);
  if (begin == npos) return true;
  const std::string_view name = token.substr(begin, token.find_last_not_of(kMarks) + 1 - begin);
  const bool marked = name.size() < token.size();
  const bool loud = std::all_of(name.begin(), name.end(), upper);
  return (marked || loud) && std::any_of(std::begin(kLevels), std::end(kLevels), [&](auto level) {
           return std::equal(name.begin(), name.end(), level.begin(), level.end(),
                             ascii::same_in_any_case);
         });
}

bool tells_of_error(std::string_view prefix) {
  constexpr std::string_view kErrors[] = {"E", "F", "ERR", "CRIT", "ERROR", "FATAL", "CRITICAL"};
  constexpr std::string_view kMarks = "[]()|<>:,-";
  for (size_t begin = 0; begin < prefix.size();) {
    const size_t end = std::min(prefix.find_first_of(" \t", begin), prefix.size());
    std::string_view token = prefix.substr(begin, end - begin);
    while (!token.empty() && kMarks.find(token.front()) != npos) token.remove_prefix(1);
    while (!token.empty() && kMarks.find(token.back()) != npos) token.remove_suffix(1);
    const bool google = is_google_level(token) && (token[0] == 'E' || token[0] == 'F');
    if (google || ascii::is_one_of(token, kErrors)) return true;
    begin = end + 1;
  }
  return false;
}

// "2025-03-01", "12:00:00.123+0100", "[12:00:00]"
bool is_time(std::string_view token) {
  // "22/Nov/2026"
  constexpr std::string_view kMonths[] = {"/Jan/", "/Feb/", "/Mar/", "/Apr/", "/May/", "/Jun/",
                                          "/Jul/", "/Aug/", "/Sep/", "/Oct/", "/Nov/", "/Dec/"};
  const std::string_view month = token.substr(std::min<size_t>(2, token.size()), 5);
  if (digit(at(token, 0)) && ascii::is_one_of(month, kMonths)) return true;
  // ":12]" is the rest of a place in the source.
  return is_google_level(token) ||
         (token.find_first_not_of("0123456789-:.,+/|[]()TZ") == npos &&
          token.find_first_of("0123456789") != npos && token.size() > 3 && token[0] != ':');
}

// "name[12:34]", "name(12,0x3)"
bool is_process(std::string_view token) {
  while (token.ends_with(':')) token.remove_suffix(1);
  const size_t open = token.find_first_of("[(");
  // "dimension[0]" and "length(4)" are words of messages: a process has a thread beside it.
  const bool thread = open != npos && token.find_first_of(":,", open) != npos;
  return thread && open > 0 && (token.back() == ']' || token.back() == ')') &&
         open + 1 < token.size() && digit(token[open + 1]);
}

// "file.mm:43:0:", "op_kernel.cc:1830]", "<stdin>:5:10:", "models.roma_models:roma_model:61"
bool is_source_place(std::string_view token) {
  const bool closed = token.ends_with(':') || token.ends_with(']');
  while (token.ends_with(':') || token.ends_with(']') || token.ends_with(')')) {
    token.remove_suffix(1);
  }
  const size_t digits = token.find_last_not_of("0123456789");
  if (digits == npos || digits + 1 == token.size() || token[digits] != ':') return false;
  const bool module = std::count(token.begin(), token.end(), ':') >= 2 && token.find('.') != npos;
  return closed || module;
}

namespace {

// "4711:0102/030405.678:ERROR:pool.cc(12)", as browsers and what is built on them log it.
bool is_browsers(std::string_view name) {
  return name.ends_with(')') && std::any_of(std::begin(kBrowsers), std::end(kBrowsers),
                                            [&](auto level) { return name.find(level) != npos; });
}

}  // namespace

// A tag in front of a log's message: "[General] ", "[INFO] ", "(EngineCore pid=12) ", not
// "[metal::malloc] ".
size_t tag_length(std::string_view line) {
  const char open = at(line, 0);
  if (open != '[' && open != '(') return 0;
  const size_t close = line.substr(0, kLongestTag).find(open == '[' ? ']' : ')');
  if (close == npos || close < 2) return 0;
  const char after = at(line, close + 1);
  if (after != ' ' && after != ':') return 0;
  const std::string_view name = line.substr(1, close - 1);
  if (is_browsers(name)) return close + 1;
  if (name.find("pid=") != npos || name.find(" ip=") != npos || name == "mpsFileLoc" ||
      is_time(name.substr(0, name.find(' '))))
    return close + 1;
  if (open == '(') return 0;
  const bool one = std::all_of(name.begin(), name.end(),
                               [](char c) { return word(c) || c == '.' || c == '-' || c == ':'; });
  const bool rank = name.starts_with("rank") && digit(name.back());
  // A thread of a pool: "[pool-3] ".
  const size_t number = name.find_last_not_of("0123456789");
  const bool thread = number != npos && number > 0 && number + 1 < name.size() &&
                      name[number] == '-' && ascii::lower(name[0]);
  const bool capital = upper(name[0]) && name.find("::") == npos;
  // "[matmul] " is part of the message; "[lanes]: " and a backend's or a stream's name are not.
  constexpr std::string_view kNames[] = {"mps",    "metal", "cuda",   "torch", "pytorch",
                                         "python", "app",   "worker", "main"};
  const bool logger =
      (after == ':' && name.find("::") == npos) ||
      std::any_of(std::begin(kNames), std::end(kNames), [&](auto known) { return name == known; });
  return one && (capital || rank || thread || logger || is_level(line.substr(0, close + 1)))
             ? close + 1
             : 0;
}

namespace {

// "May  6 07:08:09 host app[12]: ", as the system's log writes it. 0: none.
size_t syslog_length(std::string_view line) {
  constexpr std::string_view kMonths[] = {"Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ",
                                          "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec "};
  if (std::none_of(std::begin(kMonths), std::end(kMonths),
                   [&](std::string_view month) { return line.starts_with(month); })) {
    return 0;
  }
  size_t i = line.find_first_not_of(' ', 4);
  while (i != npos && digit(at(line, i))) ++i;
  i = line.find_first_not_of(' ', std::min(i, line.size()));
  const size_t time_end = i == npos ? npos : line.find(' ', i);
  if (time_end == npos || !is_time(line.substr(i, time_end - i))) return 0;
  const size_t process = line.find("]: ", time_end);
  const std::string_view names = line.substr(time_end + 1, process - (time_end + 1));
  const bool host_and_process = process != npos && std::count(names.begin(), names.end(), ' ') == 1;
  return host_and_process ? process + 3 : time_end + 1;
}

// What some programs put in front as a whole. 0: none.
size_t whole_prefix_length(std::string_view line) {
  // "[1,0]<stderr>:", where many processes are started as one.
  for (std::string_view stream : {"]<stderr>:", "]<stdout>:"}) {
    const size_t found = line.substr(0, kLongestTag).find(stream);
    if (line[0] == '[' && found != npos) return found + stream.size();
  }
  // "time=... level=ERROR source=pool.go:12 msg="
  constexpr std::string_view kMessage = " msg=";
  if (line.starts_with("time=")) {
    const size_t found = line.find(kMessage);
    if (found == npos) return 0;
    return found + kMessage.size() + (at(line, found + kMessage.size()) == '"' ? 1 : 0);
  }
  // "error  12:00:00.123456+0100  app  ", as macOS's Console copies it.
  const size_t level_end = line.find_first_of(" \t");
  if (level_end == npos) return 0;
  const std::string_view level = line.substr(0, level_end);
  const bool known = level == "default" || std::any_of(std::begin(kLevels), std::end(kLevels),
                                                       [&](auto one) { return one == level; });
  const size_t time = line.find_first_not_of(" \t", level_end);
  const size_t time_end = line.find_first_of(" \t", std::min(time, line.size()));
  if (time_end == npos) return 0;
  const std::string_view token = line.substr(time, time_end - time);
  const size_t name = line.find_first_not_of(" \t", time_end);
  const size_t name_end = line.find_first_of(" \t", std::min(name, line.size()));
  if (name_end == npos) return 0;
  if (known && token.find(':') != npos && is_time(token)) return name_end;
  // "0.12.345.678 E ": the time since the start, and a level.
  const bool ticks = std::count(level.begin(), level.end(), '.') == 3 && is_time(level);
  return ticks && token.size() == 1 && is_level(token) ? time_end : 0;
}

// Behind a date, up to a level that stands out in a few tokens: "lanes-2 main E ". 0: none.
size_t up_to_level(std::string_view rest) {
  constexpr int kMostTokens = 4;
  size_t end = 0;
  for (int i = 0; i < kMostTokens; ++i) {
    const size_t space = rest.find(' ', end);
    if (space == npos) return 0;
    const std::string_view token = rest.substr(end, space - end);
    const bool loud = !token.empty() && std::none_of(token.begin(), token.end(), ascii::lower);
    end = space + 1;
    if (loud && word(token.back()) && is_level(token)) return end;
    if (token.ends_with(':')) return 0;
  }
  return 0;
}

}  // namespace

bool is_number(std::string_view token) {
  if (token.size() == 10 && token[2] == '.' && token[5] == '.') return false;
  return token.find_first_not_of("0123456789.,()[]") == npos;
}

size_t log_prefix_length(std::string_view line) {
  line = line.substr(0, kLongestPrefix);
  line = line.substr(0, line.find_first_of("\r\n"));
  size_t end = 0;
  bool dated = false;
  for (size_t i = 0; i < line.size();) {
    if (std::string_view(" \t|>").find(line[i]) != npos) {
      end = ++i;
      continue;
    }
    const std::string_view rest = line.substr(i);
    if (const size_t length = syslog_length(rest); length > 0) {
      end = i += length;
      dated = true;
      continue;
    }
    // A list's mark, pytest's.
    if (rest.starts_with("- ") || rest.starts_with("E   ")) {
      end = i += 2;
      continue;
    }
    const size_t space = rest.find_first_of(" \t");
    if (space == npos) break;
    const std::string_view token = rest.substr(0, space);
    const size_t next = rest.find_first_not_of(" \t", space);
    const char after = at(rest, next == npos ? rest.size() : next);
    // "worker-1  | message", and behind the date "name - LEVEL - ".
    const bool column = after == '|' && token.find_first_of("'()=<") == npos;
    const bool dashed = dated && after == '-' && at(rest, next + 1) == ' ' && word(token[0]);
    const bool bracketed = token.starts_with('[') && token.ends_with(']');
    const bool stream = (dated && (token == "stdout" || token == "stderr")) || token == "stdout:" ||
                        token == "stderr:" || token == "[stderr]" || token == "[stdout]";
    const bool marked =
        stream || ((dated || bracketed) && !token.ends_with(':') && is_level(token));
    const bool time = is_time(token) && (dated || !is_number(token));
    // "pool.cc:12] Check failed: " is how Google's assertions begin.
    const bool check = rest.substr(space).starts_with(" Check failed: ");
    const bool place =
        dated && is_source_place(token) && (word(token.back()) || (token.back() == ']' && !check));
    size_t length = 0;
    // "objc[12]: " is the beginning of a message.
    const size_t number = token.find('[');
    const bool numbered = dated && number != npos && number > 0 && token.ends_with(']') &&
                          token.find_first_not_of("0123456789", number + 1) == token.size() - 1;
    const bool process = (is_process(token) || numbered) && !token.ends_with(':');
    if (time || process || column || dashed || marked || place) {
      length = space;
      dated = dated || time || process;
    } else if (rest.starts_with("[rank") ||
               (rest[0] == '(' && rest.substr(0, kLongestTag).find("pid=") != npos) ||
               (rest[0] == '(' && rest.substr(0, kLongestTag).find(" ip=") != npos) ||
               rest.starts_with("[default") ||
               (rest[0] == '[' && digit(at(rest, 1)) &&
                rest.substr(0, kLongestTag).find('/') != npos) ||
               (dated && rest[0] == '[')) {
      length = tag_length(rest);
      if (length > 0 && at(rest, length) == ':') ++length;
    }
    if (length == 0) length = whole_prefix_length(rest);
    if (length == 0 && dated) length = up_to_level(rest);
    if (length == 0) break;
    i += length;
    end = i;
  }
  return end;
}

}  // namespace mpsprobe

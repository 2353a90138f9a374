#include "harness/title/own_words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "harness/text/ascii.h"
#include "harness/title/operator_names.h"
#include "harness/title/system_error.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;
using ascii::lower;
using ascii::upper;
using ascii::word;

constexpr auto npos = std::string_view::npos;

// What programs call their parts, in alphabetical order.
constexpr std::string_view kParts[] = {
    "actor",      "application", "batch",      "bench",      "benchmark", "case",    "child",
    "chunk",      "client",      "command",    "consumer",   "demo",      "driver",  "epoch",
    "evaluation", "execution",   "experiment", "generation", "handler",   "harness", "inference",
    "iter",       "iteration",   "iterations", "job",        "jobs",      "lane",    "lanes",
    "launcher",   "libtorch",    "loop",       "main",       "master",    "node",    "parent",
    "part",       "pass",        "phase",      "pid",        "pipeline",  "pool",    "prediction",
    "proc",       "process",     "producer",   "program",    "rank",      "reader",  "repro",
    "request",    "round",       "rounds",     "run",        "runner",    "script",  "server",
    "service",    "session",     "shard",      "stage",      "step",      "steps",   "stress",
    "task",       "test",        "thread",     "threadpool", "threads",   "tid",     "torch",
    "trainer",    "training",    "trial",      "try",        "turn",      "warmup",  "work",
    "worker",     "workers",     "writer"};
static_assert(std::is_sorted(std::begin(kParts), std::end(kParts)));

// How those end, but for participles, which are many: "dropped".
constexpr std::string_view kEnds[] = {
    "abort", "aborting", "aborts", "broke",  "broken",    "catch",      "caught",  "crash",
    "dead",  "dies",     "error",  "errors", "exception", "exceptions", "exiting", "fail",
    "fails", "failure",  "fatal",  "gave",   "giving",    "lost",       "quit",    "raises",
    "stop",  "stopping", "stuck",  "threw",  "throw",     "thrown",     "throws"};
static_assert(std::is_sorted(std::begin(kEnds), std::end(kEnds)));

// What stands between.
constexpr std::string_view kBetween[] = {
    "a",          "after",     "an",   "at",  "but",  "by",     "during", "for",   "from",
    "got",        "hit",       "hits", "in",  "it",   "its",    "ms",     "msg",   "no.",
    "of",         "on",        "s",    "saw", "says", "the",    "to",     "type",  "uncaught",
    "unexpected", "unhandled", "up",   "us",  "what", "what()", "when",   "while", "with"};
static_assert(std::is_sorted(std::begin(kBetween), std::end(kBetween)));

template <size_t n>
bool is_word_of(std::string_view token, const std::string_view (&words)[n]) {
  constexpr size_t kLongest = 12;
  std::array<char, kLongest> small = {};
  if (token.empty() || token.size() > kLongest) return false;
  std::transform(token.begin(), token.end(), small.begin(), ascii::to_lower);
  return std::binary_search(std::begin(words), std::end(words),
                            std::string_view(small.data(), token.size()));
}

// "dropped"; "expected" and the like say what should have been.
bool is_participle(std::string_view token) {
  constexpr size_t kShortest = 4;
  constexpr std::string_view kOthers[] = {"allowed", "defined",   "expected",   "named",
                                          "needed",  "need",      "required",   "supported",
                                          "typed",   "undefined", "unsupported"};
  return token.size() >= kShortest && token.ends_with("ed") &&
         std::all_of(token.begin(), token.end(), lower) && !ascii::is_one_of(token, kOthers);
}

// "3", "3/8", "3.2", "0x7f12", "t3", "lane03", "i17", "3.2s"
bool counts(std::string_view token) {
  if (token.starts_with('-')) token.remove_prefix(1);
  const size_t first = token.find_first_of("0123456789");
  if (first == npos) return false;
  constexpr size_t kMostLetters = 6;
  const std::string_view name = token.substr(0, first);
  if (name.size() > kMostLetters ||
      std::any_of(name.begin(), name.end(), [](char c) { return !lower(c) && !upper(c); })) {
    return false;
  }
  // "conv2d" is none, and "3x4" a shape.
  const size_t end = std::min(token.find_first_not_of("0123456789./", first), token.size());
  const std::string_view unit = token.substr(end);
  return unit.empty() ||
         (name.empty() && (unit == "s" || unit == "ms" || unit == "us" || token.starts_with("0x")));
}

// "iter=17", "op=add"
bool assigns(std::string_view token) {
  const size_t name = ascii::word_length(token);
  return name > 0 && lower(token[0]) && at(token, name) == '=' && name + 1 < token.size() &&
         token.find_first_of("'\"=<>([{", name + 1) == npos;
}

bool is_type(std::string_view token) {
  return token == "std::exception" || token.ends_with("Error") || token.ends_with("Exception");
}

// "stress-test", "matmul_stress", "forward()", "AddTest"
bool is_programs_name(std::string_view token) {
  const bool call = token.ends_with("()");
  if (call) token.remove_suffix(2);
  const bool name = !token.empty() && std::all_of(token.begin(), token.end(),
                                                  [](char c) { return word(c) || c == '-'; });
  if (!name || call) return name;
  if (is_operator_name(token)) return false;
  if (upper(token[0])) {
    return std::any_of(token.begin(), token.end(), lower) &&
           (token.ends_with("Test") || token.ends_with("Stress") || token.ends_with("Bench"));
  }
  return std::none_of(token.begin(), token.end(), upper) && token.find_first_of("-_") != npos;
}

// The kinds of words that a few of them are made of; false where one is of another kind.
struct Seen {
  int parts = 0;
  int ends = 0;
  int numbers = 0;  ///< and what is assigned
  int names = 0;
  bool call = false;     ///< one of the names is "take()"
  bool process = false;  ///< a number in brackets behind a name: "take[4711]"
};
bool look_at(std::string_view words, Seen& seen) {
  constexpr size_t kShortestProcess = 3;
  for (size_t i = 0; i < words.size();) {
    const size_t end = std::min(words.find(' ', i), words.size());
    std::string_view token = words.substr(i, end - i);
    i = end + 1;
    while (!token.empty() && std::string_view("([#*!").find(token[0]) != npos) {
      token.remove_prefix(1);
    }
    while (!token.empty() && std::string_view(",)]!:*").find(token.back()) != npos) {
      // "forward()", "worker[3]", "worker(3)"
      if (token.ends_with("()")) break;
      token.remove_suffix(1);
    }
    if (token.empty()) continue;
    const size_t open = token.find_first_of("[(");
    if (open != npos && open > 0 && counts(token.substr(open + 1))) {
      seen.process = seen.process || token.size() - open > kShortestProcess;
      token = token.substr(0, open);
      ++seen.numbers;
    }
    if (is_word_of(token, kParts)) {
      ++seen.parts;
    } else if (is_word_of(token, kEnds) || is_participle(token)) {
      ++seen.ends;
    } else if (counts(token) || assigns(token)) {
      ++seen.numbers;
    } else if (is_type(token) || is_programs_name(token)) {
      ++seen.names;
      seen.call = seen.call || token.ends_with("()");
    } else if (!is_word_of(token, kBetween)) {
      return false;
    }
  }
  return true;
}

// Somebody ended, or is counted. A name alone may be a library's, and a number the message; what
// call the system refused says more than how.
bool is_programs(std::string_view words, std::string_view message) {
  Seen seen;
  if (!look_at(words, seen) || (seen.call && begins_with_system_error(message))) return false;
  return seen.ends > 0 || (seen.parts > 0 && seen.numbers > 0) || (seen.names > 0 && seen.process);
}

// "[t3 i17] ", "[thread 3] "; "[2 3] must be" and "[lane] must be" are the message.
size_t bracketed_length(std::string_view line) {
  constexpr size_t kLongest = 40;
  const char open = at(line, 0);
  if (open != '[' && open != '(') return 0;
  const size_t close = line.substr(0, kLongest).find(open == '[' ? ']' : ')');
  if (close == npos || close < 2 || at(line, close + 1) != ' ') return 0;
  const std::string_view inside = line.substr(1, close - 1);
  Seen seen;
  const bool plain = look_at(inside, seen) && seen.names == 0 && seen.numbers > 0;
  const bool letter =
      std::any_of(inside.begin(), inside.end(), [](char c) { return lower(c) || upper(c); });
  return plain && letter && inside.find(' ') != npos && inside.find(',') == npos ? close + 2 : 0;
}

// "thread=3 iter=17 no lane left"
size_t assigned_length(std::string_view line) {
  size_t end = 0;
  for (size_t space = line.find(' '); space != npos; space = line.find(' ', end)) {
    if (!assigns(line.substr(end, space - end))) break;
    end = space + 1;
  }
  return end;
}

// "worker gave up: ", "tile 7 lost -> ": a few plain words in front of a whole message. Those that
// say what could not be done belong to it.
size_t plain_words_length(std::string_view line) {
  constexpr size_t kLongest = 40;
  constexpr int kFewestWords = 4;
  constexpr int kFewestBehindFailed = 3;
  constexpr std::string_view kTelling[] = {
      "cannot",  "can't",       "could", "failed",  "unable", "no",       "not",    "invalid",
      "unknown", "unsupported", "error", "missing", "signed", "unsigned", "integer"};
  for (std::string_view mark : {": ", " -> ", " => ", " - ", " | "}) {
    const size_t end = line.substr(0, kLongest).find(mark);
    if (end == npos) continue;
    const std::string_view front = line.substr(0, end);
    const std::string_view rest = line.substr(end + mark.size());
    const auto spaces = std::count(front.begin(), front.end(), ' ');
    // "reduce_metrics failed"
    const bool plain = lower(at(front, 0)) && std::all_of(front.begin(), front.end(), [](char c) {
                         return word(c) || c == ' ' || c == '#';
                       });
    const bool telling = ascii::is_one_of(front.substr(0, front.find(' ')), kTelling);
    // "vk::createInstance: ErrorLayerNotPresent" says enough in fewer.
    const int fewest = front.ends_with(" failed") ? kFewestBehindFailed : kFewestWords;
    const bool whole = std::count(rest.begin(), rest.end(), ' ') + 1 >= fewest ||
                       rest.starts_with("bad_") ||
                       rest.substr(0, rest.find(' ')).find("::") != npos;
    // "odd size: [3] of the lane" is one message.
    const size_t value = rest.find_first_not_of("[({ ");
    const bool number = value != npos && (digit(rest[value]) || rest[value] == ']');
    // "cannot restore: No lane of the pool is left": a sentence says why.
    const bool sentence = upper(at(rest, 0)) && whole && !begins_with_system_error(rest) &&
                          front.starts_with("cannot ") && spaces == 1;
    if (plain && (!telling || sentence) && !number && spaces >= 1 && spaces <= 3 && whole) {
      // "caught unflatten: ": the operator belongs to the message.
      const size_t last = front.rfind(' ') + 1;
      return is_operator_name(front.substr(last)) ? last : end + mark.size();
    }
  }
  return 0;
}

}  // namespace

size_t own_words_length(std::string_view line) {
  constexpr size_t kLongest = 80;
  for (std::string_view mark : {": ", " -> ", " => ", " - ", " | "}) {
    const size_t end = line.substr(0, kLongest).find(mark);
    if (end == npos || end == 0) continue;
    const std::string_view message = line.substr(end + mark.size());
    if (is_programs(line.substr(0, end), message)) return end + mark.size();
  }
  if (const size_t length = bracketed_length(line); length > 0) return length;
  if (const size_t length = assigned_length(line); length > 0) return length;
  return plain_words_length(line);
}

size_t own_words_at_end(std::string_view line) {
  if (line.empty() || (line.back() != ')' && line.back() != ']')) return line.size();
  const size_t open = line.rfind(line.back() == ')' ? " (" : " [");
  if (open == npos || open == 0) return line.size();
  const std::string_view inside = line.substr(open + 2, line.size() - open - 3);
  Seen seen;
  return look_at(inside, seen) && seen.parts > 0 && seen.numbers > 0 && seen.names == 0
             ? open
             : line.size();
}

}  // namespace mpsprobe

#include "harness/outcome/last_words.h"

#include <algorithm>
#include <iterator>

#include "harness/outcome/diagnosis.h"
#include "harness/text/ascii.h"
#include "harness/text/echo.h"
#include "harness/text/escaped.h"
#include "harness/text/log_prefix.h"
#include "harness/text/normal_text.h"
#include "harness/title/clause.h"
#include "harness/title/own_words.h"
#include "harness/title/program_name.h"
#include "harness/title/title.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kMostLine = 1024;
constexpr int kKnown = 3;

/// What a line that tells of trouble holds, in lower case: the words of programs that end
/// themselves, not those of one bug.
constexpr std::string_view kTrouble[] = {"error",
                                         "fail",
                                         "assert",
                                         "fatal",
                                         "abort",
                                         "panic",
                                         "exception",
                                         "corrupt",
                                         "invalid",
                                         "illegal",
                                         "unreachable",
                                         "terminat",
                                         "cannot",
                                         "can't",
                                         "could not",
                                         "unable to",
                                         "must ",
                                         "not loaded",
                                         "not found",
                                         "not supported",
                                         "not implemented",
                                         "no such",
                                         "unimplemented",
                                         "larger than",
                                         "greater than",
                                         "exceed",
                                         "out of memory",
                                         "overflow",
                                         "mismatch",
                                         "refused",
                                         "denied",
                                         "crash",
                                         "should ",
                                         "incompat",
                                         "undefined",
                                         "expected",
                                         "is not ",
                                         "expects",
                                         "has to ",
                                         "only supports",
                                         "too many",
                                         "too few",
                                         "too large",
                                         "too small",
                                         "non-ok",
                                         "does not",
                                         "do not",
                                         "has no ",
                                         "bad_",
                                         "_range_check",
                                         "unhandled",
                                         " was not ",
                                         "unknown ",
                                         "out of bounds",
                                         "out of range",
                                         "timed out",
                                         "timeout",
                                         "unavailable",
                                         "missing",
                                         "inconsistent",
                                         "violated",
                                         "killed",
                                         "unsupported",
                                         "not permitted",
                                         "not valid",
                                         "wrong ",
                                         "closed by",
                                         "non-zero",
                                         "deadlock",
                                         "did not ",
                                         "second time",
                                         "attempting",
                                         "tried to",
                                         "can be ",
                                         "called on",
                                         "inplace",
                                         "!=",
                                         "but got",
                                         "n't ",
                                         "contains ",
                                         "expecting",
                                         " require"};

/// "#3 0x...", "3   libtorch ...", "/lib/libc.so.6(+0x777e5)[0x7fc6]", "  File "x.py", line 3".
bool is_frame(std::string_view line) {
  // A page's heading says nothing but where it quotes an error: "### LaneError: ...".
  const bool numbered =
      line.starts_with('#') && (ascii::digit(ascii::at(line, 1)) || line.find(": ") == line.npos);
  if (numbered || line.starts_with("0x") || line.starts_with("frame #")) return true;
  if (line.starts_with("at ") || line.starts_with("File '")) return true;
  // Of the table that LibTorch's dispatcher shows: "CPU: registered at file.cpp:3 [kernel]".
  const size_t colon = line.find(": ");
  const std::string_view behind = line.substr(colon == line.npos ? line.size() : colon + 2);
  const bool key = line.find(' ') > colon;
  if (key &&
      (behind.starts_with("registered at ") || behind.starts_with("fallthrough registered at "))) {
    return true;
  }
  if (line.ends_with(']') && line.find("[0x") != std::string_view::npos) return true;
  const auto end = std::find_if_not(line.begin(), line.end(), ascii::digit);
  // "3 : INVALID_LANE : " is a status.
  return end != line.begin() && end != line.end() && *end == ' ' &&
         !line.substr(static_cast<size_t>(end - line.begin())).starts_with(" : ");
}

/// How much a line says about what went wrong, up to 2; 0: nothing.
int telling(std::string_view line) {
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(), ascii::to_lower);
  // A count that says that all is well.
  for (std::string_view none :
       {" 0 errors", " no errors", " 0 failures", "errors: 0", "errors=0", "errors 0",
        "failures: 0", "failures=0", "failures 0", "failed: 0", "failed=0", " 0 failed"}) {
    if (const size_t found = lower.find(none); found != std::string::npos) {
      lower.erase(found, none.size());
    }
  }
  if (std::none_of(std::begin(kTrouble), std::end(kTrouble), [&lower](std::string_view word) {
        return lower.find(word) != std::string::npos;
      })) {
    return 0;
  }
  // A compiler, a framework and an interpreter name their errors.
  const size_t colon = line.find(": ");
  const std::string_view name = line.substr(0, colon);
  const bool typed = colon != std::string_view::npos && name.find(' ') == std::string_view::npos &&
                     (name.ends_with("Error") || name.ends_with("Exception"));
  return typed || line.find(": error: ") != std::string_view::npos ||
                 line.find("Error Domain=") != std::string_view::npos ||
                 line.find("Exception Message:") != std::string_view::npos
             ? 2
             : 1;
}

// A known bug's message, also where it stands alone, as somebody cut or quoted it.
std::string known_title(std::string_view clause) {
  for (const Finding& finding : find_failures(clause)) {
    if (finding.known) return finding.title;
  }
  return known_message_title(clause);
}

// "[W1121 19:16:28.044 file.cpp:12] ...", and from Python "W1121 19:16:28.044 12 file.py:3] ...":
// what LibTorch warns of it has dealt with.
bool is_torch_warning(std::string_view line) {
  if (line.starts_with('[')) line.remove_prefix(1);
  return line.starts_with('W') && line.size() > 5 &&
         std::all_of(line.begin() + 1, line.begin() + 5, ascii::digit) && line[5] == ' ';
}

// "train.py:19: UserWarning: message", as Python's module warnings writes it.
bool is_python_warning(std::string_view line) {
  const size_t type = line.find("Warning: ");
  if (type == std::string_view::npos || type == 0) return false;
  const size_t space = line.rfind(' ', type);
  return space != std::string_view::npos && space > 1 && line[space - 1] == ':' &&
         ascii::digit(line[space - 2]);
}

// Whether a last line without a word of trouble can be why a program left: no progress, which
// counts.
bool says_something(std::string_view clause, bool behind_program) {
  constexpr size_t kFewestWords = 4;
  constexpr std::string_view kProgress[] = {
      "batch",    "begins", "complete",  "completed",  "done",    "elapsed", "epoch",  "epochs",
      "finished", "iter",   "iteration", "iterations", "joined",  "loss",    "ms",     "ok",
      "passed",   "ready",  "round",     "rounds",     "running", "s",       "seed",   "started",
      "step",     "steps",  "threads",   "took",       "total",   "waiting", "warming"};
  size_t words = 0;
  size_t numbers = 0;
  bool progress = false;
  bool begins_with_progress = false;
  for (size_t begin = 0; begin < clause.size();) {
    const size_t end = std::min(clause.find(' ', begin), clause.size());
    std::string_view token = clause.substr(begin, end - begin);
    const bool counts = token.find_first_of("0123456789%") != std::string_view::npos;
    (counts ? numbers : words) += token.empty() ? 0 : 1;
    token = token.substr(0, token.find_first_of(",:=."));
    const bool tells =
        std::any_of(std::begin(kProgress), std::end(kProgress), [token](std::string_view word) {
          return token.size() == word.size() && ascii::starts_with_in_any_case(token, word);
        });
    begins_with_progress = begins_with_progress || (tells && begin == 0);
    progress = progress || tells;
    begin = end + 1;
  }
  if (numbers == 0) return words >= kFewestWords || (behind_program && words > 0);
  if (words >= kFewestWords && words > 2 * numbers) return !begins_with_progress;
  // "stress: tile 7 of 64 is empty"
  return behind_program && !progress && words + 1 >= kFewestWords && words > numbers;
}

struct LastLine {
  std::string_view line;
  std::string_view before;
};

// The last line of `text`, which is not empty, and what stands above it. Logs of JSON write breaks
// as "\n".
LastLine last_line(std::string_view text) {
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == '\n') return {text.substr(i + 1), text.substr(0, i)};
    if (written_space(text, i) == '\n') return {text.substr(i + 2), text.substr(0, i)};
  }
  return {text, {}};
}

}  // namespace

std::string last_words(std::string_view text) {
  if (text.size() > kMostBytes) text.remove_prefix(text.size() - kMostBytes);
  std::string words;
  std::string last_said;  // by the last line, where it tells of no trouble
  bool is_last = true;
  std::string below;  // the line under the one that is looked at, if it says anything
  bool below_indented = false;
  int most = 0;
  bool in_source = false;
  bool words_indented = false;
  // From the end: the paragraph is over at an empty line above what was found.
  while (!text.empty()) {
    const LastLine last = last_line(text);
    const std::string_view raw = last.line;
    text = last.before;
    // Its source, which Python's warnings show below them.
    if (raw.starts_with("  ") && !text.empty() && is_python_warning(last_line(text).line)) continue;
    std::string line = normalise_text(raw.substr(0, kMostLine), kMostLine, Logs::left_out).text;
    if (line.empty() && most > 0) break;
    if (line.starts_with("Application Specific Information") && !below.empty()) {
      words = decisive_clause(below);
      break;
    }
    if (announces_error(line) && !below.empty() && !is_frame(below)) {
      words = decisive_clause(below);
      break;
    }
    // A message that is laid out: "LaneError: cannot take lane/3:", and under it, indented, why.
    // Or one that a page broke behind a bracket: "LaneError: no lane of the pool (3)".
    const bool behind = line.ends_with(':') ? below_indented : line.ends_with(')');
    const bool laid_out = behind && !below.empty() && !is_frame(below) &&
                          (line.ends_with(':') ? telling(line) > 0 && !line.ends_with(" caught:")
                                               : telling(line) == 2 && ascii::lower(below.front()));
    const bool rest = goes_on(line, below) && own_words_length(below) == 0;
    if ((laid_out || rest) && line.size() + below.size() < kMostLine) line += " " + below;
    const bool raised = below.starts_with("Exception raised from ");
    if (line.empty()) continue;
    below = line;
    below_indented = raw.starts_with("  ") || raw.starts_with('\t');
    // A user's source, with the place that TorchScript's compiler refuses: its lines tell of
    // nothing, up to the file's name, nor do those below the place, which are indented as well.
    if (line.find("<--- HERE") != std::string::npos) {
      constexpr size_t kLongestSource = 2048;
      const size_t near = text.size() - std::min(text.size(), kLongestSource);
      in_source = text.substr(near).find("File ") != std::string_view::npos;
      if (words_indented) {
        words.clear();
        most = 0;
      }
    }
    if (in_source) {
      in_source = !line.starts_with("File '");
      continue;
    }
    if (line.starts_with("mpsprobe") || is_frame(line) || is_torch_warning(raw) ||
        is_python_warning(raw)) {
      continue;
    }
    const std::string_view behind_program =
        std::string_view(line).substr(program_name_length(line));
    const std::string_view clause = decisive_clause(behind_program);
    if (is_echo(line) || is_echo(clause)) continue;
    if (line.starts_with("usage: ") || line.starts_with("Usage: ")) continue;
    // "fatal:", "lane error caught:", and the message below it.
    if (line.ends_with(':') && line.find(' ') == std::string::npos) continue;
    if (line.ends_with(" caught:") || line.ends_with(" failed:")) continue;
    // A message that the table knows needs no words of trouble.
    int now = known_message_title(clause).empty() ? telling(line) : kKnown;
    // LibTorch says below a message where it was raised.
    const bool logged =
        line.starts_with("E: ") || tells_of_error(raw.substr(0, log_prefix_length(raw)));
    if (raised || logged) now = std::max(now, 1);
    // "./pool: stoi": no word tells of trouble, and nothing below it says anything.
    const bool by_program = behind_program.size() < line.size();
    if (now == 0 && (is_last || (by_program && last_said.empty())) &&
        says_something(clause, by_program)) {
      last_said = clause;
    }
    is_last = false;
    if (now == 0 || now < most) continue;
    most = now;
    words = clause;
    words_indented = raw.starts_with(' ');
  }
  if (words.empty()) words = last_said;
  if (words.empty()) return "";
  const std::string known = known_title(words);
  return known.empty() ? normalise_title(words) : known;
}

}  // namespace mpsprobe

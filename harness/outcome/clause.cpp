#include "harness/outcome/clause.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "harness/outcome/ascii.h"
#include "harness/outcome/diagnosis.h"
#include "harness/outcome/log_prefix.h"
#include "harness/outcome/normal_text.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;
using ascii::lower;
using ascii::upper;
using ascii::word;

constexpr size_t kLookedAt = 1024;
constexpr int kMostWrappers = 16;
constexpr size_t kFewestWords = 3;
constexpr auto npos = std::string_view::npos;

bool equal_in_any_case(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}
bool starts_with_in_any_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(), equal_in_any_case);
}
bool ends_with_in_any_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.rbegin(), end.rend(), text.rbegin(), equal_in_any_case);
}

// What runtimes and programs say in front of the message of an exception that they caught or not.
constexpr std::string_view kPhrases[] = {
    "libc++abi.dylib: ",
    "libc++abi: ",
    "terminate called after throwing an instance of ",
    "terminating due to uncaught exception of type ",
    "terminating with uncaught exception of type ",
    "what(): ",
    "*** ",
    "caused by: ",
    "reason: ",
    "description: ",
    "message: ",
    "dyld error message: ",
    "fatal: ",
    "panic: ",
    "stdout: ",
    "stderr: ",
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

// "RuntimeError: ", "MLX error: ", "ggml_metal_init: load pipeline error: ": up to four words that
// name an error and do not tell it.
size_t error_name_length(std::string_view line) {
  constexpr size_t kLongest = 100;
  const size_t colon = line.substr(0, kLongest).find(": ");
  if (colon == npos) return 0;
  std::string_view name = line.substr(0, colon);
  if (name.ends_with(')')) name = name.substr(0, name.rfind('('));
  if (std::count(name.begin(), name.end(), ' ') > 3 || name.find('\'') != npos) return 0;
  constexpr std::string_view kEndings[] = {"error", "exception", "error occurred",
                                           "exception caught", "keyboardinterrupt"};
  const bool names = std::any_of(std::begin(kEndings), std::end(kEndings),
                                 [&](auto ending) { return ends_with_in_any_case(name, ending); });
  return names ? colon + 2 : 0;
}

size_t wrapper_length(std::string_view line) {
  if (std::string_view(" :;,|>?=").find(line[0]) != npos) return 1;
  if (line[0] == '\'') {
    // A quotation of the whole: the next quote opens another, or is the last character.
    const size_t next = line.find('\'', 1);
    if (next != npos && (line[next - 1] == ' ' || next + 1 == line.size())) return 1;
  }
  if (line.starts_with("- ")) return 2;
  if (const size_t length = progress_length(line); length > 0) return length;
  if (const size_t length = tag_length(line); length > 0) return length;
  const std::string_view token = line.substr(0, line.find(' '));
  if (token.size() < line.size()) {
    if (is_time(token) || is_process(token) || is_level(token) || is_source_place(token)) {
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
  return error_name_length(line);
}

size_t words(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool letter = upper(text[i]) || lower(text[i]);
    const bool before = i > 0 && (word(text[i - 1]) || text[i - 1] == '.');
    if (letter && !before) ++count;
  }
  return count;
}

bool says_enough(std::string_view text) {
  return words(text) >= kFewestWords;
}

// From inside quotes to where they end: in front of what is known to follow, or at the line's end.
std::string_view up_to_quote(std::string_view text) {
  for (std::string_view end : {"' UserInfo", "' at line", "' thrown in", "', "}) {
    if (const size_t found = text.find(end); found != npos) return text.substr(0, found);
  }
  const size_t last = text.find_last_not_of(".,)}] ");
  return last != npos && text[last] == '\'' ? text.substr(0, last) : text;
}

// Error Domain=X Code=N 'message' UserInfo={...}; uncaught exception 'X', reason: 'message'.
std::string_view inside(std::string_view line) {
  if (const size_t domain = line.find("Error Domain="); domain != npos) {
    const size_t quote = line.find(" '", domain);
    if (quote != npos) return up_to_quote(line.substr(quote + 2));
  }
  for (std::string_view lead : {"reason: '", "exception with description '", " what: '"}) {
    const size_t found = line.find(lead);
    if (found != npos) return up_to_quote(line.substr(found + lead.size()));
  }
  return {};
}

// "Process exited early: RuntimeError: message": up to behind the last type of an exception.
size_t type_length_within(std::string_view line) {
  constexpr size_t kFarthest = 240;
  size_t end = 0;
  for (std::string_view ending : {"Error: ", "Exception: "}) {
    const std::string_view head = line.substr(0, kFarthest);
    const size_t found = head.rfind(ending);
    if (found == npos || found == 0 || !lower(head[found - 1])) continue;
    const size_t begin = head.rfind(' ', found) + 1;  // npos + 1 is 0
    const bool type = upper(head[begin]) || head.substr(begin, found - begin).find('.') != npos;
    if (type) end = std::max(end, found + ending.size());
  }
  return end;
}

// Sentences that say what to do about it: releases add and change them, and captures end in them.
std::string_view without_advice(std::string_view text) {
  constexpr std::string_view kOpenings[] = {"this could be because ",
                                            "this may be because ",
                                            "please ",
                                            "use ",
                                            "try ",
                                            "see ",
                                            "you ",
                                            "if ",
                                            "for more ",
                                            "for debugging ",
                                            "check ",
                                            "make sure ",
                                            "consider ",
                                            "to ",
                                            "set ",
                                            "note: ",
                                            "note that ",
                                            "hint: ",
                                            "hint ",
                                            "it is recommended",
                                            "perhaps ",
                                            "maybe ",
                                            "reduce ",
                                            "did you ",
                                            "tried to allocate "};
  for (size_t i = text.find(' '); i != npos; i = text.find(' ', i + 1)) {
    if (i == 0 || std::string_view(".!?;").find(text[i - 1]) == npos) continue;
    const std::string_view rest = text.substr(i + 1);
    const bool advice = std::any_of(
        std::begin(kOpenings), std::end(kOpenings),
        [&](std::string_view opening) { return starts_with_in_any_case(rest, opening); });
    if (advice && words(text.substr(0, i)) >= kFewestWords) return text.substr(0, i);
  }
  return text;
}

// Up to a line break that a quotation of another language shows as "\n".
std::string_view first_quoted_line(std::string_view text) {
  const size_t end = text.find("\\n");
  return end != npos && words(text.substr(0, end)) >= kFewestWords ? text.substr(0, end) : text;
}

}  // namespace

std::string_view decisive_clause(std::string_view line) {
  for (int i = 0; i < kMostWrappers && !line.empty(); ++i) {
    if (const std::string_view message = inside(line); says_enough(message)) {
      line = message;
      continue;
    }
    const size_t length = wrapper_length(line);
    if (length > 0) {
      if (!says_enough(line.substr(length))) break;
      line.remove_prefix(length);
      continue;
    }
    // A compiler's: "loc(...): error: message".
    constexpr std::string_view kError = ": error: ";
    const size_t error = line.find(kError);
    const size_t end = error == npos ? type_length_within(line) : error + kError.size();
    if (end == 0 || !says_enough(line.substr(end))) break;
    line.remove_prefix(end);
  }
  return without_advice(first_quoted_line(line));
}

std::string clause_title(std::string_view message) {
  const std::string text = normalise_text(message.substr(0, kLookedAt), kLookedAt).text;
  return normalise_title(decisive_clause(text));
}

bool is_echo(std::string_view line) {
  constexpr std::string_view kEchoes[] = {
      "an uncaught exception was raised",
      "exception type:",
      "exception codes:",
      "exception note:",
      "dyld error message",
      "termination reason:",
      "application specific information",
      "*** first throw call stack",
      "(first throw call stack",
      "traceback (most recent call last)",
      "during handling of the above exception",
      "the above exception was the direct cause",
      "abort trap",
      "aborted",
      "abort() called",
      "terminate called",
      "segmentation fault",
      "bus error",
      "illegal instruction",
      "process finished with exit code",
      "fatal python error: aborted",
      "fatal python error: segmentation fault",
      "extension modules:",
      "current thread",
      "crashed thread:",
      "*** process received signal",
      "signal: ",
      "libc++abi: terminating",
      "libc++abi.dylib: terminating",
      "set a breakpoint in malloc_error_break",
      "exiting",
      "zsh: ",
      "fish: job",
      "unknown file: failure",
      "bash: line",
      "(core dumped)",
  };
  const bool listed = std::any_of(std::begin(kEchoes), std::end(kEchoes),
                                  [&](auto echo) { return starts_with_in_any_case(line, echo); });
  const bool heading = line.starts_with("Thread ") && line.find("Crashed") != npos;
  // A shell's "[1]    4711 abort      python".
  const bool job = line.size() > 4 && line[0] == '[' && digit(line[1]) &&
                   line.substr(2, 2) == "] " && (digit(line[4]) || line[4] == '+');
  // "test.py:7: RuntimeError"
  const bool type_alone = line.ends_with("Error") && line.find(": ") == line.rfind(' ') - 1;
  return listed || heading || job || type_alone || line.ends_with("(core dumped)");
}

}  // namespace mpsprobe

#include "harness/title/clause.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"
#include "harness/text/normal_text.h"
#include "harness/title/own_words.h"
#include "harness/title/title.h"
#include "harness/title/wrapper.h"

namespace mpsprobe {
namespace {

using ascii::lower;
using ascii::starts_with_in_any_case;
using ascii::upper;
using ascii::word;

constexpr size_t kLookedAt = 1024;
constexpr int kMostWrappers = 16;
constexpr size_t kFewestWords = 3;
constexpr auto npos = std::string_view::npos;

size_t words(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool letter = upper(text[i]) || lower(text[i]);
    const bool before = i > 0 && (word(text[i - 1]) || text[i - 1] == '.');
    if (letter && !before) ++count;
  }
  return count;
}

// A few words, or the name of an error alone.
bool says_enough(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const bool token = !text.empty() && text.find(' ') == npos;
  const bool name = text.ends_with("Error") && std::all_of(text.begin(), text.end(), word);
  // "bad_optional_access", "vector::reserve": all that the C++ library says.
  const bool library =
      token && (text.starts_with("bad_") || text.find("::") != npos) &&
      std::all_of(text.begin(), text.end(), [](char c) { return word(c) || c == ':'; });
  return name || library || words(text) >= 2;
}

// From inside quotes to where they end: in front of what is known to follow, or at the line's end.
std::string_view up_to_quote(std::string_view text) {
  for (std::string_view end : {"' UserInfo", "' at line", "' thrown in", "', ", "') "}) {
    if (const size_t found = text.find(end); found != npos) return text.substr(0, found);
  }
  const size_t last = text.find_last_not_of(".,)}] ");
  return last != npos && text[last] == '\'' ? text.substr(0, last) : text;
}

// The message in a log of JSON or of keys and values: {'level':'error','msg':'message'}.
std::string_view in_a_record(std::string_view line) {
  for (std::string_view key : {"msg", "message", "log", "error", "err", "exception", "detail"}) {
    for (size_t i = line.find(key); i != npos; i = line.find(key, i + 1)) {
      if (i > 0 && (word(line[i - 1]) || line[i - 1] == '.')) continue;
      std::string_view rest = line.substr(i + key.size());
      // The last as Rust writes a struct; MPSGraph's "error: 'mps.add' op" is a message itself.
      constexpr std::string_view kBetween[] = {"':'", "': '", "='", ": '"};
      for (std::string_view between : kBetween) {
        if (!rest.starts_with(between) || (between == ": '" && key != "msg")) continue;
        rest.remove_prefix(between.size());
        return up_to_quote(rest.substr(0, rest.find("','")));
      }
    }
  }
  return {};
}

// Error Domain=X Code=N 'message' UserInfo={...}; uncaught exception 'X', reason: 'message'.
std::string_view inside(std::string_view line) {
  if (const size_t domain = line.find("Error Domain="); domain != npos) {
    const size_t quote = line.find(" '", domain);
    if (quote != npos) return up_to_quote(line.substr(quote + 2));
  }
  // An exception as Python writes the object.
  for (std::string_view lead :
       {"reason: '", "exception with description '", "NSLocalizedDescription = '", " what: '",
        "Error('", "Exception('"}) {
    const size_t found = line.find(lead);
    if (found == npos) continue;
    std::string_view message = line.substr(found + lead.size());
    if (lead.ends_with("('") && message.ends_with("')"))
      return message.substr(0, message.size() - 2);
    return up_to_quote(message);
  }
  return in_a_record(line);
}

// Sentences that say what to do about it: releases add and change them, and captures end in them.
std::string_view without_advice(std::string_view text) {
  constexpr std::string_view kOpenings[] = {"this could be because ",
                                            "this may be because ",
                                            "this is typically ",
                                            "this is usually ",
                                            "this typically ",
                                            "this usually ",
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
    const std::string_view rest = text.substr(i + 1);
    const bool aside = i > 0 && text[i - 1] == ',' && rest.starts_with("see ");
    if (!aside && (i == 0 || std::string_view(".!?;").find(text[i - 1]) == npos)) continue;
    const bool advice = std::any_of(
        std::begin(kOpenings), std::end(kOpenings),
        [&](std::string_view opening) { return starts_with_in_any_case(rest, opening); });
    if (advice && words(text.substr(0, i)) >= kFewestWords) return text.substr(0, i);
  }
  return text;
}

// "Consider other lanes. No lane is left": advice may stand in front as well.
std::string_view behind_advice(std::string_view text) {
  if (!starts_with_in_any_case(text, "consider ")) return text;
  const size_t end = text.find(". ");
  const std::string_view rest = end == npos ? std::string_view() : text.substr(end + 2);
  return words(rest) >= kFewestWords ? rest : text;
}

// "got 4", "Found: 4", "received"
bool tells_what_was_found(std::string_view text) {
  for (std::string_view verb : {"got", "found", "received"}) {
    if (starts_with_in_any_case(text, verb)) {
      // Also where a space was forgotten: "got3", "gotInt".
      return text.size() == verb.size() || !(lower(text[verb.size()]) || text[verb.size()] == '_');
    }
  }
  return false;
}

// "no lane of 2 or 3, but instead " without ", but instead ".
std::string_view without_conjunction(std::string_view text) {
  const auto without = [&](std::string_view end) {
    if (text.ends_with(end)) text.remove_suffix(end.size());
  };
  for (std::string_view end : {"(", " ", " instead", " but", " -", ",", ";", ".", "!"}) {
    without(end);
  }
  return text;
}

// "no lane of 2 or 3, but got 4": a value at the end, which captures cut and users choose.
std::string_view without_value(std::string_view text) {
  constexpr size_t kSayingAll = 5;
  // Python says no more of a key that is not there than the key.
  constexpr std::string_view kKeyError = "KeyError";
  if (text.starts_with("KeyError: '") && text.find(' ', kKeyError.size() + 2) == npos) {
    return kKeyError;
  }
  for (size_t i = text.find_first_of(" ("); i != npos; i = text.find_first_of(" (", i + 1)) {
    if (!tells_what_was_found(text.substr(i + 1))) continue;
    const std::string_view wanted = without_conjunction(text.substr(0, i + 1));
    // "expected Lane, got" is enough.
    const bool expected = starts_with_in_any_case(wanted, "expected ") && words(wanted) > 1;
    if (wanted.size() == i || (words(wanted) < kFewestWords && !expected)) continue;
    text = wanted;
    break;
  }
  // "argument input must be Lane, not tuple", as Python's calls refuse an argument.
  if (const size_t found = text.rfind(", not "); found != npos) {
    const std::string_view given = text.substr(found + 6);
    const bool one = given.find(' ') == npos && text.substr(0, found).find(" must be ") != npos;
    if (one && words(text.substr(0, found)) >= kSayingAll) text = text.substr(0, found);
  }
  // A capture that was cut in front of it.
  for (std::string_view cut : {" got", " but", ","}) {
    if (text.ends_with(cut)) text.remove_suffix(cut.size());
  }
  return text;
}

// Up to the end of the first sentence that says enough: captures often end there.
std::string_view first_sentence(std::string_view text) {
  constexpr size_t kSayingAll = 4;
  for (size_t i = text.find(". "); i != npos && i + 2 < text.size(); i = text.find(". ", i + 1)) {
    const char last = i == 0 ? '\0' : text[i - 1];
    const bool sentence =
        upper(text[i + 2]) && (lower(last) || std::string_view(">)]'").find(last) != npos);
    if (sentence && words(text.substr(0, i)) >= kSayingAll) return text.substr(0, i);
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
    const size_t end = wrapper_length_within(line);
    if (end == 0 || !says_enough(line.substr(end))) break;
    line.remove_prefix(end);
  }
  line = line.substr(0, own_words_at_end(line));
  return without_value(first_sentence(without_advice(behind_advice(first_quoted_line(line)))));
}

std::string clause_title(std::string_view message) {
  const std::string text = normalise_text(message.substr(0, kLookedAt), kLookedAt).text;
  return normalise_title(decisive_clause(text));
}

}  // namespace mpsprobe

#include "harness/title/title.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "harness/text/ascii.h"
#include "harness/text/brackets.h"
#include "harness/text/first_words.h"
#include "harness/text/normal_text.h"
#include "harness/title/merged_values.h"
#include "harness/title/operator_message.h"
#include "harness/title/spelling.h"
#include "harness/title/system_error.h"
#include "harness/title/users_name.h"
#include "harness/title/variable_part.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;
using ascii::lower;
using ascii::upper;
using ascii::word;

constexpr size_t kLongestTitle = 160;
constexpr size_t kLookedAt = 1024;

bool hex(char c) {
  return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool in_path(char c) {
  return word(c) || (c != '\0' && std::string_view("/.-+@~%$=").find(c) != std::string_view::npos);
}
// "D:/"
size_t drive_length(std::string_view text) {
  return upper(at(text, 0)) && at(text, 1) == ':' && at(text, 2) == '/' ? 2 : 0;
}

// Length of what names the chip in AGXG16XFamily... or AGXMetalG14X, after its fixed first letters.
size_t chip_length(std::string_view text) {
  if (at(text, 0) != 'G' || !digit(at(text, 1))) return 0;
  size_t i = 1;
  while (digit(at(text, i)) || at(text, i) == '_' ||
         (upper(at(text, i)) && !lower(at(text, i + 1)))) {
    ++i;
  }
  return i;
}

// Length of the template argument list at text[0] == '<', or 0.
size_t template_length(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && --depth == 0) return i + 1;
  }
  return 0;
}

// Length of the path that text begins with (at least one folder), or 0.
size_t path_length(std::string_view text) {
  const size_t drive = drive_length(text);
  const auto end =
      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(drive), text.end(), in_path);
  std::string_view path = text.substr(0, static_cast<size_t>(end - text.begin()));
  while (!path.empty() && (path.back() == '.' || path.back() == '/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == path.size()) return 0;
  // "error/recovery" and "1/s" are no paths: those begin at a root or end in a file with a suffix.
  const bool rooted = drive > 0 ||
                      std::string_view("/~@").find(path[0]) != std::string_view::npos ||
                      path.starts_with("./") || path.starts_with("../");
  return rooted || path.find('.', slash) != std::string_view::npos ? path.size() : 0;
}

// Length of a process or line number in brackets, [88968:35288312] after a program's name, or 0.
size_t bracket_length(std::string_view text) {
  const size_t begin = at(text, 1) == '-' ? 2 : 1;
  size_t i = begin;
  while (hex(at(text, i)) || at(text, i) == ':') ++i;
  return i > begin && digit(text[begin]) && at(text, i) == ']' ? i + 1 : 0;
}

/// What libraries add to a message to help, and where they come to the place in the source: some
/// releases do, some do not, and captures are cut there.
constexpr std::string_view kAdvice[] = {
    " As a temporary fix, you can set the environment variable",
    " CUDA kernel errors might be asynchronously reported",
    " For debugging consider passing CUDA_LAUNCH_BLOCKING",
    " Search for 'cuda",
    " Compile with 'TORCH_USE_CUDA_DSA'",
    " If you want this op to be ",
    " WARNING: this will be slower",
    " Exception raised from ",
    ": File '",
    " UserInfo={",
    " UserInfo=",
    ", userInfo={",
    ", keys: ",
    " Declaration: ",
    " C++ CapturedTraceback",
    " (most recent call first)",
    ", please report a bug to PyTorch",
    " (required by ",
    " set a breakpoint in malloc_error_break",
    " (pid=",
    ". N vs N",
    ", should be one of",
    ", must be one of",
    " (unhinted: ",
    " (mpsFileLoc): ",
    " (Triggered internally at ",
    " [repeated ",
    " zsh: abort",
    " Abort trap: ",
    " abort() called",
    " Aborted (core dumped)",
};

// " at stream.cpp", "(stream.cpp)" at the end: the place in the source, without its number.
size_t source_place_at_end(std::string_view title) {
  if (title.ends_with(", line N")) {
    const size_t file = title.rfind(" file ");
    if (file != std::string_view::npos) return title.size() - file;
  }
  constexpr std::string_view kSuffixes[] = {".cpp", ".cc", ".c",  ".mm",    ".m",    ".h",
                                            ".hpp", ".cu", ".rs", ".swift", ".metal"};
  std::string_view rest = title;
  if (rest.ends_with(')')) rest.remove_suffix(1);
  const bool source = std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                                  [&](std::string_view suffix) { return rest.ends_with(suffix); });
  const size_t space = rest.rfind(' ');
  if (!source || space == std::string_view::npos) return 0;
  for (std::string_view lead : {" (at ", " at ", " ("}) {
    const size_t from = space + 2 > lead.size() ? rest.rfind(lead) : std::string_view::npos;
    if (from != std::string_view::npos && from + lead.size() >= space + 1) {
      return title.size() - from;
    }
  }
  return 0;
}

// Quotes come in all kinds, and get lost on the way through pages and shells: titles go without.
// Apostrophes within words stay.
std::string without_quotes(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool within = !result.empty() && word(result.back()) && lower(at(text, i + 1));
    if (text[i] != '\'' || within) result += text[i];
  }
  return result;
}

// Whether the system was given a path and says why it refused it: "No space left on device:
// '/data'".
bool is_users_path(std::string_view before, std::string_view behind) {
  const bool quoted = before.ends_with('\'') && behind.starts_with('\'');
  if (quoted) before.remove_suffix(1);
  if (!before.ends_with(": ") || (!quoted && !behind.empty())) return false;
  return ends_with_system_error(before.substr(0, before.size() - 2));
}

std::string one_pass(std::string_view text) {
  for (std::string_view advice : kAdvice) text = text.substr(0, text.find(advice));
  std::string title;
  for (size_t i = 0; i < text.size() && title.size() < 2 * kLongestTitle;) {
    const std::string_view rest = text.substr(i);
    const char before = i == 0 ? '\0' : text[i - 1];
    size_t length = 0;
    if (!word(before) && before != '/') {
      const std::string_view path = rest.substr(0, path_length(rest));
      if (!path.empty() && users_name_length(rest, text.substr(0, i)) == 0) {
        // "No space left on device: '/data/run_7'": what has no suffix is no library.
        const bool users = is_users_path(text.substr(0, i), rest.substr(path.size()));
        // The name itself is looked at again, without its folders.
        i += path.rfind('/') + 1;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        if (is_data_file(name) || (users && name.find('.') == std::string_view::npos)) {
          title += "<file>";
          i += name.size();
          continue;
        }
        const VariablePart id = variable_part(name, "");
        const bool whole = id.stand_in == "N" && at(name, id.length) != '\0' && id.length >= 32;
        title += whole ? "N" : "";
        title += name.substr(whole ? id.length : 0);
        i += name.size();
        continue;
      }
    }
    if (VariablePart part = variable_part(rest, text.substr(0, i)); part.length > 0) {
      // A line number: "file.mm:78", "]:1091:".
      const bool line =
          part.stand_in == "N" && before == ':' && !title.empty() && !digit(at(rest, part.length));
      const bool glued = title.size() > 1 && title[title.size() - 2] != ' ';
      if (line && glued) {
        title.pop_back();
      } else {
        title += part.stand_in;
      }
      i += part.length;
      continue;
    }
    if (!word(before) && before != '/') {
      for (std::string_view family : {"AGXMetal", "AGX"}) {
        if (!rest.starts_with(family)) continue;
        length = chip_length(rest.substr(family.size()));
        if (length == 0) continue;
        title += family;
        i += family.size() + length;
        break;
      }
      if (length > 0) continue;
    } else {
      if (text[i] == '[') length = bracket_length(rest);
      if (text[i] == '<' && word(before)) length = template_length(rest);
      i += length;
      if (length > 0) continue;
    }
    title += text[i++];
  }
  title = without_asides(usual_spelling(usual_operator_message(merge_values(title))));
  while (const size_t place = source_place_at_end(title)) {
    title.resize(title.size() - place);
    // "(take at lane.cpp)": what was called there.
    const size_t open = title.rfind(" (");
    if (open != std::string::npos &&
        std::all_of(title.begin() + static_cast<std::ptrdiff_t>(open) + 2, title.end(),
                    [](char c) { return word(c) || c == ':'; })) {
      title.resize(open);
    }
  }
  title = without_lone_brackets(first_words(without_quotes(title)));
  // What a cut leaves at the ends.
  const auto dangling = [](char c) {
    return std::string_view(" :,;").find(c) != std::string_view::npos;
  };
  while (title.ends_with(" (N)")) title.resize(title.size() - 4);
  while (!title.empty() &&
         (dangling(title.back()) ||
          std::string_view("([.*!?").find(title.back()) != std::string_view::npos)) {
    title.pop_back();
  }
  while (!title.empty() && dangling(title.front())) title.erase(0, 1);
  if (title.size() > kLongestTitle) {
    title.resize(kLongestTitle);
    while (!title.empty() && title.back() == ' ') title.pop_back();
  }
  return title;
}

// Passes over `title` until it stays as it is; false where it does not within 16.
bool settle(std::string& title) {
  for (int pass = 0; pass < 16; ++pass) {
    std::string again = normalise_text(one_pass(title), kLookedAt).text;
    if (again == title) return true;
    title = std::move(again);
  }
  return false;
}

// The words of two letters or more, one space between them.
std::string words_alone(std::string_view text) {
  std::string words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (upper(text[end]) || lower(text[end]))) ++end;
    if (end - i > 1) {
      if (!words.empty()) words += ' ';
      words += text.substr(i, end - i);
    }
    i = std::max(end, i + 1);
  }
  return words;
}

}  // namespace

std::string normalise_title(std::string_view message) {
  std::string title = normalise_text(message.substr(0, kLookedAt), kLookedAt).text;
  // What one rule leaves behind can be material for another ("a<b>/c.mm:7"): until it is stable.
  // Real texts settle within three passes.
  if (settle(title)) return title;
  // Made so that each pass undoes one layer: without digits, marks and what stood for numbers there
  // is none left but words that repeat, which fold together fast.
  title = words_alone(title);
  settle(title);
  return title;
}

}  // namespace mpsprobe

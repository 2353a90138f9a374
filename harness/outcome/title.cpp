#include <algorithm>
#include <cctype>

#include "harness/outcome/ascii.h"
#include "harness/outcome/diagnosis.h"
#include "harness/outcome/normal_text.h"

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

size_t word_length(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), word) - text.begin());
}

// Length of the UUID that text begins with, or 0.
size_t uuid_length(std::string_view text) {
  constexpr std::string_view kForm = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  if (text.size() < kForm.size() || word(at(text, kForm.size()))) return 0;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'h' ? !hex(text[i]) : text[i] != '-') return 0;
  }
  return kForm.size();
}

// Length of the number that text begins with: 12, 3.5, 2.15.0, 0x1f, 4GiB, 8x128xf32, 97f6331a.
size_t number_length(std::string_view text) {
  const size_t length = word_length(text);
  if (length == 0) return 0;
  const std::string_view token = text.substr(0, length);
  const bool long_hex = length >= 8 && std::all_of(token.begin(), token.end(), hex) &&
                        std::any_of(token.begin(), token.end(), digit);
  if (!digit(token[0]) && !long_hex) return 0;
  size_t end = length;
  while (at(text, end) == '.' && digit(at(text, end + 1)))
    end += 1 + word_length(text.substr(end + 1));
  return end;
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
  const auto end = std::find_if_not(text.begin(), text.end(), in_path);
  std::string_view path = text.substr(0, static_cast<size_t>(end - text.begin()));
  while (!path.empty() && (path.back() == '.' || path.back() == '/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == path.size()) return 0;
  // "error/recovery" and "1/s" are no paths: those begin at a root or end in a file with a suffix.
  const bool rooted = path[0] == '/' || path[0] == '~' || path[0] == '@';
  return rooted || path.find('.', slash) != std::string_view::npos ? path.size() : 0;
}

// Length of a process or line number in brackets, [88968:35288312] after a program's name, or 0.
size_t bracket_length(std::string_view text) {
  size_t i = 1;
  while (hex(at(text, i)) || at(text, i) == ':') ++i;
  return i > 1 && digit(text[1]) && at(text, i) == ']' ? i + 1 : 0;
}

/// What libraries add to a message to help: some releases do, some do not.
constexpr std::string_view kAdvice[] = {
    " As a temporary fix, you can set the environment variable",
    " CUDA kernel errors might be asynchronously reported",
    " Compile with 'TORCH_USE_CUDA_DSA'",
    " If you want this op to be added in priority",
};

std::string one_pass(std::string_view text) {
  std::string title;
  for (size_t i = 0; i < text.size() && title.size() < 2 * kLongestTitle;) {
    const std::string_view rest = text.substr(i);
    const char before = i == 0 ? '\0' : text[i - 1];
    size_t length = 0;
    if (!word(before) && before != '/') {
      if ((length = path_length(rest)) > 0) {
        const std::string_view path = rest.substr(0, length);
        // The name itself is looked at again, without its folders.
        i += path.rfind('/') + 1;
        const std::string_view name = text.substr(i, length - (path.rfind('/') + 1));
        const size_t id = uuid_length(name);
        title += id > 0 ? "N" : "";
        title += name.substr(id);
        i += name.size();
        continue;
      }
      length = uuid_length(rest);
      if (length == 0) length = number_length(rest);
      if (length > 0) {
        // A line number: "file.mm:78", "]:1091:".
        const bool line = before == ':' && !title.empty() && !digit(at(rest, length));
        const bool glued = title.size() > 1 && title[title.size() - 2] != ' ';
        if (line && glued) {
          title.pop_back();
        } else {
          title += 'N';
        }
        i += length;
        continue;
      }
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
  // What a cut leaves at the ends. A quote goes only where its partner is missing.
  const auto dangling = [&](char c) {
    if (c == '\'') return std::count(title.begin(), title.end(), '\'') % 2 == 1;
    return std::string_view(" :,;").find(c) != std::string_view::npos;
  };
  while (!title.empty() && (dangling(title.back()) || title.back() == '(')) title.pop_back();
  while (!title.empty() && dangling(title.front())) title.erase(0, 1);
  if (title.size() > kLongestTitle) {
    title.resize(kLongestTitle);
    while (!title.empty() && title.back() == ' ') title.pop_back();
  }
  return title;
}

}  // namespace

std::string normalise_title(std::string_view message) {
  std::string title = normalise_text(message.substr(0, kLookedAt), kLookedAt).text;
  for (std::string_view advice : kAdvice) title.resize(std::min(title.size(), title.find(advice)));
  // What one rule leaves behind can be material for another ("a<b>/c.mm:7"): until it is stable.
  // Real texts settle within three passes.
  for (int pass = 0; pass < 16; ++pass) {
    std::string again = one_pass(title);
    if (again == title) return title;
    title = std::move(again);
  }
  // Made so that each pass undoes one layer: without digits and marks there is none left.
  std::string blunt;
  for (char c : title) {
    if (upper(c) || lower(c)) {
      blunt += c;
    } else if (!blunt.empty() && blunt.back() != ' ') {
      blunt += ' ';
    }
  }
  while (blunt.ends_with(' ')) blunt.pop_back();
  return blunt;
}

}  // namespace mpsprobe

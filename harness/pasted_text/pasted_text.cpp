#include "harness/pasted_text/pasted_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/pasted_text/whole_lines.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/shape.h"
#include "harness/wire/ascii.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

struct Spelling {
  Shape shape;
  std::string_view stand_in;
};

// What pages and other languages' strings write in place of a character.
const std::vector<Spelling>& spellings() {
  static const std::vector<Spelling> kSpellings = {
      {Shape("&(?:quot|apos|#39|#039|#x27|#34|#x22|#96);"), "'"},
      {Shape("&lt;"), "<"},
      {Shape("&gt;"), ">"},
      {Shape("&amp;"), "&"},
      {Shape("&nbsp;"), " "},
      {Shape(R"(\\u002[27]|\\["'`])"), "'"},
      {Shape(R"((?:\\u001[bB]|\\x1[bB]|\\033|\^\[)\[[\d;]*[mK])"), ""},
      {Shape("</?(?:details|summary|pre|code|p|li|ul|td|tr|div|span|strong|b|kbd|tt)(?: open)?>|"
             "<br ?/?>"),
       " "},
  };
  return kSpellings;
}

bool in_windows_path(std::string_view before) {
  constexpr size_t kLongest = 64;
  before.remove_prefix(before.size() - std::min(before.size(), kLongest));
  before = before.substr(before.find_last_of(" '\"(\n") + 1);  // npos + 1 is 0
  return ascii::at(before, 1) == ':' || before.find('\\') != std::string_view::npos;
}

std::string unescaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\x1b') {
      i += terminal_escape_length(text, i);
      continue;
    }
    const char kind = c == '\\' ? ascii::at(text, i + 1) : '\0';
    const bool path = (kind == 'n' || kind == 'r' || kind == 't') &&
                      ascii::lower(ascii::at(text, i + 2)) && in_windows_path(text.substr(0, i));
    if (!path && (kind == 'n' || kind == 'r' || kind == 't')) {
      result += kind == 't' ? ' ' : '\n';
      i += 2;
      continue;
    }
    // Markdown's "\_" and "\*".
    if (std::string_view("_*#<>[]{}").find(kind) != std::string_view::npos && kind != '\0') {
      result += kind;
      i += 2;
      continue;
    }
    size_t length = 0;
    for (const Spelling& spelling : spellings()) {
      const auto match = spelling.shape.match(text, i);
      if (!match) continue;
      result += spelling.stand_in;
      length = match->end - i;
      break;
    }
    if (length == 0) result += c;
    i += std::max<size_t>(length, 1);
  }
  return result;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::string_view line : split(text, '\n')) {
    // The right edge of a box.
    constexpr std::string_view kEdge = "\u2502";
    while (line.ends_with('\r') || line.ends_with(kEdge)) {
      line.remove_suffix(line.ends_with('\r') ? 1 : kEdge.size());
      line = line.substr(0, line.find_last_not_of(" \t") + 1);  // npos + 1 is 0
    }
    // One line of code within a text, and Markdown's fences.
    if (line.size() > 2 && line.starts_with('`') && line.find('`', 1) == line.size() - 1) {
      line = line.substr(1, line.size() - 2);
    }
    const std::string_view words = line.substr(std::min(line.find_first_not_of(" >"), line.size()));
    if (!words.starts_with("```") && !words.starts_with("~~~")) lines.push_back(line);
  }
  return lines;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// Where no line stands right under another one, the empty lines between them came in on the way.
void drop_doubled_breaks(std::vector<std::string_view>& lines) {
  constexpr size_t kFewest = 3;
  size_t full = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (is_blank(lines[i])) continue;
    ++full;
    if (i + 1 < lines.size() && !is_blank(lines[i + 1])) return;
  }
  if (full >= kFewest) std::erase_if(lines, is_blank);
}

// What all lines have at their front: a page's quotation and indentation.
void drop_common_front(std::vector<std::string_view>& lines) {
  std::string_view common;
  bool any = false;
  for (const std::string_view line : lines) {
    const std::string_view words = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (words.empty() || words == ">") continue;
    const std::string_view own =
        line.substr(0, std::min(line.find_first_not_of("> \t"), line.size()));
    if (!any) common = own;
    any = true;
    const auto [end, other] = std::mismatch(common.begin(), common.end(), own.begin(), own.end());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  for (std::string_view& line : lines) {
    line.remove_prefix(line.starts_with(common) ? common.size() : line.size());
  }
}

// What three lines or more that stand together begin with: "12: " of ctest, "ERROR: ".
void note_repeated_marks(std::vector<WrittenLine>& lines) {
  constexpr ptrdiff_t kFewest = 3;
  static const Shape kMark(R"(\d+: |(?:ERROR|WARNING|INFO|FATAL|stderr|stdout): )");
  const auto mark_of = [](std::string_view words) {
    const auto match = kMark.match(words, 0);
    return words.substr(0, match ? match->end : 0);
  };
  for (auto first = lines.begin(); first != lines.end();) {
    const std::string_view mark = mark_of(first->words());
    const auto last = std::find_if_not(first, lines.end(), [mark](const WrittenLine& line) {
      return !mark.empty() &&
             (line.words().starts_with(mark) || line.words() == mark.substr(0, mark.size() - 1));
    });
    if (last - first >= kFewest) {
      std::for_each(first, last, [mark](WrittenLine& line) {
        line.prefix += std::min(mark.size(), line.words().size());
      });
    }
    first = last == first ? first + 1 : last;
  }
}

}  // namespace

std::string failure_text(std::string_view pasted, BrokenLines broken) {
  const std::string plain = unescaped(pasted);
  std::vector<std::string_view> lines = lines_of(plain);
  drop_doubled_breaks(lines);
  drop_common_front(lines);
  std::vector<WrittenLine> written;
  written.reserve(lines.size());
  for (const std::string_view line : lines) written.push_back({line, log_prefix_length(line)});
  note_repeated_marks(written);
  if (broken == BrokenLines::make_whole) return whole_lines(written);
  std::string text;
  for (const WrittenLine& line : written) text.append(line.words()).append("\n");
  return text;
}

}  // namespace mpsprobe

#include "tools/signatures/pastes/common_mark.h"

#include <algorithm>
#include <cstddef>

#include "tools/signatures/pastes/line_end.h"
#include "tools/signatures/pastes/log_prefix.h"

namespace mpsprobe {
namespace {

// Two lines may begin alike by chance.
constexpr size_t kFewest = 3;
constexpr auto npos = std::string_view::npos;

std::string_view first_word_and_space(std::string_view words) {
  return words.substr(0, std::min(words.find(' '), words.size() - 1) + 1);
}

std::string_view behind_log_prefix(std::string_view line) {
  return line.substr(log_prefix_length(line));
}

// The space behind the mark of an empty line gets lost.
bool bears(std::string_view words, std::string_view mark) {
  return words.starts_with(mark) || words == mark.substr(0, mark.size() - 1);
}

using Place = std::vector<std::string_view>::iterator;

// And what a log put in front of it.
void drop(std::string_view mark, Place first, Place last) {
  std::for_each(first, last, [mark](std::string_view& line) {
    line.remove_prefix(std::min(line.size(), log_prefix_length(line) + mark.size()));
  });
}

bool can_be_a_mark(std::string_view mark) {
  constexpr size_t kLongest = 40;
  const bool closed = mark.ends_with(": ") || mark.ends_with("] ") || mark.ends_with("| ");
  // "lane::take: ", "take(): " and "objc[12]: " are the beginnings of messages.
  // OpenMP's runtime begins all its lines so, and nobody else does.
  return closed && mark != "OMP: " && mark.size() <= kLongest &&
         mark.find_first_of("_(.") == npos && mark.find('[', 1) == npos && mark.find("::") == npos;
}

void drop_word(std::vector<std::string_view>& lines) {
  std::string_view mark;
  size_t full = 0;
  for (const std::string_view line : lines) {
    if (without_end(line).empty()) continue;
    const std::string_view words = behind_log_prefix(line);
    if (full++ == 0) {
      mark = first_word_and_space(words);
      if (!can_be_a_mark(mark)) return;
    }
    if (!bears(words, mark)) return;
  }
  if (full >= kFewest) drop(mark, lines.begin(), lines.end());
}

// "12: ", or nothing.
std::string_view number_in_front(std::string_view words) {
  const size_t end = words.find_first_not_of("0123456789");
  const bool number = end != 0 && end != npos && words.substr(end).starts_with(": ");
  return number ? words.substr(0, end + 2) : std::string_view();
}

void drop_numbers(std::vector<std::string_view>& lines) {
  for (auto first = lines.begin(); first != lines.end();) {
    const std::string_view mark = number_in_front(behind_log_prefix(*first));
    if (mark.empty()) {
      ++first;
      continue;
    }
    const auto last = std::find_if_not(first, lines.end(), [mark](std::string_view line) {
      return bears(behind_log_prefix(line), mark);
    });
    if (static_cast<size_t>(last - first) >= kFewest) drop(mark, first, last);
    first = last;
  }
}

// "> " in front of all lines, as mail and issues quote.
void drop_quotation(std::vector<std::string_view>& lines) {
  const bool quoted = std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    return without_end(line).empty() || line.starts_with("> ") || without_end(line) == ">";
  });
  if (!quoted) return;
  for (std::string_view& line : lines) line.remove_prefix(std::min<size_t>(line.size(), 2));
}

// Of all lines, as a page indents what it quotes.
void drop_indentation(std::vector<std::string_view>& lines) {
  std::string_view common;
  bool any = false;
  for (const std::string_view line : lines) {
    if (without_end(line).empty()) continue;
    const std::string_view own =
        line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (!any) common = own;
    any = true;
    const auto [end, other] = std::mismatch(common.begin(), common.end(), own.begin(), own.end());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  for (std::string_view& line : lines) {
    line.remove_prefix(line.starts_with(common) ? common.size() : line.size());
  }
}

}  // namespace

void drop_common_mark(std::vector<std::string_view>& lines) {
  drop_quotation(lines);
  drop_numbers(lines);
  drop_word(lines);
  drop_indentation(lines);
}

}  // namespace mpsprobe

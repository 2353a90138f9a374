#include "harness/signature/passing_frames.h"

#include <algorithm>

#include "harness/signature/rules.h"

namespace mpsprobe {
namespace {

bool fits(std::string_view pattern, std::string_view text) {
  const bool open_end = pattern.ends_with('*');
  const bool open_front = pattern.starts_with('*');
  if (open_end) pattern.remove_suffix(1);
  if (open_front && !pattern.empty()) pattern.remove_prefix(1);
  // A star within: what stands before it and what stands after it.
  if (const size_t star = pattern.find('*'); star != std::string_view::npos) {
    const std::string_view before = pattern.substr(0, star);
    const std::string_view after = pattern.substr(star + 1);
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    return open_end ? text.find(after) != std::string_view::npos : text.ends_with(after);
  }
  if (open_front && open_end) return text.find(pattern) != std::string_view::npos;
  if (open_end) return text.starts_with(pattern);
  if (open_front) return text.ends_with(pattern);
  return text == pattern;
}

}  // namespace

std::span<const PassingFrame> passing_frames() {
  return Rules::standard().frames;
}

const PassingFrame* find_passing_frame(std::string_view image, std::string_view function,
                                       std::span<const PassingFrame> rows) {
  const std::string_view bare =
      function.substr(std::min(function.find_first_not_of('_'), function.size()));
  for (const PassingFrame& row : rows) {
    if (row.function.empty() != function.empty()) continue;
    if (!row.image.empty() && !fits(row.image, image)) continue;
    if (row.function.empty() ||
        fits(row.function, row.function.starts_with('_') ? function : bare)) {
      return &row;
    }
  }
  return nullptr;
}

bool of_interpreter(std::string_view image) {
  const PassingFrame* const row = find_passing_frame(image, "");
  return row != nullptr && row->meaning == Passing::interpreter;
}

}  // namespace mpsprobe

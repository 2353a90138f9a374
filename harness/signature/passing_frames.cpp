#include <algorithm>

#include "harness/signature/rules.h"

namespace mpsprobe {
namespace {

// A star stands for any characters.
bool fits(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  if (pattern.find('*') == std::string_view::npos) return text.substr(star).ends_with(pattern);
  for (size_t at = star; at <= text.size(); ++at) {
    if (fits(pattern, text.substr(at))) return true;
  }
  return false;
}

}  // namespace

const PassingFrame* find_passing_frame(std::string_view image, std::string_view function,
                                       const std::vector<PassingFrame>& rows) {
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

#include "harness/input/near_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mpsprobe {
namespace {

constexpr size_t kLongest = 64;
constexpr size_t kFewestAlike = 3;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Optimal string alignment: the distance in letters, a swap of two neighbours being one.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

size_t alike_from_the_start(std::string_view a, std::string_view b) {
  size_t alike = 0;
  while (alike < a.size() && alike < b.size() && lower(a[alike]) == lower(b[alike])) ++alike;
  return alike;
}

}  // namespace

std::string_view nearest_name(std::string_view typed, std::span<const std::string_view> known) {
  if (typed.empty() || typed.size() > kLongest) return "";
  std::string_view best;
  size_t least = 0;
  for (std::string_view name : known) {
    if (name.empty() || name.size() > kLongest) continue;
    const size_t letters = distance(typed, name);
    const size_t most = std::max<size_t>(1, std::max(typed.size(), name.size()) / 3);
    if (letters > most || letters >= name.size()) continue;
    // Of equally near ones the one that begins as what was typed: the first letter is rarely wrong.
    if (best.empty() || letters < least ||
        (letters == least && alike_from_the_start(typed, name) > 0 &&
         alike_from_the_start(typed, best) == 0)) {
      best = name;
      least = letters;
    }
  }
  if (!best.empty()) return best;
  size_t most_alike = kFewestAlike - 1;
  for (std::string_view name : known) {
    const size_t alike = alike_from_the_start(typed, name);
    if (alike > most_alike) {
      best = name;
      most_alike = alike;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known) {
  const std::string_view name = nearest_name(typed, known);
  return name.empty() ? "" : "; did you mean \"" + std::string(name) + "\"?";
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return did_you_mean(typed, views);
}

}  // namespace mpsprobe

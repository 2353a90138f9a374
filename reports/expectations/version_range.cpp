#include "reports/expectations/version_range.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

/// "2.16.0rc1" as 2 . 16 . 0 rc 1.
std::vector<std::string_view> pieces_of(std::string_view version) {
  version = version.substr(0, version.find('+'));
  std::vector<std::string_view> pieces;
  while (!version.empty()) {
    const bool digits = ascii::digit(version.front());
    size_t length = 1;
    while (length < version.size() && ascii::digit(version[length]) == digits) ++length;
    pieces.push_back(version.substr(0, length));
    version.remove_prefix(length);
  }
  return pieces;
}

/// What goes on like this is on its way to the version that it goes on from.
bool pre_release(std::string_view piece) {
  return piece == "a" || piece == "b" || piece == "rc" ||
         (piece.size() > 1 && piece.front() == '.' &&
          std::isalpha(static_cast<unsigned char>(piece[1])) != 0);
}

std::string_view without_zeros(std::string_view number) {
  return number.substr(std::min(number.find_first_not_of('0'), number.size()));
}

/// Below, above or equal to 0, as `a` comes before, after or with `b`.
int order_of(std::string_view a, std::string_view b) {
  if (!ascii::digit(a.front()) || !ascii::digit(b.front())) return a.compare(b);
  a = without_zeros(a);
  b = without_zeros(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

}  // namespace

bool version_before(const std::string& a, const std::string& b) {
  const std::vector<std::string_view> ours = pieces_of(a);
  const std::vector<std::string_view> theirs = pieces_of(b);
  const size_t common = std::min(ours.size(), theirs.size());
  for (size_t i = 0; i < common; ++i) {
    if (const int order = order_of(ours[i], theirs[i]); order != 0) {
      if (pre_release(ours[i]) != pre_release(theirs[i])) return pre_release(ours[i]);
      return order < 0;
    }
  }
  // "25A354a" is a macOS build of its own kind: three numbers make a version.
  const auto leads_to = [common](const std::vector<std::string_view>& longer) {
    return pre_release(longer[common]) && (common >= 5 || longer[common].front() == '.');
  };
  if (ours.size() > common) return leads_to(ours);
  return theirs.size() > common && !leads_to(theirs);
}

bool VersionRange::holds(const std::string& version) const {
  if (open()) return true;
  if (version.empty()) return false;
  return (from.empty() || !version_before(version, from)) &&
         (before.empty() || version_before(version, before));
}

}  // namespace mpsprobe

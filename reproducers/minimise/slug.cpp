#include "reproducers/minimise/slug.h"

#include <fmt/format.h>

#include <cstdint>

namespace mpsprobe {
namespace {

constexpr size_t kMostReadable = 48;
constexpr int kHashDigits = 12;

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::string slug(std::string_view text) {
  std::string name;
  bool gap = false;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!kept) {
      gap = !name.empty();
      continue;
    }
    if (name.size() + (gap ? 2 : 1) > kMostReadable) break;
    if (gap) name += '-';
    gap = false;
    name += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (!name.empty()) name += '-';
  return name + fmt::format("{:016x}", fnv1a(text)).substr(16 - kHashDigits);
}

}  // namespace mpsprobe

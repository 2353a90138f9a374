#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace mpsprobe::ascii {

// Of a character, whatever the locale. From any thread.
constexpr bool digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool lower(char c) {
  return c >= 'a' && c <= 'z';
}
/// Part of a name as most languages write them.
constexpr bool word(char c) {
  return digit(c) || upper(c) || lower(c) || c == '_';
}
/// Part of a name that is a file's in every folder.
constexpr bool plain(char c) {
  return word(c) || c == '.' || c == '-';
}
constexpr bool all_plain(std::string_view text) {
  return std::ranges::all_of(text, plain);
}
constexpr char to_lower(char c) {
  return upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
/// text[i], or a zero byte beyond its end.
constexpr char at(std::string_view text, size_t i) {
  return i < text.size() ? text[i] : '\0';
}

}  // namespace mpsprobe::ascii

#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
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
constexpr char to_lower(char c) {
  return upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr bool same_in_any_case(char a, char b) {
  return to_lower(a) == to_lower(b);
}
constexpr bool starts_with_in_any_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(), same_in_any_case);
}
constexpr bool ends_with_in_any_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.rbegin(), end.rend(), text.rbegin(), same_in_any_case);
}
/// text[i], or a zero byte beyond its end.
constexpr char at(std::string_view text, size_t i) {
  return i < text.size() ? text[i] : '\0';
}

/// The characters of a name at the front of `text`.
constexpr size_t word_length(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), word) - text.begin());
}
template <size_t n>
constexpr bool is_one_of(std::string_view text, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

/// Takes the first of `endings` off that leaves `fewest` characters or more; false where none does.
template <size_t n>
constexpr bool take_ending(std::string_view& text, const std::string_view (&endings)[n],
                           size_t fewest) {
  for (std::string_view ending : endings) {
    if (text.size() < ending.size() + fewest || !text.ends_with(ending)) continue;
    text.remove_suffix(ending.size());
    return true;
  }
  return false;
}

}  // namespace mpsprobe::ascii

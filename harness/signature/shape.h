#pragma once

#include <bitset>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mpsprobe {

/// Where a shape was found: all of it, the part between its parentheses (all of it without any),
/// and what its named groups hold, by their names. Points into the text and into the shape.
struct ShapeMatch {
  size_t begin = 0;
  size_t end = 0;
  size_t inner_begin = 0;
  size_t inner_end = 0;
  std::map<std::string_view, std::string_view> parts;  ///< of groups that took part

  bool has(std::string_view name) const { return parts.contains(name); }
  /// Empty where the group took no part.
  std::string_view operator[](std::string_view name) const {
    const auto found = parts.find(name);
    return found == parts.end() ? std::string_view() : found->second;
  }
};

/// A regular expression in which rules are written: PCRE2's syntax (https://pcre.org), over bytes.
/// A dot is anything but a line break, and $ stands in front of one or at the end of the text.
/// Immutable, and cheap to copy; several threads may use one.
class Shape {
 public:
  /// Throws std::invalid_argument, which names the place of a mistake.
  explicit Shape(const std::string& expression);

  /// Matches at text[at], and looks behind it where the expression does. Looks at no more than
  /// 4,096 characters and takes a bounded number of steps: what needs more does not match. Throws
  /// only for lack of memory.
  std::optional<ShapeMatch> match(std::string_view text, size_t at) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
  std::bitset<256> first_;  ///< the bytes that a match may begin with
};

}  // namespace mpsprobe

#pragma once

#include <bitset>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mpsprobe {

/// Where a shape was found: all of it, and the part between its parentheses (all of it without
/// any).
struct ShapeMatch {
  size_t begin = 0;
  size_t end = 0;
  size_t inner_begin = 0;
  size_t inner_end = 0;
};

/// What the named groups of a match hold, by their names.
class ShapeParts {
 public:
  explicit ShapeParts(std::map<std::string_view, std::string_view> held = {})
      : held_(std::move(held)) {}
  bool has(std::string_view name) const { return held_.contains(name); }
  /// Empty where the group took no part.
  std::string_view operator[](std::string_view name) const {
    const auto found = held_.find(name);
    return found == held_.end() ? std::string_view() : found->second;
  }

 private:
  std::map<std::string_view, std::string_view> held_;
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

  /// The same of an expression with named groups. Points into the text and into the shape.
  std::optional<ShapeParts> parts(std::string_view text, size_t at) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
  std::bitset<256> first_;  ///< the bytes that a match may begin with
};

}  // namespace mpsprobe

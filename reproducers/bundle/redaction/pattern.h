#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mpsprobe {

/// A regular expression in the syntax of PCRE2 (https://pcre.org), over texts of any bytes: what is
/// no UTF-8 matches nothing and does no harm. Immutable, so several threads may use one.
class Pattern {
 public:
  /// Throws std::invalid_argument with the place of a mistake.
  explicit Pattern(const std::string& expression);
  ~Pattern();
  Pattern(Pattern&& other) noexcept;
  Pattern& operator=(Pattern&& other) noexcept;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  struct Part {
    size_t begin = 0;
    size_t end = 0;
  };
  /// Calls `found` with the whole match and the first group that took part in it (else the whole
  /// again), one after the other. False: a step limit was met, and what follows `reached` was not
  /// looked through.
  bool each(std::string_view text, const std::function<void(Part whole, Part group)>& found,
            size_t* reached) const;

  /// Whether it is found anywhere; a step limit counts as not found.
  bool in(std::string_view text) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace mpsprobe

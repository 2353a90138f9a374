#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reproducers/bundle/redaction/personal.h"

namespace mpsprobe {

/// A part of a text that looks like personal data or a secret.
struct PatternHit {
  size_t begin = 0;
  size_t end = 0;
  PersonalKind kind = PersonalKind::secret;
  std::string_view row;  ///< its name: "card number", "github-pat"; lives as long as the program
  friend bool operator==(const PatternHit&, const PatternHit&) = default;
};

/// What the rows of patterns/gitleaks.json and patterns/people.json find in a text of any bytes, in
/// order; hits that touch are one. Each row costs the matching library a bounded number of steps:
/// where a row gives up, the rest of the text is a hit, since nobody knows what is in it.
/// Thread-safe.
std::vector<PatternHit> find_patterns(std::string_view text);

/// Of these, what names somebody or opens something wherever else it stands, and not only behind
/// the words that gave it away here. Hits may overlap.
std::vector<PatternHit> names_by_pattern(std::string_view text);

/// How many rows there are, for tests: a row that cannot be read ends the program that looks for
/// the first time.
size_t pattern_rows();

}  // namespace mpsprobe

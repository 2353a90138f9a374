#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/difference/difference.h"

namespace mpsprobe {

/// What one change is called: "new", "more often", "refused less often".
std::string_view in_words(Change change);

/// What differs, for people: claims first, then what cannot be told and how many trials it takes.
/// Printable, whatever a worker called its failures.
std::string difference_text(const RunFacts& before, const RunFacts& after,
                            const Difference& difference);

/// The same for programs.
nlohmann::ordered_json difference_json(const RunFacts& before, const RunFacts& after,
                                       const Difference& difference);

}  // namespace mpsprobe

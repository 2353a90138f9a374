#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The axes that have one value in all cells of the run, "backend" among them where there is one.
std::vector<std::string_view> common_axes(const Analysis& analysis);

/// What they are, as far as it says something: "backend sim, iterations=30".
std::string common_in_words(const Analysis& analysis);

}  // namespace mpsprobe

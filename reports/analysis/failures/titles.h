#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What failed in one cell for one arm: the signature, as an index into Analysis::signatures, and
/// how many trials of the cell have it.
struct TitleCount {
  size_t signature = 0;
  int failures = 0;
};

/// By arm and cell, most frequent signature of the run first. Pure.
std::map<std::pair<size_t, std::string>, std::vector<TitleCount>> titles_by_cell(
    const Analysis& analysis);

}  // namespace mpsprobe

#pragma once

#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What follows from the boundaries and cells of this run for the owner of an application: how many
/// threads, processes instead, a lock and what it costs. Each piece names the numbers behind it.
/// Nothing without a failing baseline in the same run: where nothing failed, nothing helps.
/// `remedies` receives, for each group of cells that fails, what a lock and processes do to it.
std::vector<Advice> advise(const Analysis& analysis, std::vector<Remedy>& remedies);

}  // namespace mpsprobe

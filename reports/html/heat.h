#pragma once

#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What a cell looks like at a glance: a sign with failures/trials, and the class of its colour,
/// which says the same. Markup.
std::string heat_sign(const CellSummary& cell);
std::string heat_class(const CellSummary& cell);

/// A field of a table of cells that leads to the cell's row.
std::string heat_field(const Analysis& analysis, const CellSummary& cell);

/// The sentences of the answer, its table, and all cells in one table: a row a kind of cell, a
/// column a number of threads or processes, builds side by side.
std::string answer_html(const Analysis& analysis, const std::string& prefix);

}  // namespace mpsprobe

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

/// What is seen first: a line a build, of the colour of the worst that happened; all cells in one
/// table, a row a kind of cell, a column a number of threads or processes, builds side by side; and
/// the rates of the boundary that tells most.
std::string first_screen_html(const Analysis& analysis, const std::string& prefix);

/// The sentences of the answer, and what to do now.
std::string answer_html(const Analysis& analysis, const std::string& prefix);

}  // namespace mpsprobe

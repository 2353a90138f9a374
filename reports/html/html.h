#pragma once

#include <string>

#include "reports/analysis/analysis.h"
#include "reports/writers/beside.h"

namespace mpsprobe {

/// The report as one page that asks no other file or address for anything: heat maps of the matrix,
/// failure rates with their intervals over threads, every cell with filters, failures with their
/// stacks; and known failures, differences and nights, where there are any to show it beside. Light
/// and dark; by keyboard; each result in words or signs beside its colour; where the device was no
/// real chip, a band that stays in view says so. Its policy lets no script run but its own, which
/// the page works without. Pure.
std::string report_html(const Analysis& analysis, const Beside& beside = {});

/// The boundaries as one drawing, for a README: at most twelve, those that fail first, and how many
/// were left out. Where the device was no real chip, that stands across the top in large letters.
/// No script, and nothing from elsewhere. Pure.
std::string report_svg(const Analysis& analysis);

// The parts of the page.

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

/// Those that show a run beside something else, without headings: known failures and
/// how they stand, what differs from a baseline, and the nights of cells that failed. Pure.
std::string known_html(const Beside::Known& known);
std::string baseline_html(const Beside::Baseline& baseline);
std::string nights_html(const std::vector<CellNights>& nights, bool several_arms);

}  // namespace mpsprobe

#pragma once

#include <string>

#include "reports/writers/beside.h"

namespace mpsprobe {

/// The parts of a page that show a run beside something else, without headings: known failures and
/// how they stand, what differs from a baseline, and the nights of cells that failed. Pure.
std::string known_html(const Beside::Known& known);
std::string baseline_html(const Beside::Baseline& baseline);
std::string nights_html(const std::vector<CellNights>& nights, bool several_arms);

}  // namespace mpsprobe

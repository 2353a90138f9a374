#pragma once

#include <string>

#include "harness/boundary/boundary.h"

namespace mpsprobe {

constexpr int kChartWidth = 560;  ///< in the units of the drawing
constexpr int kChartHeight = 190;

/// An <svg> element that draws failure rates with their 95% intervals over threads or processes.
/// Its colours are the classes that chart_style() defines; what passed is a hollow circle, what
/// failed a full square, and each point has its count written beside it, so that no colour is
/// needed. `label` is plain text, and may be anything. `y` places it in an outer drawing. Pure.
std::string boundary_chart(const Boundary& boundary, const std::string& label, int y = 0);

/// Rules for the classes of boundary_chart and nights_chart, for light and dark.
std::string chart_style();

}  // namespace mpsprobe

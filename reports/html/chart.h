#pragma once

#include <string>

#include "harness/boundary/boundary.h"
#include "harness/statistics/fisher.h"

namespace mpsprobe {

constexpr int kChartWidth = 560;  ///< in the units of the drawing
constexpr int kChartHeight = 190;

/// Where rates are drawn: 0% at the bottom, 100% at the top.
struct ChartArea {
  double top = 0;
  double bottom = 0;
};
constexpr double kChartLeft = 48;  ///< where it begins

/// The beginning of an <svg> element of kChartWidth, with lines at 0, 50 and 100%. `label` and
/// `says` are plain text. Pure.
std::string chart_head(const ChartArea& area, int height, int y, const std::string& label,
                       const std::string& says);

/// What was seen at `x`, with its interval; `says` is shown of it, as markup. `size` is that of a
/// square. Pure.
std::string chart_point(const ChartArea& area, const Proportion& seen, const Interval& rate,
                        double x, double size, const std::string& says);

/// An <svg> element that draws failure rates with their 95% intervals over threads or processes.
/// Its colours are the classes that chart_style() defines; what passed is a hollow circle, what
/// failed a full square, and each point has its count written beside it, so that no colour is
/// needed. `label` is plain text, and may be anything. `y` places it in an outer drawing. Pure.
std::string boundary_chart(const Boundary& boundary, const std::string& label, int y = 0);

/// Rules for the classes of boundary_chart and nights_chart, for light and dark.
std::string chart_style();

}  // namespace mpsprobe

#pragma once

#include <string>
#include <vector>

#include "harness/statistics/fisher.h"
#include "reports/analysis/analysis.h"

namespace mpsprobe {

constexpr int kChartWidth = 560;  ///< in the units of the drawing

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

/// What fails from how many threads, or processes, builds side by side.
struct BoundaryChart {
  std::string label;  ///< plain text, and may be anything
  std::vector<const Boundary*> of_builds;
  std::vector<std::string> builds;  ///< their names; empty where the run has one

  int height() const;
};

/// All boundaries of a run, those that fail first. The analysis outlives them.
std::vector<BoundaryChart> boundary_charts(const Analysis& analysis);

/// An <svg> element that draws failure rates with their 95% intervals over threads or processes.
/// Its colours are the classes that chart_style() defines; what passed is a hollow circle, what
/// failed a full square, and each point has its count written below it, so that no colour is
/// needed. `y` places it in an outer drawing. Pure.
std::string drawn(const BoundaryChart& chart, int y = 0);

/// Rules for the classes of drawn() and nights_chart, for light and dark.
std::string chart_style();

}  // namespace mpsprobe

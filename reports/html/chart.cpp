#include "reports/html/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "harness/statistics/interval.h"
#include "reports/html/markup.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr ChartArea kArea{34, 140};
constexpr int kRow = 15;        // of counts below it, one a build
constexpr size_t kColours = 4;  // of builds
constexpr double kNames = 88;   // room for theirs

// What tells releases apart stands at the end of their names.
std::string end_of(const std::string& name) {
  constexpr size_t kFits = 13;
  const std::string safe = printable(name);
  return safe.size() <= kFits ? safe : ".." + safe.substr(safe.size() - kFits + 2);
}

double height_of(const ChartArea& area, double rate) {
  return area.bottom - rate * (area.bottom - area.top);
}

}  // namespace

std::string chart_head(const ChartArea& area, int height, int y, const std::string& label,
                       const std::string& says) {
  std::string svg = fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" y=\"{}\" width=\"{}\" "
      "height=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\"><title>{}: {}</title><text class=\"name\" "
      "x=\"8\" y=\"18\">{}</text>",
      y, kChartWidth, height, kChartWidth, height, markup(label, 160), markup(says, 1000),
      markup(label, 80));
  for (int percent : {0, 50, 100}) {
    const double line = height_of(area, percent / 100.0);
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"axis\" x=\"{}\" "
        "y=\"{:.1f}\">{}%</text>",
        kChartLeft, line, kChartWidth - 8, kChartLeft - 6, line + 4, percent);
  }
  return svg;
}

std::string chart_point(const ChartArea& area, const Proportion& seen, const Interval& rate,
                        double x, double size, const std::string& says) {
  const double y = height_of(area, static_cast<double>(seen.failures) / seen.trials);
  std::string svg = fmt::format(
      "<g class=\"{}\"><title>{}</title><path class=\"whisker\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>",
      seen.failures > 0 ? "bad" : "good", says, x, height_of(area, rate.low),
      height_of(area, rate.high));
  svg += seen.failures > 0
             ? fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\"/>",
                           x - size / 2, y - size / 2, size, size)
             : fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", x, y, size / 2);
  return svg + "</g>";
}

std::vector<BoundaryChart> boundary_charts(const Analysis& analysis) {
  std::map<std::pair<std::string, std::string>, size_t> places;
  std::vector<BoundaryChart> charts;
  for (const Boundary& boundary : analysis.boundaries) {
    if (boundary.points.empty()) continue;
    const auto [at, first] =
        places.try_emplace({boundary.axis, to_string(boundary.group)}, charts.size());
    if (first) {
      charts.push_back({fmt::format("{} {}, by {}", name_of(boundary.group.backend),
                                    cell_label(boundary.group, {boundary.axis}), boundary.axis),
                        {},
                        {}});
    }
    charts[at->second].of_builds.push_back(&boundary);
    if (analysis.arms.size() > 1) charts[at->second].builds.push_back(boundary.worker);
  }
  std::stable_partition(charts.begin(), charts.end(), [](const BoundaryChart& chart) {
    return std::ranges::any_of(chart.of_builds, [](const Boundary* boundary) {
      return boundary->fewest_failing.has_value();
    });
  });
  return charts;
}

int BoundaryChart::height() const {
  return static_cast<int>(kArea.bottom) + 26 + kRow * static_cast<int>(of_builds.size());
}

std::string drawn(const BoundaryChart& chart, int y) {
  std::set<int32_t> counts;
  std::vector<std::string> says;
  for (const Boundary* boundary : chart.of_builds) {
    for (const BoundaryPoint& point : boundary->points) {
      counts.insert(point.count);
      says.push_back(fmt::format("{}/{} at {}", point.failures, point.trials, point.count));
    }
  }
  std::string svg = chart_head(kArea, chart.height(), y, chart.label, joined(says));
  const double left = chart.builds.empty() ? kChartLeft : kNames;
  const double step = (kChartWidth - 8 - left) / static_cast<double>(counts.size() + 1);
  const auto place = [&](int32_t count) {
    return left + step * static_cast<double>(std::distance(counts.begin(), counts.find(count)) + 1);
  };
  for (const int32_t count : counts) {
    svg += fmt::format("<text class=\"count\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", place(count),
                       kArea.bottom + 17, count);
  }
  svg +=
      fmt::format("<text class=\"axis\" x=\"{}\" y=\"{}\">{}</text>", kChartLeft - 6,
                  kArea.bottom + 17, chart.of_builds.front()->axis == "threads" ? "thr." : "proc.");
  const double apart = std::min(14.0, step / static_cast<double>(chart.of_builds.size() + 1));
  for (size_t i = 0; i < chart.of_builds.size(); ++i) {
    const double aside =
        apart * (static_cast<double>(i) - static_cast<double>(chart.of_builds.size() - 1) / 2);
    const double row = kArea.bottom + 33 + kRow * static_cast<double>(i);
    svg += chart.builds.empty() ? "<g>" : fmt::format("<g class=\"b{}\">", i % kColours);
    for (const BoundaryPoint& point : chart.of_builds[i]->points) {
      svg += chart_point(
          kArea, {point.failures, point.trials}, point.rate, place(point.count) + aside, 8,
          fmt::format("{}: {}", point.count,
                      markup(confidence_in_words(point.failures, point.trials, point.rate))));
      svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}/{}</text>",
                         place(point.count), row, point.failures, point.trials);
    }
    if (!chart.builds.empty()) {
      svg += fmt::format("<text class=\"build\" x=\"8\" y=\"{:.1f}\">{}</text>", row,
                         markup(end_of(chart.builds[i])));
    }
    svg += "</g>";
  }
  return svg + "</svg>\n";
}

std::string chart_style() {
  return ".chart{--ink:#1f2328;--line:#d0d7de;--good:#0a6b2d;--bad:#b3152a;font:12px "
         "system-ui,sans-serif;max-width:100%;height:auto;--b0:#0969da;--b1:#bc4c00;--b2:#8250df;"
         "--b3:#1b7c83}\n"
         "@media (prefers-color-scheme:dark){.chart{--ink:#e6edf3;--line:#3d444d;--good:#56d364;"
         "--bad:#ff8a80;--b0:#58a6ff;--b1:#f0883e;--b2:#bc8cff;--b3:#39c5cf}}\n"
         ".chart text{fill:var(--ink)}.chart .name{font-weight:600;font-size:13px}\n"
         ".chart .axis{text-anchor:end}.chart .count,.chart .tick{text-anchor:middle}\n"
         ".chart .count{font-weight:600}.chart .grid{stroke:var(--line);fill:none}\n"
         ".chart .mark{stroke:var(--ink);fill:none}\n"
         ".chart .whisker{stroke-width:2;fill:none}.chart .good *{stroke:var(--good);"
         "stroke-width:2;fill:none}\n"
         ".chart .bad *{stroke:var(--bad);fill:var(--bad)}\n"
         ".chart .b0{--good:var(--b0);--bad:var(--b0)}.chart .b1{--good:var(--b1);--bad:var(--b1)}"
         ".chart .b2{--good:var(--b2);--bad:var(--b2)}.chart "
         ".b3{--good:var(--b3);--bad:var(--b3)}\n"
         ".chart .build,.chart [class^=b] .tick{fill:var(--bad);font-weight:600}\n";
}

}  // namespace mpsprobe

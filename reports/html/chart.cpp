#include "reports/html/chart.h"

#include <fmt/format.h>

#include "harness/statistics/interval.h"
#include "reports/claims/boundary_fields.h"
#include "reports/html/markup.h"
#include "reports/words/wording.h"

namespace mpsprobe {
namespace {

constexpr double kLeft = 48;
constexpr double kTop = 44;
constexpr double kBottom = 150;

double height_of(double rate) {
  return kBottom - rate * (kBottom - kTop);
}

std::string point_svg(const BoundaryPoint& point, double x) {
  const Interval& rate = point.rate;
  const double seen = static_cast<double>(point.failures) / point.trials;
  const double y = height_of(seen);
  const char* kind = point.failures > 0 ? "bad" : "good";
  std::string svg = fmt::format(
      "<g class=\"{}\"><title>{}: {}</title><path class=\"whisker\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>",
      kind, point.count, markup(confidence_in_words(point.failures, point.trials, rate)), x,
      height_of(rate.low), height_of(rate.high));
  svg +=
      point.failures > 0
          ? fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"8\"/>", x - 4, y - 4)
          : fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", x, y);
  return svg + fmt::format(
                   "</g><text class=\"count\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text><text "
                   "class=\"tick\" x=\"{:.1f}\" y=\"183\">{}/{}</text>",
                   x, kBottom + 17, point.count, x, point.failures, point.trials);
}

}  // namespace

std::string boundary_chart(const Boundary& boundary, const std::string& label, int y) {
  std::string svg = fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" y=\"{}\" width=\"{}\" "
      "height=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\"><title>{}: {}</title><text class=\"name\" "
      "x=\"8\" y=\"18\">{}</text>",
      y, kChartWidth, kChartHeight, kChartWidth, kChartHeight, markup(label, 160),
      markup(boundary_in_words(boundary), 1000), markup(label, 80));
  for (int percent : {0, 50, 100}) {
    const double line = height_of(percent / 100.0);
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"axis\" x=\"{}\" "
        "y=\"{:.1f}\">{}%</text>",
        kLeft, line, kChartWidth - 8, kLeft - 6, line + 4, percent);
  }
  const double step = (kChartWidth - 8 - kLeft) / static_cast<double>(boundary.points.size() + 1);
  double x = kLeft;
  for (const BoundaryPoint& point : boundary.points) svg += point_svg(point, x += step);
  svg += fmt::format("<text class=\"axis\" x=\"{}\" y=\"{}\">{}</text>", kLeft - 6, kBottom + 17,
                     boundary.axis == "threads" ? "thr." : "proc.");
  return svg + "</svg>\n";
}

std::string chart_style() {
  return ".chart{--ink:#1f2328;--line:#d0d7de;--good:#0a6b2d;--bad:#b3152a;font:12px "
         "system-ui,sans-serif;max-width:100%}\n"
         "@media (prefers-color-scheme:dark){.chart{--ink:#e6edf3;--line:#3d444d;--good:#56d364;"
         "--bad:#ff8a80}}\n"
         ".chart text{fill:var(--ink)}.chart .name{font-weight:600;font-size:13px}\n"
         ".chart .axis{text-anchor:end}.chart .count,.chart .tick{text-anchor:middle}\n"
         ".chart .count{font-weight:600}.chart .grid{stroke:var(--line);fill:none}\n"
         ".chart .mark{stroke:var(--ink);fill:none}\n"
         ".chart .whisker{stroke-width:2;fill:none}.chart .good *{stroke:var(--good);"
         "stroke-width:2;fill:none}\n"
         ".chart .bad *{stroke:var(--bad);fill:var(--bad)}\n";
}

}  // namespace mpsprobe

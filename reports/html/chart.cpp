#include "reports/html/chart.h"

#include <fmt/format.h>

#include "harness/statistics/interval.h"
#include "reports/claims/boundary_fields.h"
#include "reports/html/markup.h"
#include "reports/words/report_words.h"

namespace mpsprobe {
namespace {

constexpr ChartArea kArea{44, 150};

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

std::string boundary_chart(const Boundary& boundary, const std::string& label, int y) {
  std::string svg = chart_head(kArea, kChartHeight, y, label, boundary_in_words(boundary));
  const double step =
      (kChartWidth - 8 - kChartLeft) / static_cast<double>(boundary.points.size() + 1);
  double x = kChartLeft;
  for (const BoundaryPoint& point : boundary.points) {
    x += step;
    svg += chart_point(
        kArea, {point.failures, point.trials}, point.rate, x, 8,
        fmt::format("{}: {}", point.count,
                    markup(confidence_in_words(point.failures, point.trials, point.rate))));
    svg += fmt::format(
        "<text class=\"count\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text><text class=\"tick\" "
        "x=\"{:.1f}\" y=\"183\">{}/{}</text>",
        x, kArea.bottom + 17, point.count, x, point.failures, point.trials);
  }
  svg += fmt::format("<text class=\"axis\" x=\"{}\" y=\"{}\">{}</text>", kChartLeft - 6,
                     kArea.bottom + 17, boundary.axis == "threads" ? "thr." : "proc.");
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

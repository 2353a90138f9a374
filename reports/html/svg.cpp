#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/html/chart.h"
#include "reports/html/html.h"
#include "reports/html/markup.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostCharts = 12;
constexpr int kHeading = 40;

}  // namespace

std::string report_svg(const Analysis& analysis) {
  std::vector<BoundaryChart> shown = boundary_charts(analysis);
  const size_t left_out = shown.size() - std::min(shown.size(), kMostCharts);
  shown.resize(shown.size() - left_out);
  const std::string prefix(class_prefix(analysis));
  std::string heading = prefix + "failure rates with 95% intervals";
  if (shown.empty()) heading = prefix + "no boundary: no cell has two counts with a result";
  if (left_out > 0) heading += " (" + counted(left_out, "more boundaries") + " in the report)";
  int height = kHeading;
  for (const BoundaryChart& chart : shown) height += chart.height();
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- mpsprobe report: svg -->\n"
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{}</title>\n<style>{}"
      ".chart .class{{font-weight:700;font-size:15px}}</style>\n"
      "<text class=\"{}\" x=\"8\" y=\"24\">{}</text>\n",
      kChartWidth, height, kChartWidth, height, markup(heading), chart_style(),
      prefix.empty() ? "name" : "class", markup(heading));
  int y = kHeading;
  for (BoundaryChart& chart : shown) {
    chart.label = prefix + chart.label;
    svg += drawn(chart, y);
    y += chart.height();
  }
  return svg + "</svg>\n";
}

}  // namespace mpsprobe

#include "reports/html/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/html/chart.h"
#include "reports/html/markup.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostCharts = 12;
constexpr int kHeading = 40;

}  // namespace

std::string report_svg(const Analysis& analysis) {
  std::vector<const Boundary*> shown;
  for (const Boundary& boundary : analysis.boundaries) shown.push_back(&boundary);
  std::stable_partition(shown.begin(), shown.end(), [](const Boundary* boundary) {
    return boundary->fewest_failing.has_value();
  });
  const size_t left_out = shown.size() - std::min(shown.size(), kMostCharts);
  shown.resize(shown.size() - left_out);
  const std::string prefix(class_prefix(analysis));
  std::string heading = prefix + "failure rates with 95% intervals";
  if (shown.empty()) heading = prefix + "no boundary: no cell has two counts with a result";
  if (left_out > 0) heading += " (" + counted(left_out, "more boundaries") + " in the report)";
  const int height = kHeading + static_cast<int>(shown.size()) * kChartHeight;
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- mpsprobe report: svg -->\n"
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{}</title>\n<style>{}"
      ".chart .class{{font-weight:700;font-size:15px}}</style>\n"
      "<text class=\"{}\" x=\"8\" y=\"24\">{}</text>\n",
      kChartWidth, height, kChartWidth, height, markup(heading), chart_style(),
      prefix.empty() ? "name" : "class", markup(heading));
  int y = kHeading;
  for (const Boundary* boundary : shown) {
    std::string label = prefix + std::string(name_of(boundary->group.backend)) + " " +
                        cell_label(boundary->group, {boundary->axis}) + ", by " + boundary->axis;
    label = with_arm(analysis, label, boundary->worker);
    svg += boundary_chart(*boundary, label, y);
    y += kChartHeight;
  }
  return svg + "</svg>\n";
}

}  // namespace mpsprobe

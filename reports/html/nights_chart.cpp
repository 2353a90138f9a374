#include "reports/html/nights_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/statistics/anytime.h"
#include "harness/statistics/nights.h"
#include "reports/html/chart.h"
#include "reports/html/markup.h"
#include "reports/words/phrases.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostShownNights = 90;
constexpr double kNightsLeft = 48;
constexpr double kNightsTop = 30;
constexpr double kNightsBottom = 110;
constexpr int kNightsHeight = 136;

double level_of(double rate) {
  return kNightsBottom - rate * (kNightsBottom - kNightsTop);
}

std::string night_svg(const SeriesNight& night, double x) {
  const auto [failures, trials] = night.seen;
  const Interval rate = rate_interval(Sampling::fixed, failures, trials);
  const double y = level_of(static_cast<double>(failures) / trials);
  std::string svg = fmt::format(
      "<g class=\"{}\"><title>{}: {}/{}, {}</title><path class=\"whisker\" d=\"M{:.1f} "
      "{:.1f}V{:.1f}\"/>",
      failures > 0 ? "bad" : "good", markup(night.started, 40), failures, trials,
      markup(night.library, 120), x, level_of(rate.low), level_of(rate.high));
  svg += failures > 0 ? fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"5\" height=\"5\"/>",
                                    x - 2.5, y - 2.5)
                      : fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>", x, y);
  return svg + "</g>";
}

std::string upright(double x, const char* dashes) {
  return fmt::format("<path class=\"mark\"{} d=\"M{:.1f} {}V{}\"/>", dashes, x, kNightsTop,
                     kNightsBottom);
}

}  // namespace

std::string nights_chart(const CellNights& series, const std::string& label) {
  const size_t first = series.nights.size() - std::min(series.nights.size(), kMostShownNights);
  const size_t shown = series.nights.size() - first;
  const double step = (kChartWidth - 8 - kNightsLeft) / static_cast<double>(shown + 1);
  const auto place = [&](size_t night) {
    return kNightsLeft + step * static_cast<double>(night - first + 1);
  };
  std::string svg = fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "viewBox=\"0 0 {} {}\" role=\"img\"><title>{}: {}</title><text class=\"name\" x=\"8\" "
      "y=\"18\">{}</text>",
      kChartWidth, kNightsHeight, kChartWidth, kNightsHeight, markup(label, 160),
      counted(static_cast<int64_t>(shown), "nights"), markup(label, 80));
  for (int percent : {0, 50, 100}) {
    const double line = level_of(percent / 100.0);
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"axis\" x=\"{}\" "
        "y=\"{:.1f}\">{}%</text>",
        kNightsLeft, line, kChartWidth - 8, kNightsLeft - 6, line + 4, percent);
  }
  std::vector<Proportion> counts;
  for (const SeriesNight& night : series.nights) counts.push_back(night.seen);
  for (const ClaimedShift& claimed : claimed_shifts(counts)) {
    if (claimed.night >= first) svg += upright(place(claimed.night) - step / 2, "");
  }
  for (size_t night = first; night < series.nights.size(); ++night) {
    const bool changed =
        night > first && series.nights[night].library != series.nights[night - 1].library;
    if (changed) svg += upright(place(night) - step / 2, " stroke-dasharray=\"3 3\"");
    svg += night_svg(series.nights[night], place(night));
  }
  const auto day = [](const SeriesNight& night) { return markup(night.started.substr(0, 10), 10); };
  return svg + fmt::format(
                   "<text class=\"first\" x=\"{}\" y=\"{}\">{}</text><text class=\"axis\" x=\"{}\" "
                   "y=\"{}\">{}</text></svg>\n",
                   kNightsLeft, kNightsBottom + 18, day(series.nights[first]), kChartWidth - 8,
                   kNightsBottom + 18, day(series.nights.back()));
}

}  // namespace mpsprobe

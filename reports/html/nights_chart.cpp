#include "reports/html/nights_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/statistics/anytime.h"
#include "harness/statistics/nights.h"
#include "reports/html/chart.h"
#include "reports/html/markup.h"
#include "reports/words/counted.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostShownNights = 90;
constexpr ChartArea kNights{30, 110};
constexpr int kNightsHeight = 136;

std::string night_svg(const SeriesNight& night, double x) {
  const auto [failures, trials] = night.seen;
  return chart_point(kNights, night.seen, rate_interval(Sampling::fixed, failures, trials), x, 5,
                     fmt::format("{}: {}/{}, {}", markup(night.started, 40), failures, trials,
                                 markup(night.library, 120)));
}

std::string upright(double x, const char* dashes) {
  return fmt::format("<path class=\"mark\"{} d=\"M{:.1f} {}V{}\"/>", dashes, x, kNights.top,
                     kNights.bottom);
}

}  // namespace

std::string nights_chart(const CellNights& series, const std::string& label) {
  const size_t first = series.nights.size() - std::min(series.nights.size(), kMostShownNights);
  const size_t shown = series.nights.size() - first;
  const double step = (kChartWidth - 8 - kChartLeft) / static_cast<double>(shown + 1);
  const auto place = [&](size_t night) {
    return kChartLeft + step * static_cast<double>(night - first + 1);
  };
  std::string svg = chart_head(kNights, kNightsHeight, 0, label, counted(shown, "nights"));
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
                   kChartLeft, kNights.bottom + 18, day(series.nights[first]), kChartWidth - 8,
                   kNights.bottom + 18, day(series.nights.back()));
}

}  // namespace mpsprobe

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "harness/statistics/anytime.h"
#include "harness/statistics/nights.h"
#include "reports/claims/change_claim.h"
#include "reports/difference/difference_words.h"
#include "reports/expectations/expectation_words.h"
#include "reports/html/chart.h"
#include "reports/html/html.h"
#include "reports/html/markup.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/writers/beside.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostRows = 500;
constexpr size_t kMostNightCharts = 100;

std::string ratio(const Proportion& seen) {
  return seen.trials == 0 ? "" : fmt::format("{}/{}", seen.failures, seen.trials);
}

std::string table_row(std::initializer_list<std::string> cells) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) row += "<td>" + markup(cell, 400) + "</td>";
  return row + "</tr>\n";
}

std::string table_of(std::initializer_list<std::string_view> columns, const std::string& rows,
                     size_t count) {
  std::string html = "<div class=\"wide\"><table><thead><tr>";
  for (const std::string_view column : columns) {
    html += fmt::format("<th scope=\"col\">{}</th>", column);
  }
  html += "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
  if (count > kMostRows) html += fmt::format("<p>and {} more</p>\n", count - kMostRows);
  return html;
}

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

/// An <svg> element that draws the failure rates of a cell's last 90 nights with their 95%
/// intervals, in the style of boundary_chart: hollow circles passed, full squares failed, each with
/// date, counts and library in its title; a dashed line where the library changed, a full one where
/// the rate did (claimed_shifts). Pure.
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

}  // namespace

std::string known_html(const Beside::Known& known) {
  std::string html;
  const auto& unknown = known.findings.unknown;
  html += fmt::format("<p>{}</p>\n",
                      unknown.empty()
                          ? "Nothing failed that is not known."
                          : fmt::format("<strong>New</strong>: no entry knows {} of a cell.",
                                        counted(unknown.size(), "failures")));
  std::string rows;
  for (size_t i = 0; i < unknown.size() && i < kMostRows; ++i) {
    rows +=
        table_row({unknown[i].cell, unknown[i].arm, ratio(unknown[i].seen),
                   unknown[i].signature +
                       (unknown[i].otherwise_known ? " (known there is another failure)" : "")});
  }
  if (!rows.empty()) {
    html += table_of({"cell", "worker", "failed", "signature"}, rows, unknown.size());
  }
  rows.clear();
  const auto& judged = known.findings.entries;
  for (size_t i = 0; i < judged.size() && i < kMostRows; ++i) {
    const KnownFailure& entry = known.entries[judged[i].entry];
    rows += table_row({standing_in_words(judged[i]), where_words(entry.where), what_of(entry),
                       ratio(judged[i].tonight), ratio(entry.seen), entry.issue});
  }
  if (rows.empty()) return html;
  return html + table_of({"known failure", "where", "what", "this run", "known as", "issue"}, rows,
                         judged.size());
}

std::string baseline_html(const Beside::Baseline& baseline) {
  const Difference& difference = baseline.difference;
  std::string html = fmt::format(
      "<p>Compared with {}, of {}: {} in both, {} claimed.</p>\n",
      markup(baseline.before.name, 200), markup(baseline.before.started, 40),
      counted(difference.compared, "cells"), counted(difference.changes.size(), "changes"));
  const Unlike other = unlike(baseline.before, baseline.after);
  for (const auto& list : {other.machines, other.libraries}) {
    for (const std::string& words : list) html += "<p>Unlike: " + markup(words, 400) + "</p>\n";
  }
  std::string rows;
  size_t count = 0;
  for (const auto& list : {difference.changes, difference.unclear}) {
    for (const CellChange& change : list) {
      if (++count > kMostRows) continue;
      rows += table_row({std::string(in_words(change.change)), change.cell, change.arm,
                         ratio(change.before), ratio(change.after), change.title});
    }
  }
  if (rows.empty()) return html;
  return html + table_of({"change", "cell", "worker", "then", "now", "signature"}, rows, count);
}

std::string nights_html(const std::vector<CellNights>& nights, bool several_arms) {
  std::string html =
      "<p class=\"soft\">Failure rates of a night each, with 95%: hollow circles passed, full "
      "squares "
      "failed; a dashed line: another library; a full line: the rate changed.</p>\n";
  for (size_t i = 0; i < nights.size() && i < kMostNightCharts; ++i) {
    const CellNights& series = nights[i];
    const std::string label = (series.simulated ? "SIMULATED " : "") + series.cell +
                              (several_arms ? " (" + series.arm + ")" : "");
    html += nights_chart(series, label);
    std::vector<Proportion> counts;
    for (const SeriesNight& night : series.nights) counts.push_back(night.seen);
    for (const ClaimedShift& claimed : claimed_shifts(counts)) {
      html += fmt::format("<p>{}: since {} {}</p>\n", markup(label, 200),
                          markup(series.nights[claimed.night].started.substr(0, 10)),
                          markup(shift_in_words(claimed.shift)));
    }
  }
  if (nights.size() > kMostNightCharts) {
    html += fmt::format("<p>and {} more cells</p>\n", nights.size() - kMostNightCharts);
  }
  return html;
}

}  // namespace mpsprobe

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "reports/claims/families.h"
#include "reports/html/chart.h"
#include "reports/html/html.h"
#include "reports/html/markup.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

// Of the worst that happened in any cell of a build, and none where nothing counts.
std::string colour_of(const Analysis& analysis, size_t arm) {
  const auto any = [&](auto shows) {
    return std::ranges::any_of(
        analysis.cells, [&](const CellSummary& cell) { return cell.arm == arm && shows(cell); });
  };
  if (!any([](const CellSummary& cell) { return cell.counted > 0; })) {
    return any([](const CellSummary& cell) { return cell.refused > 0; }) ? "refused" : "";
  }
  if (!any([&](const CellSummary& cell) { return fails(analysis, cell); })) {
    return any([](const CellSummary& cell) { return cell.failures > 0; }) ? "h1" : "h0";
  }
  constexpr std::array kGrave{Outcome::signal,  Outcome::assertion, Outcome::exit,
                              Outcome::missing, Outcome::hang,      Outcome::wrong_result};
  const bool grave = any([&kGrave](const CellSummary& cell) {
    return std::ranges::any_of(cell.outcomes, [&kGrave](const OutcomeCount& count) {
      return std::ranges::find(kGrave, count.outcome) != kGrave.end();
    });
  });
  return grave ? "h4" : "h3";
}

// A build's headline, in its colour.
std::string build_line(const Analysis& analysis, const std::string& prefix, size_t arm) {
  std::string words;
  for (const AnswerLine& line : analysis.answer.lines) {
    if (line.arm != arm) continue;
    const bool named = !line.name.empty() && line.text.starts_with(line.name);
    words += words.empty() ? "" : "<br>";
    if (named) words += fmt::format("<strong>{}</strong>", markup(prefix + line.name, 120));
    words += markup(line.text.substr(named ? line.name.size() : 0), 300);
  }
  if (words.empty()) return "";
  return fmt::format("<li class=\"{}\">{}</li>\n", colour_of(analysis, arm), words);
}

std::string table_of_all(const Analysis& analysis) {
  constexpr size_t kMostFamilies = 400;
  const std::vector<Family> families = families_of(analysis);
  std::vector<std::set<int32_t>> counts(analysis.arms.size());  // no column without a value
  for (const Family& family : families) {
    for (size_t arm = 0; arm < family.by_arm.size(); ++arm) {
      for (const CellSummary* cell : family.by_arm[arm]) {
        if (!cell->outcomes.empty()) counts[arm].insert(count_in(family, *cell));
      }
    }
  }
  std::string html =
      "<div class=\"wide\"><table class=\"map\"><caption>Failures / trials, by threads or "
      "processes</caption>\n<thead>";
  if (analysis.arms.size() > 1) {
    html += "<tr><th></th>";
    for (size_t arm = 0; arm < counts.size(); ++arm) {
      if (counts[arm].empty()) continue;
      html += fmt::format("<th scope=\"colgroup\" colspan=\"{}\">{}</th>", counts[arm].size(),
                          markup(analysis.arms[arm].label, 60));
    }
    html += "</tr>\n";
  }
  html += "<tr><th scope=\"col\">cells</th>";
  for (const std::set<int32_t>& of_arm : counts) {
    for (const int32_t count : of_arm) html += fmt::format("<th scope=\"col\">{}</th>", count);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < std::min(families.size(), kMostFamilies); ++i) {
    const Family& family = families[i];
    html += "<tr><th scope=\"row\">" + markup(family.label, 200) + "</th>";
    for (size_t arm = 0; arm < family.by_arm.size(); ++arm) {
      const auto& cells = family.by_arm[arm];
      for (const int32_t count : counts[arm]) {
        const auto at = std::find_if(cells.begin(), cells.end(), [&](const CellSummary* cell) {
          return count_in(family, *cell) == count;
        });
        html += at == cells.end() ? "<td></td>" : heat_field(analysis, **at);
      }
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (families.size() > kMostFamilies) {
    html += fmt::format("<p class=\"soft\">{} more kinds of cell are in the lists below.</p>\n",
                        families.size() - kMostFamilies);
  }
  return html;
}

}  // namespace

std::string heat_sign(const CellSummary& cell) {
  if (!cell.has_rate()) return "&ndash; " + markup(standing_of(cell).word, 20);
  const char* sign = cell.failures == 0              ? "\xE2\x9C\x93"
                     : cell.failures == cell.counted ? "\xE2\x9C\x95"
                                                     : "\xE2\x89\x88";
  return fmt::format("{} {}/{}", sign, cell.failures, cell.counted);
}

std::string heat_class(const CellSummary& cell) {
  std::string heat;
  if (cell.has_rate()) {
    const double rate = static_cast<double>(cell.failures) / cell.counted;
    heat = cell.failures == 0 ? "h0" : rate <= 0.1 ? "h1" : rate <= 0.5 ? "h2" : "h3";
    if (cell.failures == cell.counted && cell.failures > 0) heat = "h4";
  } else if (cell.refused > 0) {
    heat = "refused";
  }
  if (cell.expected == Expected::unmet) heat += " unexpected";
  return heat;
}

std::string heat_field(const Analysis& analysis, const CellSummary& cell) {
  return fmt::format("<td class=\"{}\"><a href=\"#c{}\">{}</a></td>", heat_class(cell),
                     static_cast<size_t>(&cell - analysis.cells.data()), heat_sign(cell));
}

std::string first_screen_html(const Analysis& analysis, const std::string& prefix) {
  std::string html = "<ul class=\"builds\">\n";
  for (size_t arm = 0; arm < analysis.arms.size(); ++arm) {
    html += build_line(analysis, prefix, arm);
  }
  html += "</ul>\n";
  if (analysis.cells.empty()) return html;
  const std::vector<BoundaryChart> charts = boundary_charts(analysis);
  return html + "<div class=\"first\">\n" + table_of_all(analysis) +
         (charts.empty() ? "" : drawn(charts.front())) +
         "</div>\n<p class=\"soft\">\xE2\x9C\x93 no failure, \xE2\x89\x88 some trials failed, "
         "\xE2\x9C\x95 all failed; &ndash; no result, or refused by the library; a frame: not as "
         "expected. Arrow keys go from cell to cell, <kbd>/</kbd> to the filter.</p>\n";
}

std::string answer_html(const Analysis& analysis, const std::string& prefix) {
  std::string html = "<ul class=\"answer\">\n";
  for (const AnswerLine& line : analysis.answer.lines) {
    if (!line.arm) html += "<li>" + markup(prefix + line.text, 2000) + "</li>\n";
  }
  for (const std::string& step : analysis.answer.next) {
    html += "<li class=\"next\">" +
            with_code(
                step, [](std::string_view plain) { return markup(plain, 1000); },
                [](std::string_view code) { return "<code>" + markup(code, 1000) + "</code>"; }) +
            "</li>\n";
  }
  return html + "</ul>\n";
}

}  // namespace mpsprobe

#include "reports/html/heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "reports/analysis/common_axes.h"
#include "reports/claims/families.h"
#include "reports/html/markup.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

std::string table_of_answer(const Analysis& analysis) {
  const AnswerTable& table = analysis.answer.table;
  if (table.rows.empty()) return "";
  std::string html = fmt::format(
      "<div class=\"wide\"><table><thead><tr><th scope=\"col\">{}</th><th "
      "scope=\"col\">by</th>",
      markup(cells_head(analysis)));
  for (const std::string& build : table.builds) {
    html += "<th scope=\"col\">" + markup(build, 60) + "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const AnswerTable::Row& row : table.rows) {
    html += "<tr><th scope=\"row\">" + markup(row.cells, 400) + "</th><td>" + row.axis + "</td>";
    for (const std::string& field : row.fields) html += "<td>" + markup(field, 200) + "</td>";
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (table.left_out > 0) {
    html += fmt::format("<p class=\"soft\">{} more rows: see the table of all cells.</p>\n",
                        table.left_out);
  }
  return html;
}

std::string table_of_all(const Analysis& analysis) {
  constexpr size_t kMostFamilies = 400;
  const std::vector<Family> families = families_of(analysis);
  std::set<int32_t> counts;
  for (const Family& family : families) {
    for (const auto& cells : family.by_arm) {
      for (const CellSummary* cell : cells) counts.insert(count_in(family, *cell));
    }
  }
  std::string html =
      "<div class=\"wide\"><table class=\"map\"><caption>Failures / trials by number of threads, "
      "or of processes where the row says so</caption>\n<thead>";
  if (analysis.arms.size() > 1) {
    html += "<tr><th></th>";
    for (const Arm& arm : analysis.arms) {
      html += fmt::format("<th scope=\"colgroup\" colspan=\"{}\">{}</th>", counts.size(),
                          markup(arm.label, 60));
    }
    html += "</tr>\n";
  }
  html += "<tr><th scope=\"col\">cells</th>";
  for (size_t arm = 0; arm < analysis.arms.size(); ++arm) {
    for (const int32_t count : counts) html += fmt::format("<th scope=\"col\">{}</th>", count);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < std::min(families.size(), kMostFamilies); ++i) {
    const Family& family = families[i];
    html += "<tr><th scope=\"row\">" + markup(family.label, 200) + "</th>";
    for (const auto& cells : family.by_arm) {
      for (const int32_t count : counts) {
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
  return html +
         "<p class=\"soft\">\xE2\x9C\x93 no failure, \xE2\x89\x88 some trials failed, \xE2\x9C\x95 "
         "all failed; &ndash; no result, or refused by the library; a frame: not as expected. "
         "Arrow "
         "keys go from cell to cell, <kbd>/</kbd> to the filter.</p>\n";
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

std::string answer_html(const Analysis& analysis, const std::string& prefix) {
  std::string html = "<ul class=\"answer\">\n";
  for (const std::string& sentence : analysis.answer.sentences) {
    html += "<li>" + markup(prefix + sentence, 2000) + "</li>\n";
  }
  for (const std::string& step : analysis.answer.next) {
    html += "<li class=\"next\">" +
            with_code(
                step, [](std::string_view plain) { return markup(plain, 1000); },
                [](std::string_view code) { return "<code>" + markup(code, 1000) + "</code>"; }) +
            "</li>\n";
  }
  html += "</ul>\n" + table_of_answer(analysis);
  return html + (analysis.cells.empty() ? "" : table_of_all(analysis));
}

}  // namespace mpsprobe

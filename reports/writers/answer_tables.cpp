#include "reports/writers/answer_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "reports/analysis/common_axes.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// The table with its head, each field by `written`.
Rows rows_of(const Analysis& analysis, size_t most, std::string (*written)(std::string_view)) {
  const AnswerTable& table = analysis.answer.table;
  Rows rows{{written(cells_head(analysis))}};
  for (const std::string& build : table.builds) rows[0].push_back(written(build));
  for (const AnswerTable::Row& row : table.rows) {
    if (rows.size() > most) break;
    rows.push_back({written(row.cells)});
    for (const std::string& field : row.fields) rows.back().push_back(written(field));
  }
  return rows;
}

// How many rows there are more, and where.
std::string remainder(const Analysis& analysis, std::string_view where) {
  const size_t rows = analysis.answer.table.rows.size();
  if (rows <= kMostKinds) return "";
  return fmt::format("and {} {}\n", counted(rows - kMostKinds, "more rows"), where);
}

std::string in_markdown(std::string_view text) {
  return escaped(text, 400);
}

// One row of several columns, each wrapped within its width.
std::string columns(const std::vector<std::string>& fields, const std::vector<size_t>& widths) {
  std::vector<std::vector<std::string>> lines;
  size_t height = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    lines.push_back(wrapped(fields[i], widths[i], 2));
    height = std::max(height, lines.back().size());
  }
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    std::string row;
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string part = line < lines[i].size() ? lines[i][line] : "";
      row += fmt::format("{:<{}}", part, widths[i] + 2);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows, size_t width) {
  constexpr size_t kLeastWidth = 12;
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    if (row.size() > widths.size()) widths.resize(row.size(), 0);
    for (size_t i = 0; i < row.size() && row.size() > 1; ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  // What is too wide gives from the widest column.
  const auto all = [&widths] {
    size_t sum = 2 * (widths.size() - 1);
    for (const size_t each : widths) sum += each;
    return sum;
  };
  while (all() > width) {
    size_t& widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= kLeastWidth) break;
    --widest;
  }
  std::string text;
  for (const auto& row : rows) {
    if (row.size() > 1) {
      text += columns(row, widths);
      continue;
    }
    for (const std::string& line : wrapped("    " + row.front(), width, 4)) text += line + "\n";
  }
  return text;
}

std::string markdown_table(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("| {} |\n", fmt::join(row, " | "));
    if (&row != &rows.front()) continue;
    for (size_t i = 0; i < row.size(); ++i) text += i == 0 ? "|---|" : "---|";
    text += '\n';
  }
  return text;
}

std::string terminal_answer_table(const Analysis& analysis, size_t width) {
  if (analysis.answer.table.rows.size() < 2 && analysis.failures == 0) return "";
  return text_table(
             rows_of(analysis, kMostKinds, [](std::string_view text) { return printable(text); }),
             width) +
         remainder(analysis, "in report.md") + "\n";
}

std::string with_stress(const AnswerLine& line, std::string (*plain)(std::string_view),
                        std::string (*stressed)(std::string_view)) {
  const std::string_view text = line.text;
  std::string written;
  size_t at = 0;
  for (const std::string_view word : {std::string_view(line.name), std::string_view(line.worst)}) {
    const size_t found = word.empty() ? std::string_view::npos : text.find(word, at);
    if (found == std::string_view::npos) continue;
    written += plain(text.substr(at, found - at)) + stressed(word);
    at = found + word.size();
  }
  return written + plain(text.substr(at));
}

std::string markdown_answer(const Analysis& analysis) {
  const auto plain = [](std::string_view text) { return escaped(text, 2000); };
  std::string text;
  for (const AnswerLine& line : analysis.answer.lines) {
    text += fmt::format("- {}{}\n", class_prefix(analysis),
                        with_stress(line, plain, [](std::string_view word) {
                          return "**" + escaped(word, 200) + "**";
                        }));
  }
  for (const std::string& step : analysis.answer.next) {
    text += "- " +
            with_code(step, plain, [](std::string_view code) { return code_span(code, 1000); }) +
            "\n";
  }
  text += '\n';
  if (analysis.answer.table.rows.empty()) return text;
  const std::string rest = remainder(analysis, "below");
  return text + markdown_table(rows_of(analysis, kMostKinds, in_markdown)) +
         (rest.empty() ? "" : "\n" + rest) + "\n";
}

std::string markdown_kinds(const Analysis& analysis, const std::string& heading) {
  if (analysis.answer.table.rows.size() <= kMostKinds) return "";
  return heading + "Kinds of cell\n\n" +
         markdown_table(rows_of(analysis, analysis.answer.table.rows.size(), in_markdown)) + "\n";
}

}  // namespace mpsprobe

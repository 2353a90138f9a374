#include "reports/writers/answer_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "reports/analysis/common_axes.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

std::string remainder(const AnswerTable& table) {
  if (table.left_out == 0) return "";
  return fmt::format("and {} more: see the boundaries", counted(table.left_out, "rows"));
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

std::string markdown_answer_table(const Analysis& analysis) {
  const AnswerTable& table = analysis.answer.table;
  if (table.rows.empty()) return "";
  std::string text = "| " + escaped(cells_head(analysis)) + " | by |";
  std::string rule = "|---|---|";
  for (const std::string& build : table.builds) {
    text += " " + escaped(build, 60) + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const AnswerTable::Row& row : table.rows) {
    text += "| " + escaped(row.cells) + " | " + row.axis + " |";
    for (const std::string& field : row.fields) text += " " + escaped(field, 120) + " |";
    text += '\n';
  }
  const std::string rest = remainder(table);
  return text + (rest.empty() ? "" : "\n" + rest + ".\n") + "\n";
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

std::string terminal_answer_table(const Analysis& analysis, size_t width) {
  const AnswerTable& table = analysis.answer.table;
  if (table.rows.size() < 2) return "";
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> head{cells_head(analysis)};
  for (const std::string& build : table.builds) head.push_back(printable(build));
  rows.push_back(std::move(head));
  for (const AnswerTable::Row& row : table.rows) {
    std::vector<std::string> fields{printable(row.cells)};
    for (const std::string& field : row.fields) fields.push_back(printable(field));
    rows.push_back(std::move(fields));
  }
  const std::string rest = remainder(table);
  return text_table(rows, width) + (rest.empty() ? "" : rest + "\n") + "\n";
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
  return text + "\n" + markdown_answer_table(analysis);
}

}  // namespace mpsprobe

#include "reports/writers/answer_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/analysis/common_axes.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("| {} |\n", fmt::join(row, " | "));
    if (&row != &rows.front()) continue;
    for (size_t i = 0; i < row.size(); ++i) text += i == 0 ? "|---|" : "---|";
    text += '\n';
  }
  return text;
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
  const AnswerTable& table = analysis.answer.table;
  if (table.rows.empty()) return text;
  std::vector<std::vector<std::string>> rows{{escaped(cells_head(analysis))}};
  for (const std::string& build : table.builds) rows[0].push_back(escaped(build));
  for (const AnswerTable::Row& row : table.rows) {
    if (rows.size() > kMostKinds) break;
    rows.push_back({escaped(row.cells)});
    for (const std::string& field : row.fields) rows.back().push_back(escaped(field));
  }
  text += markdown_table(rows) + "\n";
  if (table.rows.size() <= kMostKinds) return text;
  return text +
         fmt::format("and {} below\n\n", counted(table.rows.size() - kMostKinds, "more rows"));
}

}  // namespace mpsprobe

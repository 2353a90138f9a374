#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "reports/analysis/common_axes.h"
#include "reports/groups/group_words.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/forms.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFailures = 10;
constexpr size_t kMostUnexpected = 20;
constexpr size_t kMostReasons = 5;
constexpr size_t kUsualWidth = 80;

constexpr std::string_view kRed = "31";
constexpr std::string_view kYellow = "33";
constexpr std::string_view kBold = "1";

std::string painted(const std::string& text, std::string_view code, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string paragraph(const std::string& text, size_t width) {
  std::string lines;
  for (const std::string& line : wrapped(text, width, 4)) lines += line + "\n";
  return lines;
}

// Off a terminal a sentence stays one line, for whoever searches in it.
std::string sentence(const std::string& text, const TerminalOptions& options) {
  return options.width == 0 ? text + "\n" : paragraph(text, options.width);
}

// Whether each cell that failed so came out as its matrix expects.
bool is_expected(const Analysis& analysis, const SignatureGroup& group) {
  return std::all_of(group.cells.begin(), group.cells.end(), [&](const auto& where) {
    return analysis.cells[where.summary].expected == Expected::met;
  });
}

std::string failures_by_need(const Analysis& analysis, const FailureGroups& found,
                             const TerminalOptions& options) {
  std::string text;
  for (const SaidOfFailures& said : said_of_failures(analysis, found)) {
    const CellSummary& worst = analysis.cells[found.operations[said.operation].worst];
    const std::string line = sentence("FAIL " + said.words, options);
    text += painted("FAIL", kRed, options.colour) + line.substr(std::string_view("FAIL").size());
    text += "    " + printable(rerun_command(analysis, worst.arm, worst.id), Lines::keep) + "\n";
  }
  const std::string tell = what_would_tell(analysis, found);
  if (!tell.empty()) text += sentence(tell, options);
  text +=
      fmt::format("{}: see report.md\n", counted(analysis.signatures.size(), "kinds of failure"));
  return text + "\n";
}

std::string failures(const Analysis& analysis, const TerminalOptions& options) {
  const bool colour = options.colour;
  std::vector<const SignatureGroup*> groups;
  for (const SignatureGroup& group : analysis.signatures) {
    if (!is_expected(analysis, group)) groups.push_back(&group);
  }
  // Many titles of one race would be the longest part, and say the least.
  const FailureGroups found = find_groups(analysis);
  if (!found.groups.empty() || (groups.size() > kMostFailures && !found.operations.empty())) {
    return failures_by_need(analysis, found, options);
  }
  std::string text;
  for (size_t i = 0; i < std::min(groups.size(), kMostFailures); ++i) {
    const SignatureGroup& group = *groups[i];
    text +=
        fmt::format("{} {}{}: {} in {}\n    {}\n", painted("FAIL", kRed, colour),
                    shortened(printable(group.title), 160), group.thin() ? " (thin)" : "",
                    counted(group.failures, "trials"), counted(group.cells.size(), "cells"),
                    printable(rerun_command(analysis, group.first.arm, to_string(group.first.cell)),
                              Lines::keep));
  }
  if (groups.size() > kMostFailures) {
    text += fmt::format("and {} more, see report.md\n", groups.size() - kMostFailures);
  }
  if (const size_t expected = analysis.signatures.size() - groups.size(); expected > 0) {
    text += fmt::format("{} in cells that failed as expected, see report.md\n",
                        counted(expected, "kinds of failure"));
  }
  return text.empty() ? "" : text + "\n";
}

std::string unexpected(const Analysis& analysis, bool colour) {
  std::string text;
  size_t count = 0;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.expected != Expected::unmet || ++count > kMostUnexpected) continue;
    const Standing standing = standing_of(cell);
    text += fmt::format("{} {}: {} {}\n", painted("UNEXPECTED", kRed, colour), cell.id,
                        standing.word, standing.rest);
  }
  if (count > kMostUnexpected) {
    text += fmt::format("and {} more, see report.md\n", count - kMostUnexpected);
  }
  return text.empty() ? "" : text + "\n";
}

// Cells that were tried and tell nothing; what the plan left out was said when it began.
std::string not_tested(const Analysis& analysis, size_t width) {
  std::string text;
  size_t reasons = 0;
  for (const LeftOutGroup& group : analysis.left_out) {
    if (!group.tried || ++reasons > kMostReasons) continue;
    text += paragraph(fmt::format("not tested: {}, {}", counted(group.cells.size(), "cells"),
                                  shortened(printable(group.reason), 300)),
                      width);
  }
  if (reasons > kMostReasons) {
    text += fmt::format("and for {} more reasons, see report.md\n", reasons - kMostReasons);
  }
  return text.empty() ? "" : text + "\n";
}

// Kinds of cell, those that fail most often first, and where there are several builds a line each.
// One kind without a failure is what the answer says already.
std::string kinds(const Analysis& analysis, size_t width) {
  const AnswerTable& table = analysis.answer.table;
  if (table.rows.size() < 2 && analysis.failures == 0) return "";
  std::string text = paragraph(printable(cells_head(analysis)) + ":", width);
  for (size_t row = 0; row < std::min(table.rows.size(), kMostKinds); ++row) {
    const AnswerTable::Row& kind = table.rows[row];
    if (kind.fields.size() == 1) {
      text += paragraph(printable(kind.cells + ": " + kind.fields.front()), width);
      continue;
    }
    text += paragraph(printable(kind.cells) + ":", width);
    for (size_t build = 0; build < kind.fields.size(); ++build) {
      text += paragraph(printable("  " + table.builds[build] + ": " + kind.fields[build]), width);
    }
  }
  if (table.rows.size() > kMostKinds) {
    text +=
        fmt::format("and {} in report.md\n", counted(table.rows.size() - kMostKinds, "more rows"));
  }
  return text + "\n";
}

}  // namespace

std::string report_terminal(const Analysis& analysis, const TerminalOptions& options) {
  std::string text;
  for (const AnswerLine& line : analysis.answer.lines) {
    AnswerLine whole{sentence(std::string(class_prefix(analysis)) + printable(line.text), options),
                     printable(line.name), printable(line.worst)};
    if (!options.colour) whole.name = whole.worst = "";
    text += with_stress(
        whole, [](std::string_view words) { return std::string(words); },
        [](std::string_view words) { return painted(std::string(words), kBold, true); });
  }
  for (const std::string& step : analysis.answer.next) text += sentence(printable(step), options);
  text += '\n';
  const size_t width = options.width == 0 ? kUsualWidth : options.width;
  text += kinds(analysis, width);
  for (const Warning& warning : analysis.warnings) {
    const std::string whole = sentence("warning: " + printable(warning.text), options);
    text +=
        painted("warning", kYellow, options.colour) + whole.substr(std::string("warning").size());
  }
  if (!analysis.warnings.empty()) text += '\n';
  text += not_tested(analysis, width);
  text += failures(analysis, options) + unexpected(analysis, options.colour);
  if (analysis.seconds > 0) {
    text += "trials took " + duration_in_words(analysis.seconds) + "\n";
  }
  text += painted(
      fmt::format("{}{}, {} failed{}", class_prefix(analysis), totals(analysis), analysis.failures,
                  analysis.refused > 0 ? fmt::format(", {} refused", analysis.refused) : ""),
      kBold, options.colour);
  return text + "\n";
}

}  // namespace mpsprobe

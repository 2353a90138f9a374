#include "reports/writers/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "harness/wire/axis.h"
#include "reports/words/phrases.h"
#include "reports/words/text.h"
#include "reports/writers/markdown_sections.h"
#include "reports/writers/wording.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFailures = 10;

constexpr std::string_view kRed = "31";
constexpr std::string_view kYellow = "33";
constexpr std::string_view kBold = "1";

std::string painted(const std::string& text, std::string_view code, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string tally(const BoundaryPoint& point) {
  return fmt::format("{} ({}/{})", point.count, point.failures, point.trials);
}

// "below 26%": what a boundary's two ends are worth.
std::string worth(const Boundary& boundary) {
  std::string text;
  if (boundary.most_passing) {
    const BoundaryPoint& point = *boundary.most_passing;
    text = fmt::format("rate at {} below {}", point.count,
                       percent_up(exact_interval(0, point.trials).high));
    if (point.without_overlap) text += ", but no overlap";
  }
  if (boundary.fewest_failing) {
    const BoundaryPoint& point = *boundary.fewest_failing;
    const Interval rate = exact_interval(point.failures, point.trials);
    text += fmt::format("{}at {} above {}", text.empty() ? "rate " : ", ", point.count,
                        percent_down(rate.low));
  }
  if (!boundary.monotone()) text += ", passes again higher up";
  return text;
}

std::string boundary_table(const Analysis& analysis) {
  using Row = std::array<std::string, 4>;
  std::vector<Row> rows{{"boundary", "no failure up to", "first failure", "95% confidence"}};
  for (const Boundary& boundary : analysis.boundaries) {
    std::string label = fmt::format("{} {}, by {}", name_of(boundary.group.backend),
                                    cell_label(boundary.group, {boundary.axis}), boundary.axis);
    if (analysis.arms.size() > 1) label += " (" + boundary.worker + ")";
    rows.push_back({shortened(printable(label), 70),
                    boundary.most_passing ? tally(*boundary.most_passing) : "-",
                    boundary.fewest_failing ? tally(*boundary.fewest_failing) : "none",
                    worth(boundary)});
  }
  if (rows.size() == 1) return "";
  std::array<size_t, 3> width{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", row[0], width[0], row[1], width[1], row[2],
                        width[2], row[3]);
  }
  return text + "\n";
}

std::string failures(const Analysis& analysis, bool colour) {
  std::string text;
  for (size_t i = 0; i < std::min(analysis.signatures.size(), kMostFailures); ++i) {
    const SignatureGroup& group = analysis.signatures[i];
    text += fmt::format(
        "{} {}{}: {} in {}\n    {}\n", painted("FAIL", kRed, colour),
        shortened(printable(group.title), 160), group.thin() ? " (thin)" : "",
        counted(group.failures, "trials"),
        counted(static_cast<int64_t>(group.cells.size()), "cells"),
        printable(rerun_command(analysis, group.first.arm, to_string(group.first.cell))));
  }
  if (analysis.signatures.size() > kMostFailures) {
    text += fmt::format("and {} more, see report.md\n", analysis.signatures.size() - kMostFailures);
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string report_terminal(const Analysis& analysis, const TerminalOptions& options) {
  std::string text;
  for (const Warning& warning : analysis.warnings) {
    text += painted("warning", kYellow, options.colour) + ": " + printable(warning.text) + "\n";
  }
  if (!text.empty()) text += '\n';
  text += boundary_table(analysis) + failures(analysis, options.colour);
  for (const CellSummary& cell : analysis.cells) {
    if (cell.expected != Expected::unmet) continue;
    const Standing standing = standing_of(cell);
    text += fmt::format("{} {}: {} {}\n", painted("UNEXPECTED", kRed, options.colour), cell.id,
                        standing.word, standing.rest);
  }
  text += painted(
      fmt::format("{}{}, {} failed", class_prefix(analysis), totals(analysis), analysis.failures),
      kBold, options.colour);
  return text + "\n";
}

}  // namespace mpsprobe

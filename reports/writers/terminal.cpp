#include "reports/writers/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "reports/analysis/common_axes.h"
#include "reports/claims/boundary_fields.h"
#include "reports/groups/group_words.h"
#include "reports/words/phrases.h"
#include "reports/words/text.h"
#include "reports/words/wording.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFailures = 10;
constexpr size_t kMostUnexpected = 20;
constexpr size_t kMostBoundaries = 40;
constexpr size_t kMostSlow = 3;
constexpr size_t kMostReasons = 5;
constexpr size_t kUsualWidth = 80;

constexpr std::string_view kRed = "31";
constexpr std::string_view kYellow = "33";
constexpr std::string_view kBold = "1";

std::string painted(const std::string& text, std::string_view code, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

// Off a terminal a sentence stays one line, for whoever searches in it.
std::string sentence(const std::string& text, const TerminalOptions& options) {
  if (options.width == 0) return text + "\n";
  std::string lines;
  for (const std::string& line : wrapped(text, options.width, 4)) lines += line + "\n";
  return lines;
}

std::string label_of(const Analysis& analysis, const Boundary& boundary,
                     std::vector<std::string_view> common) {
  common.emplace_back(boundary.axis);
  const bool one_backend = std::find(common.begin(), common.end(), "backend") != common.end();
  std::string label = one_backend ? "" : std::string(name_of(boundary.group.backend)) + " ";
  label += cell_label(boundary.group, common);
  if (analysis.arms.size() > 1) label += " (" + boundary.worker + ")";
  return printable(label);
}

// Those with a failure where there are too many to show.
std::vector<const Boundary*> shown_boundaries(const Analysis& analysis) {
  std::vector<const Boundary*> shown;
  const bool all = analysis.boundaries.size() <= kMostBoundaries;
  for (const Boundary& boundary : analysis.boundaries) {
    if (shown.size() < kMostBoundaries && (all || boundary.fewest_failing)) {
      shown.push_back(&boundary);
    }
  }
  return shown;
}

class BoundaryTable {
 public:
  BoundaryTable(const Analysis& analysis, size_t width)
      : analysis_(analysis),
        shown_(shown_boundaries(analysis)),
        width_(width),
        common_(common_axes(analysis)),
        passing_head_(passing_head(analysis)),
        failing_head_(failing_head(analysis)),
        passing_(passing_head_.size()),
        failing_(failing_head_.size()) {
    for (const Boundary* boundary : shown_) {
      const BoundaryFields fields = fields_of(*boundary);
      passing_ = std::max(passing_, fields.passing.size());
      failing_ = std::max(failing_, fields.failing.size());
    }
    const size_t fields = passing_ + failing_ + 4;
    const size_t room = width_ > fields + 20 ? width_ - fields : 20;
    for (const Boundary* boundary : shown_) {
      label_ = std::max(label_, label_of(analysis_, *boundary, common_).size());
    }
    label_ = std::min(label_, room);
  }

  std::string text() const {
    if (analysis_.boundaries.empty()) return "";
    std::string text;
    std::string head = "boundaries";
    if (const std::string common = common_in_words(analysis_); !common.empty()) {
      head += " (" + common + ")";
    }
    head += ", failed/trials and their rate, of each by itself with 95% confidence:";
    for (const std::string& line : wrapped(head, width_, 4)) text += line + "\n";
    std::string axis;
    for (const Boundary* boundary : shown_) {
      if (boundary->axis != axis) {
        text += row("by " + boundary->axis, axis.empty() ? passing_head_ : "",
                    axis.empty() ? failing_head_ : "");
        axis = boundary->axis;
      }
      text += entry(*boundary);
    }
    const size_t left = analysis_.boundaries.size() - shown_.size();
    if (left > 0) text += fmt::format("and {} more, see report.md\n", left);
    return text + "\n";
  }

 private:
  std::string row(std::string_view label, std::string_view passing,
                  std::string_view failing) const {
    std::string text = fmt::format("{:<{}}  {:<{}}  {}", label, label_, passing, passing_, failing);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  // A label that is too long goes on below: cut, two rows might read alike.
  std::string entry(const Boundary& boundary) const {
    const std::vector<std::string> label =
        wrapped(label_of(analysis_, boundary, common_), label_, 2);
    const BoundaryFields fields = fields_of(boundary);
    std::string text = row(label.front(), fields.passing, fields.failing);
    for (size_t i = 1; i < label.size(); ++i) text += label[i] + "\n";
    if (!fields.remark.empty()) {
      for (const std::string& line : wrapped("    " + fields.remark, width_, 4)) {
        text += line + "\n";
      }
    }
    return text;
  }

  const Analysis& analysis_;
  std::vector<const Boundary*> shown_;
  size_t width_;
  std::vector<std::string_view> common_;
  size_t label_ = std::string_view("by processes").size();
  std::string passing_head_;
  std::string failing_head_;
  size_t passing_;
  size_t failing_;
};

// Whether each cell that failed so came out as its matrix expects.
bool is_expected(const Analysis& analysis, const SignatureGroup& group) {
  return std::all_of(group.cells.begin(), group.cells.end(), [&](const auto& where) {
    return analysis.cells[where.summary].expected == Expected::met;
  });
}

std::string failures_by_need(const Analysis& analysis, const FailureGroups& found,
                             const TerminalOptions& options) {
  std::string text;
  const auto add = [&](const std::string& words, size_t operation) {
    const CellSummary& worst = analysis.cells[found.operations[operation].worst];
    const std::string line = sentence("FAIL " + words, options);
    text += painted("FAIL", kRed, options.colour) + line.substr(std::string_view("FAIL").size());
    text += "    " + printable(rerun_command(analysis, worst.arm, worst.id), Lines::keep) + "\n";
  };
  for (const FailureGroup& group : found.groups) {
    add(group_in_words(analysis, found, group), group.operations.front());
  }
  for (const size_t i : apart_from_groups(found)) {
    add(operation_in_words(analysis, found.operations[i]), i);
  }
  const std::string tell = what_would_tell(analysis, found);
  if (!tell.empty()) text += sentence(tell, options);
  text +=
      fmt::format("{}: see report.md\n",
                  counted(static_cast<int64_t>(analysis.signatures.size()), "kinds of failure"));
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
                    counted(group.failures, "trials"),
                    counted(static_cast<int64_t>(group.cells.size()), "cells"),
                    printable(rerun_command(analysis, group.first.arm, to_string(group.first.cell)),
                              Lines::keep));
  }
  if (groups.size() > kMostFailures) {
    text += fmt::format("and {} more, see report.md\n", groups.size() - kMostFailures);
  }
  if (const size_t expected = analysis.signatures.size() - groups.size(); expected > 0) {
    text += fmt::format("{} in cells that failed as expected, see report.md\n",
                        counted(static_cast<int64_t>(expected), "kinds of failure"));
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
    const std::string line = fmt::format("not tested: {}, {}",
                                         counted(static_cast<int64_t>(group.cells.size()), "cells"),
                                         shortened(printable(group.reason), 300));
    for (const std::string& part : wrapped(line, width, 4)) text += part + "\n";
  }
  if (reasons > kMostReasons) {
    text += fmt::format("and for {} more reasons, see report.md\n", reasons - kMostReasons);
  }
  return text.empty() ? "" : text + "\n";
}

// Where the time went, for whoever wants the next run to be shorter.
std::string time_taken(const Analysis& analysis) {
  if (!(analysis.seconds > 0)) return "";
  std::vector<const CellSummary*> cells;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.recorded > 0) cells.push_back(&cell);
  }
  const size_t most = std::min(cells.size(), kMostSlow);
  const auto slower = [](const CellSummary* a, const CellSummary* b) {
    return a->seconds > b->seconds;
  };
  std::stable_sort(cells.begin(), cells.end(), slower);
  std::string text = "trials took " + duration_in_words(analysis.seconds);
  if (cells.size() < 2) return text + "\n";
  text += "; the slowest cells:\n";
  for (size_t i = 0; i < most; ++i) {
    const CellSummary& cell = *cells[i];
    std::string arm;
    if (analysis.arms.size() > 1) arm = " (" + printable(analysis.arms[cell.arm].label) + ")";
    text += fmt::format("    {}{}: {}, {} a trial\n", cell.id, arm, duration_in_words(cell.seconds),
                        duration_in_words(cell.seconds / cell.recorded));
  }
  return text;
}

}  // namespace

std::string report_terminal(const Analysis& analysis, const TerminalOptions& options) {
  std::string text;
  for (const std::string& each : analysis.answer.sentences) {
    std::string line = sentence(std::string(class_prefix(analysis)) + printable(each), options);
    line.pop_back();
    text += painted(line, kBold, options.colour) + "\n";
  }
  text += '\n';
  for (const Warning& warning : analysis.warnings) {
    const std::string whole = sentence("warning: " + printable(warning.text), options);
    text +=
        painted("warning", kYellow, options.colour) + whole.substr(std::string("warning").size());
  }
  if (!analysis.warnings.empty()) text += '\n';
  const size_t width = options.width == 0 ? kUsualWidth : options.width;
  text += terminal_answer_table(analysis, width);
  text += BoundaryTable(analysis, width).text() + not_tested(analysis, width);
  text += failures(analysis, options) + unexpected(analysis, options.colour);
  text += time_taken(analysis);
  text += painted(
      fmt::format("{}{}, {} failed{}", class_prefix(analysis), totals(analysis), analysis.failures,
                  analysis.refused > 0 ? fmt::format(", {} refused", analysis.refused) : ""),
      kBold, options.colour);
  return text + "\n";
}

}  // namespace mpsprobe

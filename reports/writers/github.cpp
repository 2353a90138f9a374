#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "harness/statistics/interval.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/forms.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostSummary = (1 << 20) - 4096;  // room for the last line
constexpr size_t kMostAnnotations = 10;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Where the rest of a summary is.
std::string rest_is_in() {
  const std::string server = variable("GITHUB_SERVER_URL");
  const std::string repository = variable("GITHUB_REPOSITORY");
  const std::string run = variable("GITHUB_RUN_ID");
  if (server.empty() || repository.empty() || run.empty()) return "report.md of the run";
  return fmt::format("<{}/{}/actions/runs/{}#artifacts>", escaped(server), escaped(repository),
                     escaped(run));
}

// Those to read first: unexpected, then failed, then without evidence, then the rest.
int weight_of(const CellSummary& cell) {
  if (cell.expected == Expected::unmet) return 0;
  if (cell.failures > 0 && cell.expected != Expected::met) return 1;
  if (!cell.has_rate()) return 2;
  return cell.failures > 0 ? 3 : 4;
}

std::vector<const CellSummary*> by_weight(const Analysis& analysis) {
  std::vector<const CellSummary*> cells;
  for (const CellSummary& cell : analysis.cells) cells.push_back(&cell);
  std::stable_sort(cells.begin(), cells.end(), [](const CellSummary* a, const CellSummary* b) {
    return weight_of(*a) < weight_of(*b);
  });
  return cells;
}

std::string first_title(const Analysis& analysis, const CellSummary& cell) {
  return cell.titles.empty() ? "" : analysis.signatures[cell.titles.front().signature].title;
}

std::string summary_row(const Analysis& analysis, const CellSummary& cell) {
  const Standing standing = standing_of(cell);
  const std::string title = first_title(analysis, cell);
  const std::string rate = cell.has_rate() ? fmt::format("{} to {}", percent_down(cell.rate.low),
                                                         percent_up(cell.rate.high))
                                           : "";
  return fmt::format("| {} | {} | {}{} | {} | {} |\n", code_span(cell.id),
                     escaped(analysis.arms[cell.arm].label, 60),
                     standing.unexpected ? "**!** " : "",
                     escaped(standing.word + " " + standing.rest, 120), rate,
                     title.empty() ? "" : code_span(title, 120));
}

/// The text of a workflow command. Percent signs and line ends by GitHub's own rule; "##[" is its
/// older form, which is looked for anywhere in a line.
std::string command_text(std::string_view bytes, bool property) {
  std::string text = shortened(printable(bytes), 500);
  std::string safe;
  for (char c : text) {
    if (c == '%') {
      safe += "%25";
    } else if (property && c == ':') {
      safe += "%3A";
    } else if (property && c == ',') {
      safe += "%2C";
    } else if (c == '[' && safe.ends_with("##")) {
      safe += '(';
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string annotation(std::string_view level, std::string_view title, std::string_view text) {
  return fmt::format("::{} title={}::{}\n", level, command_text(title, true),
                     command_text(text, false));
}

}  // namespace

std::string report_github(const Analysis& analysis) {
  const std::string prefix(class_prefix(analysis));
  std::string text =
      fmt::format("<!-- mpsprobe report: github -->\n## {}mpsprobe: {}\n\n{}{}\n\n", prefix,
                  escaped(analysis.header.matrix_name, 100), escaped(totals(analysis)),
                  analysis.complete ? "" : ". **Incomplete: not all that was planned ran.**");
  text += markdown_answer(analysis);
  size_t rows = 0;
  size_t kept = 0;
  const auto add = [&](const std::string& row) {
    ++rows;
    if (kept + 1 != rows || text.size() + row.size() > kMostSummary) return;
    text += row;
    ++kept;
  };
  for (const Warning& warning : analysis.warnings) add("- " + escaped(warning.text) + "\n");
  add(
      fmt::format("\n### {}Cells\n\n| cell | worker | result | failure rate, 95% | signature |\n"
                  "| --- | --- | --- | --- | --- |\n",
                  prefix));
  for (const CellSummary* cell : by_weight(analysis)) add(summary_row(analysis, *cell));
  if (kept < rows) {
    text += fmt::format("\n{} more rows do not fit: {}\n", rows - kept, rest_is_in());
  }
  return text;
}

std::string report_annotations(const Analysis& analysis) {
  const std::string prefix(class_prefix(analysis));
  std::vector<std::string> lines;
  if (!analysis.complete) {
    lines.push_back(annotation(
        "error", prefix + "incomplete run",
        fmt::format("{} of {} planned trials ran", analysis.recorded, analysis.planned)));
  }
  size_t left_out = 0;
  for (const CellSummary* cell : by_weight(analysis)) {
    if (weight_of(*cell) > 1) break;
    if (lines.size() + 1 >= kMostAnnotations) {
      ++left_out;
      continue;
    }
    const Standing standing = standing_of(*cell);
    lines.push_back(
        annotation(standing.unexpected ? "error" : "notice", prefix + cell->id,
                   standing.word + " " + standing.rest + " " + first_title(analysis, *cell)));
  }
  if (left_out > 0) {
    lines.push_back(annotation("notice", prefix + "more cells failed",
                               fmt::format("{} more: the job's summary has them", left_out)));
  }
  std::string text = "mpsprobe report: annotations\n";
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace mpsprobe

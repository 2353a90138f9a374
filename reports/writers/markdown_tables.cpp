#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "harness/wire/axis.h"
#include "reports/analysis/failures/failure_kind.h"
#include "reports/analysis/table.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostColumns = 6;  // a wider table is turned

using Render = std::function<std::string(const ReportTable::Entry&)>;

using Fields = std::vector<std::vector<std::string>>;
using Columns = std::vector<const ReportTable::Column*>;

// Counts and builds across, operations down.
std::string turned_grid(const ReportTable& table, const Columns& columns, const Render& render) {
  std::vector<std::string> builds;
  std::vector<std::string> operations;
  std::map<std::pair<std::string, std::string>, const ReportTable::Column*> index;
  const auto note = [](std::vector<std::string>& all, const std::string& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  };
  for (const auto* column : columns) {
    note(builds, column->build);
    note(operations, column->cells);
    index[{column->cells, column->build}] = column;
  }
  std::vector<std::string> head{"operation"};
  for (const int32_t count : table.counts) {
    for (const std::string& build : builds) {
      head.push_back(counted(count, table.axis) + (build.empty() ? "" : ", " + escaped(build)));
    }
  }
  Fields rows{std::move(head)};
  for (const std::string& operation : operations) {
    std::vector<std::string> fields{escaped(operation)};
    for (size_t count = 0; count < table.counts.size(); ++count) {
      for (const std::string& build : builds) {
        const auto at = index.find({operation, build});
        fields.push_back(at == index.end() ? "–" : render(at->second->entries[count]));
      }
    }
    rows.push_back(std::move(fields));
  }
  return markdown_table(rows);
}

std::string grid(const ReportTable& table, const Columns& columns, const Render& render) {
  if (columns.size() > kMostColumns) return turned_grid(table, columns, render);
  std::vector<std::string> head{table.axis};
  for (const auto* column : columns) head.push_back(escaped(column->label()));
  Fields rows{std::move(head)};
  for (size_t down = 0; down < table.counts.size(); ++down) {
    std::vector<std::string> fields{std::to_string(table.counts[down])};
    for (const auto* column : columns) fields.push_back(render(column->entries[down]));
    rows.push_back(std::move(fields));
  }
  return markdown_table(rows);
}

std::string verdict_field(const ReportTable::Entry& entry) {
  if (entry.cell == nullptr) return entry.left_out ? "left out" : "–";
  const Standing standing = standing_of(*entry.cell);
  const bool bold = standing.word == "FAIL";
  std::string text = bold ? "**FAIL**" : standing.word;
  if (!standing.rest.empty()) text += " " + escaped(standing.rest);
  return standing.unexpected ? "**unexpected** " + text : text;
}

// An axis can collapse unnoticed: a build may take one path whatever a cell asks for.
std::string observed_paths(const ReportTable& table) {
  std::string text;
  for (const ReportTable::Column& column : table.columns) {
    std::set<std::string> observed;
    bool asked = false;
    for (const ReportTable::Entry& entry : column.entries) {
      if (entry.cell == nullptr || entry.cell->cell.path == Path::automatic) continue;
      asked = true;
      observed.insert(entry.cell->observed_paths.begin(), entry.cell->observed_paths.end());
    }
    if (!asked) continue;
    if (observed.empty()) observed.insert("not observed");
    std::string paths;
    for (const std::string& path : observed)
      paths += (paths.empty() ? "" : ", ") + escaped(path, 40);
    text += (text.empty() ? "Path observed: " : "; ") + escaped(column.label()) + ": " + paths;
  }
  return text.empty() ? "" : text + ".\n\n";
}

std::string throughput_field(const ReportTable::Entry& entry) {
  const bool shown =
      entry.cell != nullptr && entry.cell->verdict == Verdict::pass && entry.cell->throughput;
  if (!shown) return "–";
  const Spread& spread = *entry.cell->throughput;
  if (spread.samples == 1) return grouped(spread.median);
  return fmt::format("{} ({}-{})", grouped(spread.median), grouped(spread.low),
                     grouped(spread.high));
}

std::string inside_field(const ReportTable::Entry& entry) {
  const bool shown =
      entry.cell != nullptr && entry.cell->cell.threads > 1 && entry.cell->inside.known();
  if (!shown) return "–";
  const InsideShare& inside = entry.cell->inside;
  return fmt::format("{:.0f}%, {:.2f}", 100 * inside.computed(), inside.processors());
}

bool is_crash(Outcome outcome) {
  return outcome == Outcome::signal || outcome == Outcome::assertion;
}

bool is_other_failure(Outcome outcome) {
  return is_failure(outcome) && !is_crash(outcome);
}

// "3 x 10: 7/10 + 2 hang": threads x iterations, crashed of all that count.
std::string crashed_field(const CellSummary& cell) {
  int crashed = 0;
  for (const auto& [kind, trials] : count_kinds(cell, is_crash)) crashed += trials;
  std::string others;
  for (const auto& [kind, trials] : count_kinds(cell, is_other_failure)) {
    others += fmt::format(" + {} {}", trials, escaped(kind));
  }
  return fmt::format("{} × {}: {}/{}{}", cell.cell.threads, cell.cell.iterations, crashed,
                     cell.counted, others);
}

/// The tables of the report with this in their fields, where any has more than a dash.
std::string grids(const Analysis& analysis, const Render& field) {
  std::string text;
  for (const ReportTable& table : lay_out(analysis)) {
    Columns columns;
    for (const ReportTable::Column& column : table.columns) {
      if (std::any_of(column.entries.begin(), column.entries.end(),
                      [&field](const auto& entry) { return field(entry) != "–"; })) {
        columns.push_back(&column);
      }
    }
    if (columns.empty()) continue;
    if (!table.title.empty()) text += "**" + escaped(table.title) + "**\n\n";
    text += grid(table, columns, field) + "\n";
  }
  return text;
}

}  // namespace

std::string markdown_verdicts(const Analysis& analysis) {
  std::string text;
  for (const ReportTable& table : lay_out(analysis)) {
    const std::string title = table.title.empty() ? "Cells" : escaped(table.title);
    text += fmt::format("## {}\n\n{}\n\n", title,
                        escaped(fmt::format("{}", fmt::join(table.shared, ", "))));
    Columns columns;
    for (const ReportTable::Column& column : table.columns) columns.push_back(&column);
    text += grid(table, columns, verdict_field) + "\n" + observed_paths(table);
  }
  return text;
}

std::string markdown_throughput(const Analysis& analysis) {
  const std::string text = grids(analysis, throughput_field);
  if (text.empty()) return "";
  return "## Throughput of what passed\n\nOperations per second over all threads and processes: "
         "median (lowest-highest) of the passing trials.\n\n" +
         text;
}

std::string markdown_inside(const Analysis& analysis) {
  const std::string text = grids(analysis, inside_field);
  if (text.empty()) return "";
  return "## Inside calls of Python\n\nOf the time that threads were inside calls, the part that "
         "they computed themselves (the rest they waited: for the interpreter's lock, another "
         "lock, "
         "or a device); and how many processors the process used on average while they ran, its "
         "library's own threads counted. Above 1 something computed without the interpreter's "
         "lock.\n\n" +
         text;
}

std::string markdown_crashes(const Analysis& analysis) {
  struct Line {
    size_t arm = 0;
    Cell group;
    std::string fields;
    bool failed = false;
  };
  std::vector<Line> lines;
  std::map<std::pair<size_t, std::string>, size_t> index;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.counted == 0) continue;
    Cell group = cell.cell;
    group.threads = 1;
    group.iterations = Cell{}.iterations;
    const auto [at, fresh] = index.try_emplace({cell.arm, to_string(group)}, lines.size());
    if (fresh) lines.push_back({cell.arm, group, "", false});
    Line& line = lines[at->second];
    if (!line.fields.empty()) line.fields += "; ";
    line.fields += crashed_field(cell);
    line.failed = line.failed || cell.failures > 0;
  }
  Fields rows{{"library", "what", "crashed / total"}};
  for (const Line& line : lines) {
    if (!line.failed) continue;
    const Arm& arm = analysis.arms[line.arm];
    const std::string library = library_in_words(arm);
    const std::string version = library.empty() ? "unknown" : code_span(library, 60);
    const std::string name =
        analysis.arms.size() > 1 ? version + " " + escaped(arm.label) : version;
    rows.push_back({name,
                    fmt::format("{} {}", name_of(line.group.backend),
                                escaped(cell_label(line.group, {"threads", "iterations"}))),
                    line.fields});
  }
  if (rows.size() == 1) return "";
  return "## Crashed / total\n\nBy threads × iterations; crashed is ended by a signal or an "
         "assertion.\n\n" +
         markdown_table(rows) + "\n";
}

}  // namespace mpsprobe

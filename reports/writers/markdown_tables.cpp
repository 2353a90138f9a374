#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/claims/families.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

/// What a table says of a cell; nothing where it has nothing to say.
using Field = std::string (*)(const CellSummary&);

using Cells = std::vector<const CellSummary*>;

/// The cells of each block of the matrix, in the order of the plan.
std::vector<std::pair<std::string, Cells>> cells_by_block(const Analysis& analysis) {
  std::vector<std::pair<std::string, Cells>> blocks;
  std::map<std::string, size_t> index;
  for (const std::string& title : analysis.blocks) {
    index.emplace(title, blocks.size());
    blocks.push_back({title, {}});
  }
  const auto add = [&](const std::string& block, const CellSummary& cell) {
    const auto [at, fresh] = index.try_emplace(block, blocks.size());
    if (fresh) blocks.push_back({block, {}});
    blocks[at->second].second.push_back(&cell);
  };
  for (const CellSummary& cell : analysis.cells) {
    add(cell.block, cell);
    for (const std::string& block : cell.also_in) add(block, cell);
  }
  return blocks;
}

/// Kinds of cell and builds down, counts of threads or processes across.
std::string table(const Analysis& analysis, const std::vector<Family>& families,
                  const std::string& axis, Field field) {
  std::set<int32_t> counts;
  std::vector<std::pair<std::string, std::map<int32_t, std::string>>> kinds;
  for (const Family& family : families) {
    if (family.axis != axis) continue;
    for (size_t arm = 0; arm < family.by_arm.size(); ++arm) {
      std::map<int32_t, std::string> fields;
      for (const CellSummary* cell : family.by_arm[arm]) {
        if (const std::string said = field(*cell); !said.empty()) {
          fields[count_in(family, *cell)] = said;
          counts.insert(count_in(family, *cell));
        }
      }
      if (fields.empty()) continue;
      kinds.emplace_back(with_arm(analysis, family.label, analysis.arms[arm].label), fields);
    }
  }
  if (kinds.empty()) return "";
  std::vector<std::vector<std::string>> rows{{axis}};
  for (const int32_t count : counts) rows[0].push_back(std::to_string(count));
  for (const auto& [kind, fields] : kinds) {
    rows.push_back({escaped(kind)});
    for (const int32_t count : counts) {
      const auto at = fields.find(count);
      rows.back().push_back(at == fields.end() ? "–" : at->second);
    }
  }
  return markdown_table(rows) + "\n";
}

/// The tables of all blocks with this in their fields, below their titles.
std::string tables(const Analysis& analysis, Field field) {
  std::string text;
  for (const auto& [block, cells] : cells_by_block(analysis)) {
    const std::vector<Family> families = families_of(analysis, cells);
    const std::string of_block =
        table(analysis, families, "threads", field) + table(analysis, families, "processes", field);
    if (of_block.empty()) continue;
    text += (block.empty() ? "" : "### " + escaped(block) + "\n\n") + of_block;
  }
  return text;
}

std::string verdict_field(const CellSummary& cell) {
  const Standing standing = standing_of(cell);
  std::string text = standing.word == "FAIL" ? "**FAIL**" : standing.word;
  if (!standing.rest.empty()) text += " " + escaped(standing.rest);
  return standing.unexpected ? "**unexpected** " + text : text;
}

std::string throughput_field(const CellSummary& cell) {
  if (cell.verdict != Verdict::pass || !cell.throughput) return "";
  const Spread& spread = *cell.throughput;
  if (spread.samples == 1) return fmt::format("{:.0f}", spread.median);
  return fmt::format("{:.0f} ({:.0f}-{:.0f})", spread.median, spread.low, spread.high);
}

std::string inside_field(const CellSummary& cell) {
  if (cell.cell.threads == 1 || !cell.inside.known()) return "";
  return fmt::format("{:.0f}%, {:.2f}", 100 * cell.inside.computed(), cell.inside.processors());
}

// An axis can collapse unnoticed: a build may take one path whatever a cell asks for.
std::string observed_paths(const Analysis& analysis) {
  std::vector<std::string> kinds;
  for (const Family& family : families_of(analysis)) {
    for (size_t arm = 0; arm < family.by_arm.size(); ++arm) {
      std::set<std::string> observed;
      bool asked = false;
      for (const CellSummary* cell : family.by_arm[arm]) {
        if (cell->cell.path == Path::automatic) continue;
        asked = true;
        for (const std::string& path : cell->observed_paths) observed.insert(escaped(path, 40));
      }
      if (!asked) continue;
      const std::string kind = with_arm(analysis, family.label, analysis.arms[arm].label);
      kinds.push_back(
          escaped(kind) + ": " +
          (observed.empty() ? "not observed" : fmt::format("{}", fmt::join(observed, ", "))));
    }
  }
  return kinds.empty() ? "" : fmt::format("Path observed: {}.\n\n", fmt::join(kinds, "; "));
}

}  // namespace

std::string markdown_verdicts(const Analysis& analysis) {
  const std::string text = tables(analysis, verdict_field);
  return text.empty() ? "" : "## Cells\n\n" + text + observed_paths(analysis);
}

std::string markdown_throughput(const Analysis& analysis) {
  const std::string text = tables(analysis, throughput_field);
  if (text.empty()) return "";
  return "## Throughput of what passed\n\nOperations per second over all threads and processes: "
         "median (lowest-highest) of the passing trials.\n\n" +
         text;
}

std::string markdown_inside(const Analysis& analysis) {
  const std::string text = tables(analysis, inside_field);
  if (text.empty()) return "";
  return "## Inside calls of Python\n\nOf the time that threads were inside calls, the part that "
         "they computed themselves (the rest they waited: for the interpreter's lock, another "
         "lock, or a device); and how many processors the process used on average while they ran, "
         "its library's own threads counted. Above 1 something computed without the interpreter's "
         "lock.\n\n" +
         text;
}

}  // namespace mpsprobe

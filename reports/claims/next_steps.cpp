#include "reports/claims/next_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "harness/campaign/rerun.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

bool was_compared(const Analysis& analysis, std::string_view about) {
  return std::any_of(analysis.cells.begin(), analysis.cells.end(), [about](const auto& cell) {
    if (cell.counted == 0) return false;
    return about == "lock" ? cell.cell.lock != Lock::none : cell.cell.processes > 1;
  });
}

std::string not_tested(const Analysis& analysis) {
  int32_t threads = 0;
  int32_t processes = 0;
  size_t cells = 0;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.counted + cell.refused == 0) {
      ++cells;
      continue;
    }
    threads = std::max(threads, cell.cell.threads);
    processes = std::max(processes, cell.cell.processes);
  }
  for (const LeftOutGroup& group : analysis.left_out) {
    if (!group.tried) cells += group.cells.size() + group.others;
  }
  std::vector<std::string> parts{"more than " + counted(threads, "threads")};
  parts.push_back(was_compared(analysis, "processes")
                      ? "more than " + counted(processes, "processes")
                      : "several processes");
  if (!was_compared(analysis, "lock")) parts.emplace_back("a lock");
  if (analysis.arms.size() < 2) parts.emplace_back("other releases");
  if (cells > 0) {
    parts.push_back(counted(cells, "cells") + " of the plan");
  }
  return fmt::format("Not tested: {}.", fmt::join(parts, ", "));
}

// Nothing where nobody but the reader maintains what failed.
std::string_view maintainers_of(const CellSummary& cell, const Arm& arm) {
  if (cell.cell.backend == Backend::metal) return "apple";
  if (arm.library_name == "MLX") return "mlx";
  return arm.library_name == "LibTorch" ? "pytorch" : "";
}

}  // namespace

std::vector<std::string> next_steps(const Analysis& analysis) {
  if (!analysis.has_evidence()) return {};
  std::vector<std::string> steps{not_tested(analysis)};
  const auto failed = std::find_if(
      analysis.cells.begin(), analysis.cells.end(),
      [](const CellSummary& cell) { return cell.failures > 0 && cell.expected != Expected::met; });
  if (failed == analysis.cells.end()) return steps;
  const std::string program = shell_quoted(program_of(analysis.header));
  steps.push_back(
      fmt::format("See it again: `{} run --failed RUN` (RUN: the folder of this run).", program));
  const std::string_view whom = maintainers_of(*failed, analysis.arms[failed->arm]);
  if (whom.empty() || analysis.simulated) return steps;
  steps.push_back(fmt::format(
      "Tell: `{} feedback RUN --for {}` packs it, and writes the report for those who can mend it.",
      program, whom));
  return steps;
}

}  // namespace mpsprobe

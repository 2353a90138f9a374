#include "reports/claims/next_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "harness/campaign/rerun.h"
#include "harness/wire/own_command.h"
#include "reports/analysis/common_axes.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

bool had_a_lock(const Analysis& analysis) {
  return std::any_of(analysis.cells.begin(), analysis.cells.end(), [](const CellSummary& cell) {
    return cell.counted > 0 && cell.cell.lock != Lock::none;
  });
}

bool was_run(const CellSummary& cell) {
  return cell.counted + cell.refused > 0;
}

// "16 threads for add, to 8 for mlp and chain, to 4 else": each kind of cell as far as it was
// tried.
std::string threads_tried(const Analysis& analysis) {
  const CommonAxes common(analysis);
  std::map<std::string, int32_t> most;
  for (const CellSummary& cell : analysis.cells) {
    if (!was_run(cell) || cell.cell.lock != Lock::none || cell.cell.processes > 1) continue;
    int32_t& threads = most[common.label(cell.cell, {"threads", "processes", "warmup"})];
    threads = std::max(threads, cell.cell.threads);
  }
  std::map<int32_t, std::vector<std::string>, std::greater<>> kinds;
  for (const auto& [kind, threads] : most) kinds[threads].push_back(kind);
  if (kinds.empty()) return "";
  const auto rest = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
                      return a.second.size() < b.second.size();
                    })->first;
  constexpr size_t kMostParts = 2;
  std::vector<std::string> parts;
  for (const auto& [threads, named] : kinds) {
    const std::string number =
        parts.empty() ? counted(threads, "threads") : std::to_string(threads);
    if (kinds.size() == 1) return number;
    if (threads == rest || parts.size() == kMostParts) continue;
    parts.push_back(fmt::format("{} for {}", number, brief(named.front(), 2)));
    if (named.size() > 1) parts.back() += fmt::format(" and {} more", named.size() - 1);
  }
  parts.push_back(kinds.size() > kMostParts + 1 ? "other numbers else"
                                                : fmt::format("{} else", rest));
  return fmt::format("{}", fmt::join(parts, ", to "));
}

// Nothing where several were used, or none was named.
std::string device_tried(const Analysis& analysis) {
  std::set<std::string> devices;
  for (const Arm& arm : analysis.arms) devices.insert(arm.devices.begin(), arm.devices.end());
  if (devices.size() != 1 || devices.begin()->empty()) return "";
  return " on " + shortened(printable(*devices.begin()), 60);
}

std::string tried(const Analysis& analysis) {
  int32_t processes = 0;
  size_t cells = 0;
  for (const CellSummary& cell : analysis.cells) {
    if (was_run(cell)) {
      processes = std::max(processes, cell.cell.processes);
    } else {
      ++cells;
    }
  }
  for (const LeftOutGroup& group : analysis.left_out) {
    if (!group.tried) cells += group.cells.size() + group.others;
  }
  std::vector<std::string> to;
  const auto command = own_command_in(analysis.header.environment);
  const bool counts = !command.has_value() || names_parameter(*command, "threads");
  if (const std::string threads = threads_tried(analysis); counts && !threads.empty()) {
    to.push_back("to " + threads);
  }
  if (processes > 1) to.push_back("to " + counted(processes, "processes"));
  if (to.empty()) to.emplace_back(command.has_value() ? "as it is" : "as planned");
  std::string text = fmt::format("Tried{} {}.", device_tried(analysis), fmt::join(to, "; "));
  std::vector<std::string> parts;
  if (processes <= 1) parts.emplace_back("several processes");
  if (!command.has_value() && !had_a_lock(analysis)) parts.emplace_back("a lock");
  if (analysis.arms.size() < 2) parts.emplace_back("other releases");
  if (cells > 0) parts.push_back(counted(cells, "cells") + " of the plan");
  if (parts.empty()) return text;
  return text + fmt::format(" Not tried: {}.", fmt::join(parts, ", "));
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
  std::vector<std::string> steps{tried(analysis)};
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

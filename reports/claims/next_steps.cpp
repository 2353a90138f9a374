#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "harness/campaign/rerun.h"
#include "harness/wire/own_command.h"
#include "reports/analysis/common_axes.h"
#include "reports/claims/answer.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

bool had_a_lock(const Analysis& analysis) {
  return std::any_of(analysis.cells.begin(), analysis.cells.end(), [](const CellSummary& cell) {
    return cell.counted > 0 && cell.cell.lock != Lock::none;
  });
}

/// Whether something failed, and nobody knows of the main thread by itself.
bool lacks_main_thread(const Analysis& analysis) {
  const auto any = [&](auto is) { return std::ranges::any_of(analysis.cells, is); };
  return any([](const CellSummary& cell) { return cell.failures > 0; }) &&
         !any([](const CellSummary& cell) {
           return cell.counted > 0 && cell.cell.start == Start::main;
         });
}

bool was_run(const CellSummary& cell) {
  return cell.counted + cell.refused > 0;
}

// "16 threads, 2 kinds of cell to fewer": as far as they were tried.
std::string threads_tried(const Analysis& analysis) {
  const CommonAxes common(analysis);
  std::map<std::string, int32_t> most;  // by kind of cell
  int32_t all = 0;
  for (const CellSummary& cell : analysis.cells) {
    if (!was_run(cell) || cell.cell.lock != Lock::none || cell.cell.processes > 1) continue;
    int32_t& threads = most[common.label(cell.cell, {"threads", "processes", "warmup"})];
    threads = std::max(threads, cell.cell.threads);
    all = std::max(all, threads);
  }
  if (all == 0) return "";
  const auto fewer = std::count_if(most.begin(), most.end(),
                                   [all](const auto& kind) { return kind.second < all; });
  return counted(all, "threads") +
         (fewer == 0 ? "" : fmt::format(", {} to fewer", counted(fewer, "kinds of cell")));
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
  const bool own_command = own_command_in(analysis.header.environment).has_value();
  const std::string threads = counts_threads(analysis) ? threads_tried(analysis) : "";
  std::string to = joined({threads.empty() ? "" : "to " + threads,
                           processes > 1 ? "to " + counted(processes, "processes") : ""},
                          "; ");
  if (to.empty()) to = own_command ? "as it is" : "as planned";
  std::string text = fmt::format("Tried{} {}.", device_tried(analysis), to);
  const std::string not_tried =
      joined({processes <= 1 ? "several processes" : "",
              own_command || had_a_lock(analysis) ? "" : "a lock",
              !own_command && lacks_main_thread(analysis) ? "the main thread alone" : "",
              analysis.arms.size() < 2 ? "other releases" : "",
              cells > 0 ? counted(cells, "cells") + " of the plan" : ""});
  return text + (not_tried.empty() ? "" : " Not tried: " + not_tried + ".");
}

// Nothing where nobody but the reader maintains what failed.
std::string_view maintainers_of(const CellSummary& cell, const Arm& arm) {
  if (cell.cell.backend == Backend::metal) return "apple";
  if (arm.name == "MLX") return "mlx";
  return arm.name == "LibTorch" ? "pytorch" : "";
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

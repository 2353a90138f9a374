#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/statistics/anytime.h"
#include "harness/wire/own_command.h"
#include "reports/analysis/common_axes.h"
#include "reports/claims/answer.h"
#include "reports/claims/families.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

using CellsOfBuild = std::vector<const CellSummary*>;

// The name of a build, with what it is where the name does not say so.
std::string build_name(const Analysis& analysis, size_t arm) {
  const Arm& build = analysis.arms[arm];
  std::string library = shortened(printable(library_in_words(build)), 40);
  std::string label = shortened(printable(build.label), 40);
  if (library.empty()) return label;
  if (analysis.arms.size() == 1) return library;
  const bool told = build.version.empty() || build.label.find(build.version) != std::string::npos;
  return told ? label : label + " (" + library + ")";
}

bool in_processes(const CellSummary& cell) {
  return cell.cell.processes > 1;
}

// Greater the less load the cell has.
auto least_load(const CellSummary& cell) {
  return std::tuple(-int64_t{cell.cell.threads} * cell.cell.processes, -cell.cell.threads);
}

/// "of 10 trials 6 wrong numbers, 1 crash, 3 refused": of one cell.
std::string trials_in_words(const Analysis& analysis, const CellSummary& cell) {
  std::vector<std::string> parts = failures_in_words(analysis, cell);
  if (cell.refused > 0) parts.push_back(fmt::format("{} refused", cell.refused));
  return fmt::format("of {} {}", counted(cell.counted + cell.refused, "trials"),
                     fmt::join(parts, ", "));
}

/// The lines of one build.
class BuildLines {
 public:
  BuildLines(const Analysis& analysis, size_t arm)
      : analysis_(analysis), arm_(arm), name_(build_name(analysis, arm)) {
    for (const CellSummary& cell : analysis.cells) {
      together_ += cell.counted > 0 ? 1 : 0;
      if (cell.arm != arm) continue;
      cells_.push_back(&cell);
      if (cell.counted > 0) tested_.push_back(&cell);
      if (cell.failures > 0) failing_.push_back(&cell);
      if (cell.counted > 0 && cell.failures == 0) clear_.push_back(&cell);
      headline_.fails = headline_.fails || fails(analysis, cell);
    }
    headline_.tested = !tested_.empty();
  }

  Headline lines() {
    if (!failing_.empty()) say_worst();
    if (failing_.empty() && refused_trials() > 0) {
      headline_.lines.push_back({name_ + ": " + refuses() + ".", name_, "refuses"});
    }
    if (!clear_.empty()) say_safe();
    say_main_thread();
    return std::move(headline_);
  }

 private:
  /// The first of those that fail and pass `filter`, by the largest `key`; null where none does.
  const CellSummary* first_by(const auto& key, const auto& filter) const {
    const CellSummary* first = nullptr;
    for (const CellSummary* cell : failing_) {
      if (filter(*cell) && (first == nullptr || key(*cell) > key(*first))) first = cell;
    }
    return first;
  }

  void say_worst() {
    const auto rate = [](const CellSummary& cell) { return cell.seen_rate(); };
    const auto rate_then_load = [](const CellSummary& cell) {
      return std::tuple(cell.seen_rate(), least_load(cell));
    };
    const CellSummary& worst = *first_by(rate_then_load, [](const CellSummary&) { return true; });
    std::string text = fmt::format("{}: {}: {}", name_, cell_in_words(analysis_, worst),
                                   trials_in_words(analysis_, worst));
    if (tested_.size() > 1) {
      text += fmt::format("; {} of {} {}", failing_.size(), counted(tested_.size(), "cells"),
                          failing_.size() == 1 ? "fails" : "fail");
    }
    headline_.lines.push_back({text + ".", name_, failures_in_words(analysis_, worst).front()});
    // The fewest that fail, of a campaign that settles as far as that was asked.
    const CellSummary* fewest = first_by(
        [](const CellSummary& cell) { return std::tuple(least_load(cell), cell.seen_rate()); },
        [&](const CellSummary& cell) {
          return in_processes(cell) == in_processes(worst) &&
                 least_load(cell) > least_load(worst) &&
                 (fails(analysis_, cell) || !headline_.fails);
        });
    const CellSummary* other_axis = first_by(
        rate, [&](const CellSummary& cell) { return in_processes(cell) != in_processes(worst); });
    std::vector<std::string> besides;
    for (const auto& [cell, what] :
         {std::pair(fewest, "fewest: "), std::pair(other_axis, "also ")}) {
      if (cell == nullptr) continue;
      besides.push_back(fmt::format("{}{} ({} of {})", what, cell_in_words(analysis_, *cell),
                                    cell->failures, cell->counted));
    }
    if (refused_trials() > 0) besides.push_back(refuses());
    if (besides.empty()) return;
    headline_.lines.push_back({fmt::format("{}, {}.", name_, fmt::join(besides, "; ")), name_, ""});
  }

  int refused_trials() const {
    int trials = 0;
    for (const CellSummary* cell : cells_) trials += cell->refused;
    return trials;
  }

  std::string refuses() const {
    std::set<std::string> what;
    int64_t where = 0;
    for (const CellSummary* cell : cells_) {
      where += cell->refused > 0 ? 1 : 0;
      for (const OutcomeCount& count : cell->outcomes) {
        if (count.outcome == Outcome::refused) what.insert(shortened(printable(count.detail), 50));
      }
    }
    return fmt::format("refuses {} ({} in {})", fmt::join(what, ", "),
                       counted(refused_trials(), "trials"), counted(where, "cells"));
  }

  // The highest rate that a cell of these may have, over all cells that the run tested.
  std::string bound(const CellsOfBuild& cells) const {
    double highest = 0;
    for (const CellSummary* cell : cells) {
      highest =
          std::max(highest, rate_interval(analysis_.sampling, 0, cell->counted, together_).high);
    }
    return percent_up(highest);
  }

  // Up to which number of threads nothing failed and nothing was refused, where some did above.
  std::string safe_threads() const {
    int32_t least_bad = INT32_MAX;
    int32_t most = 0;
    bool bad_in_processes = false;
    for (const CellSummary* cell : cells_) {
      if (cell->failures + cell->refused == 0) continue;
      if (in_processes(*cell)) {
        bad_in_processes = true;
      } else {
        least_bad = std::min(least_bad, cell->cell.threads);
      }
    }
    for (const CellSummary* cell : clear_) {
      if (!in_processes(*cell) && cell->cell.threads < least_bad) {
        most = std::max(most, cell->cell.threads);
      }
    }
    if (most == 0 || clear_.size() == tested_.size()) return "";
    return fmt::format(" {}{}{}, and", most == 1 ? "with " : "up to ", counted(most, "threads"),
                       bad_in_processes ? " in one process" : "");
  }

  void say_safe() {
    int trials = 0;
    int without_meeting = 0;
    for (const CellSummary* cell : clear_) {
      trials += cell->counted;
      without_meeting += cell->overlap == Overlap::none ? 1 : 0;
    }
    // The name stands above already, or in short.
    const bool again = !headline_.lines.empty();
    const std::string name = !again ? name_ : analysis_.arms.size() > 1 ? short_name() : "";
    const bool all = clear_.size() == tested_.size();
    std::string text = fmt::format(
        "{}o failure{} in {} (0 of {})", name.empty() ? "N" : name + ": n", safe_threads(),
        all ? (clear_.size() > 1 ? "all " : "") + counted(clear_.size(), "cells")
            : fmt::format("{} of {}", clear_.size(), counted(tested_.size(), "cells")),
        trials);
    if (without_meeting > 0) {
      text += fmt::format(", where threads never met in {}",
                          static_cast<size_t>(without_meeting) == clear_.size()
                              ? "any"
                              : std::to_string(without_meeting));
    }
    text += fmt::format("; {}below {} (95%).", clear_.size() > 1 ? "all " : "", bound(clear_));
    headline_.lines.push_back({text, name, ""});
  }

  // Where no thread was started there is nothing to be safe from: what fails then is another fault.
  void say_main_thread() {
    int trials = 0;
    int cells = 0;
    const CellSummary* worst = nullptr;
    for (const CellSummary* cell : tested_) {
      if (cell->cell.start != Start::main) continue;
      trials += cell->counted;
      ++cells;
      if (worst == nullptr || cell->seen_rate() > worst->seen_rate()) worst = cell;
    }
    if (worst == nullptr || failing_.empty()) return;
    const std::string what =
        worst->failures == 0
            ? fmt::format("nothing failed in {} (0 of {})", counted(cells, "cells"), trials)
            : fmt::format("too: {} ({} of {})", cell_in_words(analysis_, *worst), worst->failures,
                          worst->counted);
    const std::string name = analysis_.arms.size() > 1 ? short_name() : "";
    headline_.lines.push_back(
        {fmt::format("{} the main thread alone {}.", name.empty() ? "On" : name + ", on", what),
         name, ""});
  }

  std::string short_name() const { return shortened(printable(analysis_.arms[arm_].label), 40); }

  const Analysis& analysis_;
  size_t arm_;
  std::string name_;
  CellsOfBuild cells_;
  int64_t together_ = 0;  ///< cells that any build tested
  CellsOfBuild tested_;
  CellsOfBuild failing_;
  CellsOfBuild clear_;
  Headline headline_;
};

}  // namespace

Headline headline_of(const Analysis& analysis, size_t arm) {
  return BuildLines(analysis, arm).lines();
}

bool counts_threads(const Analysis& analysis) {
  const auto command = own_command_in(analysis.header.environment);
  return !command.has_value() || names_parameter(*command, "threads");
}

std::string cell_in_words(const Analysis& analysis, const CellSummary& cell) {
  const bool processes = in_processes(cell);
  const bool threads = counts_threads(analysis) && (!processes || cell.cell.threads > 1);
  return joined({brief(CommonAxes(analysis).label(cell.cell, {"threads", "processes"})),
                 joined({processes ? counted(cell.cell.processes, "processes") : "",
                         threads ? counted(cell.cell.threads, "threads") : ""},
                        " of ")});
}

}  // namespace mpsprobe

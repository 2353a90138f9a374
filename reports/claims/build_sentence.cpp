#include "reports/claims/build_sentence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "harness/outcome/whereabouts.h"
#include "reports/analysis/common_axes.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

using CellsOfBuild = std::vector<const CellSummary*>;

// What a cell is apart from how many threads and processes work on it, and from a lock.
std::string kind_of(const CellSummary& cell) {
  Cell kind = cell.cell;
  kind.threads = 1;
  kind.processes = 1;
  kind.lock = Lock::none;
  return to_string(kind);
}

bool has_several_kinds(const Analysis& analysis) {
  return std::any_of(analysis.cells.begin(), analysis.cells.end(),
                     [first = kind_of(analysis.cells.front())](const auto& cell) {
                       return kind_of(cell) != first;
                     });
}

// The name of a build, with what it is where the name does not say so.
std::string build_name(const Analysis& analysis, size_t arm) {
  const Arm& build = analysis.arms[arm];
  std::string library = shortened(printable(library_in_words(build)), 60);
  std::string label = shortened(printable(build.label), 40);
  if (library.empty()) return label;
  if (analysis.arms.size() == 1) return library;
  const bool told = build.version.empty() || build.label.find(build.version) != std::string::npos;
  return told ? label : label + " (" + library + ")";
}

// "4 threads", "4 processes of 1 thread each".
std::string load_in_words(const CellSummary& cell) {
  std::string threads = counted(cell.cell.threads, "threads");
  if (cell.cell.processes == 1) return threads;
  return counted(cell.cell.processes, "processes") + " of " + threads + " each";
}

std::string trials_in_words(int failures, int trials) {
  return fmt::format("{} of {}", failures, counted(trials, "trials"));
}

/// The sentence of one build.
class BuildSentence {
 public:
  BuildSentence(const Analysis& analysis, const SettledPlaces& places, const CellsOfBuild& cells)
      : analysis_(analysis), places_(places), cells_(cells), common_(analysis) {
    for (const CellSummary* cell : cells_) {
      if (cell->counted > 0) ++tested_;
      if (places_.fails(*cell)) fails_ = true;
    }
  }

  bool fails() const { return fails_; }
  bool tested() const { return tested_ > 0; }

  std::string text() {
    std::vector<std::string> parts;
    const auto add = [&parts](std::string part) {
      if (!part.empty()) parts.push_back(std::move(part));
    };
    add(safe());
    for (size_t harm = 0; harm < kHarms; ++harm) add(harms(static_cast<Harm>(harm)));
    add(refuses());
    add(others());
    add(bounds());
    return fmt::format("{}: {}.", build_name(analysis_, cells_.front()->arm),
                       fmt::join(parts, "; "));
  }

 private:
  bool is_clear(const CellSummary& cell) const { return cell.refused == 0 && !places_.fails(cell); }

  std::string no_failure(const std::string& where, const CellsOfBuild& among) {
    int failures = 0;
    int trials = 0;
    int64_t number = 0;
    bool met = false;
    bool several = false;
    for (const CellSummary* cell : among) {
      if (cell->counted == 0) continue;
      fewest_ = std::min(fewest_, cell->counted);
      widest_ = std::max(widest_, cell->rate.high);
      failures += cell->failures;
      trials += cell->counted;
      ++number;
      several = several || cell->cell.threads > 1;
      met = met || cell->overlap == Overlap::seen || cell->overlap == Overlap::prevented;
    }
    if (number == 0) return "";
    if (failures == 0) clear_ += number;
    std::string text =
        failures == 0 ? "no failure" : fmt::format("below {:g}%", analysis_.settling->rate * 100);
    text += fmt::format(" {} ({}, {})", where, trials_in_words(failures, trials),
                        counted(number, "cells"));
    if (several && !met) text += ", where no two threads were ever inside an operation at once";
    return text;
  }

  // What no failure is worth. Of a campaign that settles, the settled place says it.
  std::string bounds() const {
    if (clear_ == 0 || analysis_.settling) return "";
    std::string text = "where nothing failed, the rate is below " + percent_up(widest_);
    if (clear_ > 1) {
      text += fmt::format(" in any one cell, below {} in all {} at once,",
                          percent_up(joint_upper_bound(fewest_, clear_)), clear_);
    }
    return text + " with 95% confidence";
  }

  // Up to which number of threads nothing failed and nothing was refused.
  std::string safe() {
    int32_t least_bad = INT32_MAX;
    for (const CellSummary* cell : cells_) {
      if (!is_clear(*cell)) least_bad = std::min(least_bad, cell->cell.threads);
    }
    int32_t most = 0;
    for (const CellSummary* cell : cells_) {
      if (cell->counted == 0 || cell->cell.threads >= least_bad) continue;
      safe_.push_back(cell);
      most = std::max(most, cell->cell.threads);
    }
    if (safe_.empty()) return "";
    return no_failure((most == 1 ? "with " : "up to ") + counted(most, "threads"), safe_);
  }

  std::string harms(Harm harm) const {
    const CellSummary* least = nullptr;
    int64_t number = 0;
    const auto load = [harm](const CellSummary& cell) {
      return std::tuple(cell.cell.lock != Lock::none, cell.cell.threads, cell.cell.processes,
                        -static_cast<double>(trials_with(cell, harm)) / cell.counted);
    };
    for (const CellSummary* cell : cells_) {
      if (!places_.fails(*cell) || trials_with(*cell, harm) == 0) continue;
      ++number;
      if (least == nullptr || load(*cell) < load(*least)) least = cell;
    }
    if (least == nullptr) return "";
    std::string text(in_words(harm));
    // Whoever reads "crashes" believes that it was at work.
    if (const std::optional<Phase> phase = phase_after_work(cells_, harm)) {
      text += fmt::format(" {}", words_for(*phase));
    }
    text += least->cell.threads == 1 && least->cell.processes == 1 ? " already with " : " from ";
    text += load_in_words(*least) + " (";
    if (has_several_kinds(analysis_))
      text += common_.label(least->cell, {"threads", "processes"}) + ": ";
    text += fmt::format("{} of {}", trials_with(*least, harm), least->counted);
    if (tested_ > 1) text += fmt::format("; in {} of {}", number, counted(tested_, "cells"));
    return text + ")";
  }

  std::string refuses() const {
    std::set<std::string> what;
    int trials = 0;
    int64_t where = 0;
    for (const CellSummary* cell : cells_) {
      if (cell->refused == 0) continue;
      trials += cell->refused;
      ++where;
      for (const OutcomeCount& count : cell->outcomes) {
        if (count.outcome == Outcome::refused) what.insert(printable(count.detail));
      }
    }
    if (trials == 0) return "";
    return fmt::format("refuses {} ({} in {})", fmt::join(what, ", "), counted(trials, "trials"),
                       counted(where, "cells"));
  }

  std::string others() {
    CellsOfBuild others;
    for (const CellSummary* cell : cells_) {
      const bool told = std::find(safe_.begin(), safe_.end(), cell) != safe_.end();
      if (cell->counted > 0 && is_clear(*cell) && !told) others.push_back(cell);
    }
    return no_failure("in all other cells", others);
  }

  const Analysis& analysis_;
  const SettledPlaces& places_;
  const CellsOfBuild& cells_;
  CommonAxes common_;
  CellsOfBuild safe_;
  int64_t tested_ = 0;
  int64_t clear_ = 0;     ///< cells that are said to have no failure
  int fewest_ = INT_MAX;  ///< trials of one of these
  double widest_ = 0;     ///< upper bound of the rate of one of these
  bool fails_ = false;
};

}  // namespace

BuildAnswer answer_of_build(const Analysis& analysis, const SettledPlaces& places,
                            const std::vector<const CellSummary*>& cells) {
  BuildSentence sentence(analysis, places, cells);
  return {sentence.text(), sentence.fails(), sentence.tested()};
}

}  // namespace mpsprobe

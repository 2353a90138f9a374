#include "reports/claims/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "harness/outcome/whereabouts.h"
#include "reports/analysis/common_axes.h"
#include "reports/words/report_words.h"

namespace mpsprobe {
namespace {

/// Kinds of failure, the worst first.
struct Harm {
  std::string_view one;  ///< empty: see wrong_result_words()
  std::string_view several;
  std::array<Outcome, 2> outcomes;
};
constexpr std::array<Harm, 9> kHarms{
    {{"crash", "crashes", {Outcome::signal, Outcome::assertion}},
     {"early end", "early ends", {Outcome::exit, Outcome::missing}},
     {"hang", "hangs", {Outcome::hang, Outcome::hang}},
     {"", "", {Outcome::wrong_result, Outcome::wrong_result}},
     {"data race", "data races", {Outcome::data_race, Outcome::data_race}},
     {"GPU error", "GPU errors", {Outcome::gpu_error, Outcome::gpu_error}},
     {"out of memory", "out of memory", {Outcome::out_of_memory, Outcome::out_of_memory}},
     {"exception", "exceptions", {Outcome::exception, Outcome::exception}},
     // The caller did, and not the library.
     {"rule broken by its caller",
      "rules broken by their caller",
      {Outcome::misuse, Outcome::misuse}}}};

class FamilyList {
 public:
  FamilyList(const Analysis& analysis, const std::vector<const CellSummary*>& cells)
      : analysis_(analysis), cells_(cells), common_(analysis) {}

  std::vector<Family> find() {
    for (const CellSummary* cell : cells_) {
      const bool alone = cell->cell.threads == 1 && cell->cell.processes > 1;
      add(alone ? "processes" : "threads", *cell);
    }
    share_the_smallest();
    for (Family& family : families_) {
      for (auto& cells : family.by_arm) {
        std::stable_sort(cells.begin(), cells.end(),
                         [&family](const CellSummary* a, const CellSummary* b) {
                           return count_in(family, *a) < count_in(family, *b);
                         });
      }
    }
    return std::move(families_);
  }

 private:
  static std::string group_of(const std::string& axis, Cell cell) {
    (axis == "threads" ? cell.threads : cell.processes) = 1;
    return axis + "/" + to_string(cell);
  }

  void add(const std::string& axis, const CellSummary& cell) {
    const auto [at, fresh] = index_.try_emplace(group_of(axis, cell.cell), families_.size());
    if (fresh) {
      Family family;
      family.axis = axis;
      family.label = common_.label(cell.cell, {"threads", "processes"});
      if (axis == "threads" && cell.cell.processes > 1) {
        family.label += ", processes=" + std::to_string(cell.cell.processes);
      }
      if (axis == "processes") family.label += ", in processes";
      family.by_arm.resize(analysis_.arms.size());
      families_.push_back(std::move(family));
    }
    families_[at->second].by_arm[cell.arm].push_back(&cell);
  }

  // One process of one thread begins both series; where it is all that a series of threads has, it
  // is no series.
  void share_the_smallest() {
    std::vector<size_t> gone;
    for (const CellSummary* cell : cells_) {
      if (cell->cell.threads != 1 || cell->cell.processes != 1) continue;
      const auto processes = index_.find(group_of("processes", cell->cell));
      if (processes == index_.end()) continue;
      families_[processes->second].by_arm[cell->arm].push_back(cell);
      const size_t threads = index_.at(group_of("threads", cell->cell));
      if (std::all_of(families_[threads].by_arm.begin(), families_[threads].by_arm.end(),
                      [](const auto& cells) { return cells.size() < 2; })) {
        gone.push_back(threads);
      }
    }
    std::sort(gone.begin(), gone.end());
    gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
    for (size_t i = gone.size(); i-- > 0;) {
      families_.erase(families_.begin() + static_cast<std::ptrdiff_t>(gone[i]));
    }
  }

  const Analysis& analysis_;
  const std::vector<const CellSummary*>& cells_;
  CommonAxes common_;
  std::vector<Family> families_;
  std::map<std::string, size_t> index_;
};

}  // namespace

std::vector<Family> families_of(const Analysis& analysis) {
  std::vector<const CellSummary*> cells;
  for (const CellSummary& cell : analysis.cells) cells.push_back(&cell);
  return families_of(analysis, cells);
}

std::vector<Family> families_of(const Analysis& analysis,
                                const std::vector<const CellSummary*>& cells) {
  return FamilyList(analysis, cells).find();
}

int32_t count_in(const Family& family, const CellSummary& cell) {
  return family.axis == "threads" ? cell.cell.threads : cell.cell.processes;
}

std::vector<std::string> failures_in_words(const Analysis& analysis, const CellSummary& cell) {
  std::vector<std::string> all;
  for (const Harm& harm : kHarms) {
    int trials = 0;
    std::set<std::optional<Phase>> phases;
    for (const OutcomeCount& count : cell.outcomes) {
      if (count.outcome != harm.outcomes[0] && count.outcome != harm.outcomes[1]) continue;
      trials += count.trials;
      phases.insert(count.phase);
    }
    if (trials == 0) continue;
    std::string_view words = trials == 1 ? harm.one : harm.several;
    if (words.empty()) {
      const WrongResultWords& wrong = wrong_result_words(analysis, cell.cell);
      words = trials == 1 ? wrong.one : wrong.several;
    }
    all.push_back(fmt::format("{} {}", trials, words));
    // Whoever reads "crashes" believes that it was at work.
    const std::optional<Phase> phase = phases.size() == 1 ? *phases.begin() : std::nullopt;
    if (phase == Phase::teardown || phase == Phase::finalise) {
      all.back() += fmt::format(" {}", words_for(*phase));
    }
  }
  return all;
}

bool fails(const Analysis& analysis, const CellSummary& cell) {
  const double asked = analysis.settling ? analysis.settling->rate : 0;
  return cell.failures > 0 && cell.failures >= asked * cell.counted;
}

}  // namespace mpsprobe

#include "reports/claims/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "reports/analysis/common_axes.h"

namespace mpsprobe {
namespace {

std::optional<Harm> harm_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::signal:
    case Outcome::assertion:
      return Harm::crashes;
    case Outcome::exit:
    case Outcome::missing:
      return Harm::ends_early;
    case Outcome::hang:
      return Harm::hangs;
    case Outcome::wrong_result:
      return Harm::wrong_numbers;
    case Outcome::gpu_error:
      return Harm::gpu_errors;
    case Outcome::data_race:
      return Harm::data_races;
    case Outcome::out_of_memory:
      return Harm::out_of_memory;
    case Outcome::misuse:
      return Harm::breaks_rules;
    case Outcome::exception:
      return Harm::throws;
    default:
      return std::nullopt;
  }
}

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

std::string in_words(Harm harm, int trials) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, kHarms> kWords{
      {{"crash", "crashes"},
       {"early end", "early ends"},
       {"hang", "hangs"},
       {"wrong number", "wrong numbers"},
       {"data race", "data races"},
       {"GPU error", "GPU errors"},
       {"out of memory", "out of memory"},
       {"exception", "exceptions"},
       {"rule broken by its caller", "rules broken by their caller"}}};
  const auto& [one, several] = kWords[static_cast<size_t>(harm)];
  return fmt::format("{} {}", trials, trials == 1 ? one : several);
}

int trials_with(const CellSummary& cell, Harm harm) {
  int trials = 0;
  for (const OutcomeCount& count : cell.outcomes) {
    if (harm_of(count.outcome) == harm) trials += count.trials;
  }
  return trials;
}

std::optional<Phase> phase_after_work(const std::vector<const CellSummary*>& cells, Harm harm) {
  std::optional<Phase> phase;
  for (const CellSummary* cell : cells) {
    for (const OutcomeCount& count : cell->outcomes) {
      if (harm_of(count.outcome) != harm) continue;
      if (count.phase != Phase::teardown && count.phase != Phase::finalise) return std::nullopt;
      if (phase.has_value() && phase != count.phase) return std::nullopt;
      phase = count.phase;
    }
  }
  return phase;
}

bool fails(const Analysis& analysis, const CellSummary& cell) {
  const double asked = analysis.settling ? analysis.settling->rate : 0;
  return cell.failures > 0 && cell.failures >= asked * cell.counted;
}

}  // namespace mpsprobe

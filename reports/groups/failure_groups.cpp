#include "reports/groups/failure_groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "harness/wire/axis.h"
#include "reports/claims/comparisons.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"

namespace mpsprobe {
namespace {

/// What cells of one operation may differ in. Not in rounds of threads: their starts and ends run
/// outside a lock, and fail by themselves.
constexpr std::array<std::string_view, 5> kWithin{"threads", "iterations", "model", "lock",
                                                  "stream"};

Cell with(Cell cell, std::string_view name, std::string_view value) {
  const Axis& axis = *find_axis(name);
  axis.write(cell, axis, value);
  return cell;
}

bool has_own_stream(const Cell& cell) {
  return find_axis("stream")->read(cell) != find_axis("stream")->default_value;
}

Cell on_shared_stream(const Cell& cell) {
  return with(cell, "stream", find_axis("stream")->default_value);
}

std::string key_of(Cell cell) {
  for (const std::string_view name : kWithin)
    cell = with(cell, name, find_axis(name)->default_value);
  return to_string(cell);
}

/// A condition of the cells under test, and what the same cell is without it.
struct Condition {
  std::string_view words;
  std::string_view otherwise;
  bool (*lacks)(const Cell&);
  Cell (*without)(const Cell&);
};

bool is_under_test(const Cell& cell) {
  return cell.threads > 1 && cell.lock == Lock::none;
}

/// In the order of kOfStreams and kOfRelease, which stands behind them.
constexpr std::array<Condition, 3> kConditions{
    {{"more than 1 thread", "with 1 thread",
      [](const Cell& cell) { return cell.threads == 1 && cell.lock == Lock::none; },
      [](const Cell& cell) { return with(cell, "threads", "1"); }},
     {"stream=per-thread", "with stream=default",
      [](const Cell& cell) { return is_under_test(cell) && !has_own_stream(cell); },
      on_shared_stream},
     {"no lock", "with a lock",
      [](const Cell& cell) { return cell.threads > 1 && cell.lock != Lock::none; },
      [](const Cell& cell) { return with(cell, "lock", "forward"); }}}};

// Nothing where the versions do not tell, or are the same.
std::string release_in_words(const Arm& arm, const Arm& other) {
  if (is_older(arm, other)) return "before " + other.version;
  return is_older(other, arm) ? "after " + other.version : "";
}

class GroupSearch {
 public:
  explicit GroupSearch(const Analysis& analysis) : analysis_(analysis) {
    for (size_t i = 0; i < analysis.cells.size(); ++i) {
      by_id_.try_emplace({analysis.cells[i].arm, analysis.cells[i].id}, i);
    }
  }

  FailureGroups find() {
    std::map<std::pair<size_t, std::string>, std::vector<size_t>> operations;
    std::vector<std::pair<size_t, std::string>> order;
    for (size_t i = 0; i < analysis_.cells.size(); ++i) {
      const CellSummary& cell = analysis_.cells[i];
      if (cell.counted == 0 || cell.cell.processes != 1) continue;
      const std::pair key{cell.arm, key_of(cell.cell)};
      auto& cells = operations[key];
      if (cells.empty()) order.push_back(key);
      cells.push_back(i);
    }
    FailureGroups found;
    for (const auto& key : order) {
      FailingOperation operation = operation_of(key.first, operations.at(key));
      if (operation.seen.failures > 0) found.operations.push_back(std::move(operation));
    }
    judge_groups(found, analysis_.sampling);
    for (FailingOperation& each : found.operations) find_telling(each);
    return found;
  }

 private:
  const CellSummary* counted_cell(size_t arm, const Cell& cell) const {
    const auto at = by_id_.find({arm, to_string(cell)});
    if (at == by_id_.end() || analysis_.cells[at->second].counted == 0) return nullptr;
    return &analysis_.cells[at->second];
  }

  static Proportion counts(const CellSummary& cell) { return {cell.failures, cell.counted}; }

  static void add(Proportion& sum, const Proportion& more) {
    sum.failures += more.failures;
    sum.trials += more.trials;
  }

  FailingOperation operation_of(size_t arm, const std::vector<size_t>& cells) {
    FailingOperation operation;
    operation.arm = arm;
    operation.worst = cells.front();
    operation.cells = cells;
    Cell kind = analysis_.cells[cells.front()].cell;
    for (const std::string_view name : kWithin) {
      kind = with(kind, name, find_axis(name)->default_value);
    }
    operation.label = cell_label(kind, {});
    for (const size_t i : cells) {
      const CellSummary& cell = analysis_.cells[i];
      if (!is_under_test(cell.cell)) continue;
      add(operation.seen, counts(cell));
      const CellSummary& worst = analysis_.cells[operation.worst];
      if (!is_under_test(worst.cell) || cell.seen_rate() > worst.seen_rate()) operation.worst = i;
    }
    if (operation.seen.failures == 0) return operation;
    for (const Condition& condition : kConditions) {
      operation.conditions.push_back(seen_of(condition, cells, arm));
    }
    for (size_t other = 0; other < analysis_.arms.size(); ++other) {
      const std::string words = release_in_words(analysis_.arms[arm], analysis_.arms[other]);
      const std::string otherwise = "in " + analysis_.arms[other].version;
      const Condition release{words, otherwise, [](const Cell&) { return false; },
                              [](const Cell& cell) { return cell; }};
      if (words.empty()) continue;
      operation.conditions.push_back(seen_of(release, cells, other));
      break;
    }
    for (size_t i = 0; i < analysis_.signatures.size(); ++i) {
      const auto& where = analysis_.signatures[i].cells;
      if (std::any_of(where.begin(), where.end(), [&cells](const SignatureGroup::Where& each) {
            return std::find(cells.begin(), cells.end(), each.summary) != cells.end();
          })) {
        operation.signatures.push_back(i);
      }
    }
    return operation;
  }

  // Cells that have the one without in common are added up before they are compared. `arm` is that
  // of the others.
  ConditionSeen seen_of(const Condition& condition, const std::vector<size_t>& cells,
                        size_t arm) const {
    ConditionSeen seen{std::string(condition.words), std::string(condition.otherwise)};
    std::map<std::string, Stratum> strata;
    for (const size_t i : cells) {
      const CellSummary& cell = analysis_.cells[i];
      if (condition.lacks(cell.cell)) add(seen.without, counts(cell));
      if (!is_under_test(cell.cell) || condition.lacks(cell.cell)) continue;
      const CellSummary* without = counted_cell(arm, condition.without(cell.cell));
      if (without == nullptr) continue;
      Stratum& stratum = strata[without->id];
      add(stratum.first, counts(cell));
      stratum.second = counts(*without);
      if (arm != cell.arm) add(seen.without, counts(*without));
    }
    for (const auto& [id, stratum] : strata) seen.strata.push_back(stratum);
    return seen;
  }

  // Another release runs the cells themselves.
  void find_telling(FailingOperation& operation) const {
    const Cell& cell = analysis_.cells[operation.worst].cell;
    for (size_t i = 0; i < operation.conditions.size(); ++i) {
      if (operation.conditions[i].need != Need::not_shown) continue;
      operation.telling.push_back(
          to_string(i < kConditions.size() ? kConditions[i].without(cell) : cell));
    }
  }

  const Analysis& analysis_;
  std::map<std::pair<size_t, std::string>, size_t> by_id_;
};

bool can_be_joined(const FailingOperation& operation) {
  const auto& conditions = operation.conditions;
  if (std::any_of(conditions.begin(), conditions.end(),
                  [](const ConditionSeen& each) { return each.need == Need::not_shown; })) {
    return false;
  }
  return conditions[kOfStreams].need == Need::none_seen ||
         (conditions.size() > kOfRelease && conditions[kOfRelease].need == Need::none_seen);
}

bool need_the_same(const FailingOperation& one, const FailingOperation& two) {
  return one.arm == two.arm &&
         std::equal(one.conditions.begin(), one.conditions.end(), two.conditions.begin(),
                    two.conditions.end(), [](const ConditionSeen& a, const ConditionSeen& b) {
                      return a.words == b.words && a.need == b.need;
                    });
}

}  // namespace

void judge_groups(FailureGroups& found, Sampling sampling) {
  std::vector<double> p_values;
  for (FailingOperation& operation : found.operations) {
    for (ConditionSeen& condition : operation.conditions) {
      if (condition.strata.empty()) continue;
      condition.p = stratified_p_value(sampling, condition.strata);
      p_values.push_back(condition.p);
    }
  }
  found.tests = p_values.size();
  const std::vector<double> corrected = holm_corrected(p_values);
  size_t next = 0;
  for (FailingOperation& operation : found.operations) {
    for (ConditionSeen& condition : operation.conditions) {
      int failures = condition.without.failures;
      for (const Stratum& stratum : condition.strata) failures += stratum.second.failures;
      if (!condition.strata.empty()) condition.corrected_p = corrected[next++];
      if (failures > 0) {
        condition.need = Need::goes_on;
      } else if (condition.corrected_p < kGroupLevel) {
        condition.need = Need::none_seen;
      }
    }
  }
  std::vector<bool> taken(found.operations.size());
  for (size_t i = 0; i < found.operations.size(); ++i) {
    if (taken[i] || !can_be_joined(found.operations[i])) continue;
    FailureGroup group{found.operations[i].arm, {i}};
    for (size_t k = i + 1; k < found.operations.size(); ++k) {
      if (taken[k] || !can_be_joined(found.operations[k]) ||
          !need_the_same(found.operations[i], found.operations[k])) {
        continue;
      }
      taken[k] = true;
      group.operations.push_back(k);
    }
    if (group.operations.size() > 1) found.groups.push_back(std::move(group));
  }
}

FailureGroups find_groups(const Analysis& analysis) {
  return GroupSearch(analysis).find();
}

std::vector<std::string> cells_that_tell(const Analysis& analysis, const FailureGroups& groups) {
  std::vector<std::string> cells;
  std::set<std::string> known;
  const auto add = [&](const Cell& cell) {
    std::string id = to_string(cell);
    if (known.insert(id).second) cells.push_back(std::move(id));
  };
  const bool open = std::any_of(groups.operations.begin(), groups.operations.end(),
                                [](const FailingOperation& each) { return !each.telling.empty(); });
  if (!open) return cells;
  // Also what is known already: the new run stands by itself.
  for (const FailingOperation& each : groups.operations) {
    const Cell& worst = analysis.cells[each.worst].cell;
    add(worst);
    for (const Condition& condition : kConditions) add(condition.without(worst));
  }
  return cells;
}

int trials_that_tell(const Analysis& analysis, const FailureGroups& groups, int most) {
  const double level = kGroupLevel / std::max<double>(1, 4.0 * groups.operations.size());
  double needed = 1;
  for (const FailingOperation& each : groups.operations) {
    const CellSummary& worst = analysis.cells[each.worst];
    // What was chosen for failing most often fails less often the next time.
    const double rate = (worst.failures + 0.5) / (worst.counted + 1.0) * 0.8;
    needed = std::max(needed, trials_to_see(rate, 0, level, 0.9));
  }
  return static_cast<int>(std::min<double>(most, std::ceil(needed)));
}

}  // namespace mpsprobe

#include "reports/analysis/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/wire/axis.h"
#include "reports/words/phrases.h"

namespace mpsprobe {
namespace {

constexpr std::string_view kMoreTrials = " More trials would tell.";

// Everything that must be equal for two cells to be compared along the axes that `reset` resets.
template <typename Reset>
std::string key_of(const CellSummary& cell, Reset reset) {
  Cell same = cell.cell;
  reset(same);
  return std::to_string(cell.arm) + "/" + to_string(same);
}

std::string label_of(const Analysis& analysis, size_t arm, const Cell& cell,
                     const std::vector<std::string_view>& without) {
  std::string label = cell_label(cell, without);
  if (analysis.arms.size() > 1) label += " (" + analysis.arms[arm].label + ")";
  return label;
}

// Two results differ where their intervals do not meet: 9 of 10 and 10 of 10 do not.
bool clearly_better(const CellSummary& passing, const CellSummary& failing) {
  return passing.counted > 0 && failing.failures > 0 && passing.rate.high < failing.rate.low;
}

void advise_threads(const Analysis& analysis, std::vector<Advice>& advice) {
  for (const Boundary& boundary : analysis.boundaries) {
    if (boundary.axis != "threads" || !boundary.fewest_failing || !boundary.most_passing) continue;
    if (boundary.most_passing->without_overlap || boundary.group.lock != Lock::none) continue;
    std::string label = cell_label(boundary.group, {"threads"});
    if (analysis.arms.size() > 1) label += " (" + boundary.worker + ")";
    const BoundaryPoint& passing = *boundary.most_passing;
    advice.push_back(
        {"threads", fmt::format("{}: at most {} at a time. There {}.", label,
                                counted(passing.count, "threads"),
                                confidence_in_words(0, passing.trials, passing.rate))});
  }
}

// The worst cell of several threads in one process, by arm and by what else the cell is; also by
// the default path, which stands for whichever path LibTorch takes.
std::map<std::string, const CellSummary*> worst_with_threads(const Analysis& analysis) {
  std::map<std::string, const CellSummary*> found;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.cell.processes != 1 || cell.cell.threads == 1 || cell.failures == 0) continue;
    Cell group = cell.cell;
    group.threads = 1;
    for (Path path : {cell.cell.path, Path::automatic}) {
      group.path = path;
      const std::string key = analysis.arms[cell.arm].label + "/" + to_string(group);
      const CellSummary*& worst = found[key];
      if (worst == nullptr || cell.rate.low > worst->rate.low) worst = &cell;
    }
  }
  return found;
}

// Process cells count as a way out where the same operation failed with threads in this run, on the
// same path or on the one that LibTorch takes by itself.
void advise_processes(const Analysis& analysis, std::vector<Advice>& advice,
                      std::vector<Remedy>& remedies) {
  const std::map<std::string, const CellSummary*> with_threads = worst_with_threads(analysis);
  for (const Boundary& boundary : analysis.boundaries) {
    if (boundary.axis != "processes" || boundary.group.threads != 1) continue;
    const auto at = with_threads.find(boundary.worker + "/" + to_string(boundary.group));
    if (at == with_threads.end()) continue;
    if (boundary.fewest_failing || !boundary.most_passing) {
      remedies.push_back({Remedy::Kind::processes, Remedy::Effect::fails_too, std::nullopt});
      continue;
    }
    const CellSummary* const worst = at->second;
    const BoundaryPoint& most = *boundary.most_passing;
    const std::string facts = fmt::format(
        "With {} of one thread each {}; with {} in one process {} of {} failed{}.",
        counted(most.count, "processes"), confidence_in_words(0, most.trials, most.rate),
        counted(worst->cell.threads, "threads"), worst->failures, worst->counted,
        worst->cell.path == boundary.group.path
            ? ""
            : fmt::format(" on the {} path", name_of(worst->cell.path)));
    const std::string label = label_of(analysis, worst->arm, boundary.group, {"threads"});
    const bool clear = most.rate.high < worst->rate.low;
    remedies.push_back({Remedy::Kind::processes,
                        clear ? Remedy::Effect::helps : Remedy::Effect::not_shown, std::nullopt});
    const std::string claim =
        clear ? "processes instead of threads." : "whether processes help is not shown.";
    advice.push_back({clear ? "processes" : "inconclusive",
                      fmt::format("{}: {} {}{}", label, claim, facts, clear ? "" : kMoreTrials)});
  }
}

struct LockPair {
  const CellSummary* none = nullptr;
  const CellSummary* forward = nullptr;
};

struct LockCost {
  double ratio = 0;  ///< operations a second with the lock, for one without
  std::string text;
};

// What the lock costs, at the largest thread count where both arms have passing trials; where there
// is none, against the most threads that passed without it.
std::optional<LockCost> lock_cost(const std::vector<LockPair>& pairs, const LockPair& best) {
  const LockPair* same = nullptr;
  const CellSummary* unlocked = nullptr;
  for (const LockPair& pair : pairs) {
    if (pair.none == nullptr || pair.none->verdict != Verdict::pass || !pair.none->throughput)
      continue;
    unlocked = pair.none;
    const bool both = pair.forward != nullptr && pair.forward->verdict == Verdict::pass &&
                      pair.forward->throughput && pair.none->cell.threads > 1;
    if (both) same = &pair;
  }
  const auto ratio = [](const CellSummary& with, const CellSummary& without) {
    return with.throughput->median / without.throughput->median;
  };
  if (same != nullptr && same->none->throughput->median > 0) {
    const double cost = ratio(*same->forward, *same->none);
    return LockCost{cost,
                    fmt::format("at {} it does {:.2f} times the operations per second of none",
                                counted(same->none->cell.threads, "threads"), cost)};
  }
  if (unlocked != nullptr && best.forward->throughput && unlocked->throughput->median > 0) {
    const double cost = ratio(*best.forward, *unlocked);
    return LockCost{
        cost, fmt::format("{} with it do {:.2f} times the operations per second of {} without",
                          counted(best.forward->cell.threads, "threads"), cost,
                          counted(unlocked->cell.threads, "threads"))};
  }
  return std::nullopt;
}

void advise_lock(const Analysis& analysis, std::vector<Advice>& advice,
                 std::vector<Remedy>& remedies) {
  // By group without threads and lock; within it by thread count.
  std::map<std::string, std::map<int32_t, LockPair>> groups;
  std::vector<std::string> order;
  for (const CellSummary& cell : analysis.cells) {
    const std::string key = key_of(cell, [](Cell& same) {
      same.threads = 1;
      same.lock = Lock::none;
    });
    if (!groups.contains(key)) order.push_back(key);
    LockPair& pair = groups[key][cell.cell.threads];
    (cell.cell.lock == Lock::forward ? pair.forward : pair.none) = &cell;
  }
  for (const std::string& key : order) {
    std::vector<LockPair> pairs;
    const LockPair* best = nullptr;
    bool fails_too = false;
    for (const auto& [threads, pair] : groups[key]) pairs.push_back(pair);
    for (const LockPair& pair : pairs) {
      if (pair.none == nullptr || pair.forward == nullptr) continue;
      if (pair.none->failures == 0) continue;
      if (pair.forward->verdict == Verdict::pass) best = &pair;
      fails_too = fails_too || pair.forward->failures > 0;
    }
    if (fails_too) {
      remedies.push_back({Remedy::Kind::lock, Remedy::Effect::fails_too, std::nullopt});
    }
    if (best == nullptr) continue;
    const std::string label =
        label_of(analysis, best->none->arm, best->none->cell, {"threads", "lock"});
    const std::string facts =
        fmt::format("With {} and the lock {}; without it {} of {} failed.",
                    counted(best->forward->cell.threads, "threads"),
                    confidence_in_words(0, best->forward->counted, best->forward->rate),
                    best->none->failures, best->none->counted);
    if (!clearly_better(*best->forward, *best->none)) {
      if (!fails_too) {
        remedies.push_back({Remedy::Kind::lock, Remedy::Effect::not_shown, std::nullopt});
      }
      advice.push_back(
          {"inconclusive", fmt::format("{}: whether a lock around forward helps is not shown. {}{}",
                                       label, facts, kMoreTrials)});
      continue;
    }
    const std::optional<LockCost> cost = lock_cost(pairs, *best);
    if (!fails_too) {
      remedies.push_back({Remedy::Kind::lock, Remedy::Effect::helps,
                          cost ? std::optional(cost->ratio) : std::nullopt});
    }
    advice.push_back({"lock", fmt::format("{}: a lock around forward. {}{}", label, facts,
                                          cost ? " Its price: " + cost->text + "." : "")});
  }
}

}  // namespace

std::vector<Advice> advise(const Analysis& analysis, std::vector<Remedy>& remedies) {
  std::vector<Advice> advice;
  advise_threads(analysis, advice);
  advise_processes(analysis, advice, remedies);
  advise_lock(analysis, advice, remedies);
  return advice;
}

}  // namespace mpsprobe

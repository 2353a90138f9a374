#include "reproducers/minimise/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproducers/minimise/simplification.h"

namespace mpsprobe {
namespace {

// Defects of threads are known that show at 3 and not at 4: so few are asked one by one, upwards.
constexpr int64_t kThreadsOneByOne = 4;

/// Between two counts, nearer to the smaller one: thresholds are more often 3 or 7 than 60, and a
/// small cell takes less time.
int64_t between(int64_t low, int64_t high) {
  const double middle = std::sqrt(static_cast<double>(low) * static_cast<double>(high));
  return std::clamp(static_cast<int64_t>(middle), low + 1, high - 1);
}

}  // namespace

Search::Search(const MinimiseRequest& request, Questions& questions, Minimum& minimum)
    : request_(request), questions_(questions), minimum_(minimum) {
  answers_[to_string(request.start)] = true;
}

void Search::run() {
  first_pass_ = true;
  while (pass()) first_pass_ = false;
}

/// True where something changed.
bool Search::pass() {
  const Cell before = minimum_.cell;
  needed_.clear();
  reset(axes_off_default(minimum_.cell));
  simplify_operation();
  lower_threads();
  lower_count(
      minimum_.cell.processes, 1,
      [](Cell& cell, int64_t count) { cell.processes = static_cast<int32_t>(count); },
      needed_.contains("processes"));
  lower_count(minimum_.cell.iterations, 1,
              [](Cell& cell, int64_t count) { cell.iterations = static_cast<int32_t>(count); });
  lower_count(
      minimum_.cell.churn, 1,
      [](Cell& cell, int64_t count) { cell.churn = static_cast<int32_t>(count); },
      needed_.contains("churn"));
  lower_sizes();
  return minimum_.cell != before;
}

bool Search::ask(const Cell& candidate) {
  if (const auto known = answers_.find(to_string(candidate)); known != answers_.end()) {
    // A cell may be reached again, by another way.
    if (known->second && candidate != minimum_.cell) stand_at(candidate);
    return known->second;
  }
  Reduction step;
  step.change = change_between(minimum_.cell, candidate);
  step.cell = candidate;
  step.reason = questions_.contradiction_of(candidate);
  if (!step.reason.empty()) {
    step.result = StepResult::skipped;
  } else {
    Decision decision = Decision::go_on;
    while (decision == Decision::go_on &&
           questions_.run(step.change, candidate, step.tally, minimum_.trials.steps)) {
      decision = decide(minimum_.question, step.tally.proportion());
    }
    RateQuestion unlimited = minimum_.question;
    unlimited.most_trials = step.tally.trials + 1;
    step.result = decision == Decision::often   ? StepResult::kept
                  : decision == Decision::go_on ? StepResult::not_run
                  : decide(unlimited, step.tally.proportion()) == Decision::seldom
                      ? StepResult::dropped
                      : StepResult::undecided;
  }
  record(step);
  return step.result == StepResult::kept;
}

void Search::stand_at(const Cell& cell) {
  path_.emplace_back(minimum_.cell, cell);
  minimum_.cell = cell;
}

void Search::record(const Reduction& step) {
  const bool kept = step.result == StepResult::kept;
  answers_[to_string(step.cell)] = kept;
  if (kept) stand_at(step.cell);
  minimum_.steps.push_back(step);
  questions_.tell(step);
}

void Search::take_back(const Tally& seen) {
  const auto [from, to] = path_.back();
  path_.pop_back();
  minimum_.cell = from;
  record({change_between(to, from), to, StepResult::undone, seen,
          "it failed too seldom in fresh trials"});
}

void Search::adopt(const Condition& condition) {
  record({condition.change, condition.cell, StepResult::kept, condition.tally,
          "found not to be needed when each condition was changed alone"});
}

void Search::reset(const std::vector<std::string_view>& names) {
  if (!first_pass_) {
    for (const std::string_view name : names) {
      const bool count = name == "processes" || name == "churn" || name == "shape";
      if (!count) ask(with_defaults(minimum_.cell, {name}));
    }
    return;
  }
  if (names.empty() || ask(with_defaults(minimum_.cell, names))) return;
  if (names.size() == 1) {
    needed_.insert(names.front());
    return;
  }
  const auto middle = names.begin() + static_cast<std::ptrdiff_t>(names.size() / 2);
  reset({names.begin(), middle});
  reset({middle, names.end()});
}

void Search::simplify_operation() {
  bool changed = true;
  while (changed) {
    const std::vector<Cell> parts =
        parts_of(minimum_.cell, request_.operations, minimum_.signature);
    changed =
        std::any_of(parts.begin(), parts.end(), [this](const Cell& part) { return ask(part); });
  }
}

Cell Search::with_threads(int64_t count) const {
  Cell cell = minimum_.cell;
  cell.threads = static_cast<int32_t>(count);
  // One thread has nothing to be started beside, nor anybody to share with.
  return count == 1 ? with_defaults(cell, {"start", "queue"}) : cell;
}

void Search::lower_threads() {
  const int64_t now = minimum_.cell.threads;
  if (now == 1 || (!first_pass_ && !ask(with_threads(now - 1)))) return;
  if (now == 2 || ask(with_threads(2))) {
    ask(with_threads(1));
    return;
  }
  for (int64_t count = 3; count < std::min(now, kThreadsOneByOne + 1); ++count) {
    if (ask(with_threads(count))) return;
  }
  bisect(minimum_.cell.threads, std::min(now - 1, kThreadsOneByOne),
         [](Cell& cell, int64_t count) { cell.threads = static_cast<int32_t>(count); });
}

/// A later pass asks for one step less alone; the whole search again only where that holds.
bool Search::lower_by_one(int64_t now, const Write& write) {
  Cell cell = minimum_.cell;
  write(cell, now - 1);
  return ask(cell);
}

void Search::lower_count(int64_t now, int64_t least, const Write& write, bool least_passes) {
  if (now <= least) return;
  if (!first_pass_) {
    if (!lower_by_one(now, write)) return;
    --now;
  }
  if (least_passes) {
    bisect(now, least, write);
    return;
  }
  for (int64_t low = least; low < now; ++low) {
    Cell cell = minimum_.cell;
    write(cell, low);
    if (ask(cell)) return;
    // The least count can make no sense for the rest of the cell, as one iteration with sync=end.
    if (questions_.contradiction_of(cell).empty()) {
      bisect(now, low, write);
      return;
    }
  }
}

/// The smallest count that fails, where all below `passing` pass.
void Search::bisect(int64_t failing, int64_t passing, const Write& write) {
  while (failing - passing > 1) {
    const int64_t middle = between(passing, failing);
    Cell cell = minimum_.cell;
    write(cell, middle);
    (ask(cell) ? failing : passing) = middle;
  }
}

void Search::lower_sizes() {
  const std::vector<int64_t> start = sizes_of(minimum_.cell.shape);
  const auto operation = request_.operations.find(minimum_.cell.op);
  std::vector<int64_t> usual;
  if (operation != request_.operations.end()) usual = sizes_of(operation->second.shape);
  for (size_t i = 0; i < start.size(); ++i) {
    // The default's sizes are as simple as any; where they mean something else, one is.
    const bool comparable = usual.size() == start.size() && usual[i] <= start[i];
    lower_count(start[i], comparable ? usual[i] : 1, [i](Cell& cell, int64_t size) {
      std::vector<int64_t> sizes = sizes_of(cell.shape);
      sizes[i] = size;
      cell.shape = shape_of(sizes);
    });
  }
}

}  // namespace mpsprobe

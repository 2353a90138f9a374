#include "harness/campaign/following.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace mpsprobe {
namespace {

/// Trials without evidence after which a cell is asked no more where it never gave any.
constexpr int kInVain = 10;

int load_of(const Cell& cell) {
  return cell.threads * cell.processes;
}

int trials_of(const SeenCell& cell) {
  return cell.seen.trials + cell.others;
}

}  // namespace

Following::Following(std::vector<SeenCell> cells) : cells_(std::move(cells)) {
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (size_t i = 0; i < cells_.size(); ++i) {
    Cell kind = cells_[i].cell;
    kind.threads = kind.processes = 1;
    kind.lock = Cell{}.lock;
    kind.warmup = Cell{}.warmup;
    const auto [at, fresh] = index.try_emplace({cells_[i].worker, to_string(kind)}, alike_.size());
    if (fresh) alike_.emplace_back();
    alike_[at->second].push_back(i);
    kind_of_.push_back(at->second);
  }
}

int Following::failures_like(size_t cell) const {
  int failures = 0;
  for (const size_t i : alike_[kind_of_[cell]]) failures += cells_[i].seen.failures;
  return failures;
}

bool Following::asks(size_t cell) const {
  return failures_like(cell) > 0 && trials_of(cells_[cell]) < kMostFollowed;
}

// A lock, processes, and what either is compared with: as many threads that take none.
bool Following::comes_first(size_t cell) const {
  const auto is_remedy = [](const Cell& each) {
    return each.lock != Cell{}.lock || each.processes > 1;
  };
  const Cell& asked = cells_[cell].cell;
  const auto& alike = alike_[kind_of_[cell]];
  return trials_of(cells_[cell]) < kRemediesFirst &&
         (is_remedy(asked) ||
          (asked.warmup == Cell{}.warmup && std::any_of(alike.begin(), alike.end(), [&](size_t i) {
             const Cell& other = cells_[i].cell;
             return is_remedy(other) && load_of(other) == load_of(asked);
           })));
}

std::optional<size_t> Following::next(const std::function<bool(size_t)>& busy) const {
  // What failed first, of that the most failures, then a lock and processes, then the fewest
  // trials.
  std::optional<size_t> best;
  std::tuple<bool, bool, int, bool, int> least;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const SeenCell& known = cells_[i];
    if (known.seen.trials == 0 && known.others >= kInVain) continue;
    const bool asked = asks(i);
    if (!asked && (known.if_failed || load_of(known.cell) < most_load(i))) continue;
    const std::tuple cost{busy(i), !asked, asked ? -failures_like(i) : 0, asked && !comes_first(i),
                          trials_of(known)};
    if (best && cost >= least) continue;
    best = i;
    least = cost;
  }
  return best;
}

int Following::most_load(size_t cell) const {
  int most = 0;
  for (const size_t i : alike_[kind_of_[cell]]) {
    if (!cells_[i].if_failed) most = std::max(most, load_of(cells_[i].cell));
  }
  return most;
}

}  // namespace mpsprobe

#include "harness/campaign/following.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace mpsprobe {
namespace {

/// Trials without evidence after which a cell is asked no more where it never gave any.
constexpr int kInVain = 10;

int trials_of(const FollowedCell& cell) {
  return cell.seen.trials + cell.others;
}

}  // namespace

Following::Following(std::vector<FollowedCell> cells) : cells_(std::move(cells)) {
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (size_t i = 0; i < cells_.size(); ++i) {
    Cell kind = cells_[i].cell;
    kind.threads = kind.processes = 1;
    kind.lock = Cell{}.lock;
    kind.warmup = Cell{}.warmup;
    const auto [at, fresh] = index.try_emplace({cells_[i].worker, to_string(kind)}, alike_.size());
    if (fresh) alike_.emplace_back();
    alike_[at->second].push_back(i);
  }
}

void Following::add(size_t cell, bool counts, bool fails) {
  FollowedCell& known = cells_[cell];
  if (counts) {
    ++known.seen.trials;
    known.seen.failures += fails ? 1 : 0;
  } else {
    ++known.others;
  }
}

bool Following::may_be_asked(size_t cell) const {
  const FollowedCell& known = cells_[cell];
  return (known.seen.trials > 0 || known.others < kInVain) && trials_of(known) < kMostFollowed;
}

std::optional<size_t> Following::next(const std::function<bool(size_t)>& busy) const {
  // Of cells that may be asked: what failed first, then the most failures, then the fewest trials.
  std::optional<size_t> best;
  std::tuple<bool, bool, int, int> least;
  for (const std::vector<size_t>& kind : alike_) {
    int failures = 0;
    int most_load = 0;
    for (const size_t i : kind) {
      failures += cells_[i].seen.failures;
      const Cell& cell = cells_[i].cell;
      if (!cells_[i].if_failed) most_load = std::max(most_load, cell.threads * cell.processes);
    }
    for (const size_t i : kind) {
      const FollowedCell& known = cells_[i];
      if (known.if_failed && failures == 0) continue;
      const bool asked = failures > 0 && may_be_asked(i);
      const bool loaded = known.cell.threads * known.cell.processes == most_load;
      if (!asked && (known.if_failed || !loaded)) continue;
      if (known.seen.trials == 0 && known.others >= kInVain) continue;
      const std::tuple cost{busy(i), !asked, asked ? -failures : 0, trials_of(known)};
      if (best && cost >= least) continue;
      best = i;
      least = cost;
    }
  }
  return best;
}

}  // namespace mpsprobe

#include "harness/stack/lock_cycle.h"

#include <unordered_map>

namespace mpsprobe {
namespace {

/// Who waits for whom. Of two entries with one thread_id the first counts.
std::unordered_map<uint64_t, uint64_t> waits_of(const std::vector<ThreadStack>& threads) {
  std::unordered_map<uint64_t, uint64_t> waits;
  for (const ThreadStack& thread : threads) {
    const Wait& wait = thread.wait;
    const bool for_somebody = wait.kind == Wait::Kind::lock && wait.owner != 0 && !wait.owner_gone;
    waits.emplace(thread.thread_id, for_somebody ? wait.owner : 0);
  }
  return waits;
}

}  // namespace

std::vector<uint64_t> lock_cycle(const std::vector<ThreadStack>& threads) {
  const std::unordered_map<uint64_t, uint64_t> waits = waits_of(threads);
  for (const ThreadStack& first : threads) {
    std::vector<uint64_t> chain;
    uint64_t id = first.thread_id;
    // A walk that is longer than there are threads has entered a circle that `first` is not in.
    while (id != 0 && chain.size() <= waits.size()) {
      chain.push_back(id);
      const auto next = waits.find(id);
      id = next != waits.end() ? next->second : 0;
      if (id == first.thread_id && id != 0) return chain;
    }
  }
  return {};
}

}  // namespace mpsprobe

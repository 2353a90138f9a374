#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace mpsprobe {

/// Results that a process keeps for comparison may hold this many bytes together; beyond them a
/// lane keeps its first and its last result only.
constexpr int64_t kKeptBytes = int64_t{256} << 20;

/// How much the lanes of a process may still keep. Any thread.
class KeptBudget {
 public:
  explicit KeptBudget(int64_t bytes) : left_(bytes) {}

  /// True as long as `bytes` more fit; counts them then.
  bool take(int64_t bytes) {
    if (left_.fetch_sub(bytes, std::memory_order_relaxed) >= bytes) return true;
    left_.fetch_add(bytes, std::memory_order_relaxed);
    return false;
  }

 private:
  std::atomic<int64_t> left_;
};

/// The results of one lane's launches, as many as the budget lets it keep. One thread at a time.
template <typename Results>
class KeptResults {
 public:
  struct Kept {
    int iteration = 0;
    Results results;
  };

  /// Keeps the results of a launch, which hold `bytes`. Where the budget is spent they replace
  /// those of the launch before, so that the first and the last are there in any case.
  void add(int iteration, Results results, int64_t bytes, KeptBudget& budget) {
    if (last_is_spare_) {
      kept_.pop_back();
      ++dropped_;
    }
    last_is_spare_ = !budget.take(bytes) && !kept_.empty();
    kept_.push_back({iteration, std::move(results)});
  }

  const std::vector<Kept>& all() const { return kept_; }
  /// Launches whose results were not kept.
  uint64_t dropped() const { return dropped_; }

 private:
  std::vector<Kept> kept_;
  bool last_is_spare_ = false;
  uint64_t dropped_ = 0;
};

}  // namespace mpsprobe

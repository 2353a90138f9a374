#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/campaign/seen_cell.h"

namespace mpsprobe {

/// The trials of a cell that failed, and of those that are compared with it, at most: after so many
/// the next failing kind has its turn.
constexpr int kMostFollowed = 60;
/// The trials of each cell that tells whether a lock or processes help, before any other one of its
/// kind has a turn: 8 failures in 10 against none in 20 are told from chance over many comparisons.
constexpr int kRemediesFirst = 20;

/// Which trial comes next in a run that looks for what fails, and then asks of that from how many
/// threads, and whether a lock, processes or a warm-up help. Cells are alike where they differ in
/// these alone. A function of what was seen, in whatever order. Not thread safe.
class Following {
 public:
  explicit Following(std::vector<SeenCell> cells);

  /// A trial of that cell ended; `counts` where it passed or failed.
  void add(size_t cell, bool counts, bool fails) { cells_[cell].add(counts, fails); }

  /// Of the cells that are alike and failed most often in all, the one with the fewest trials:
  /// first of those with a lock or in processes, and of those that they are compared with. Where
  /// none failed, or each has its most, that of the cells with the most load. Those that `busy`
  /// names come last. Nothing where nothing gives evidence.
  std::optional<size_t> next(const std::function<bool(size_t)>& busy) const;

  /// Whether a cell like it failed and it has fewer trials than the most.
  bool asks(size_t cell) const;

  const std::vector<SeenCell>& cells() const { return cells_; }

 private:
  int failures_like(size_t cell) const;
  bool comes_first(size_t cell) const;
  int most_load(size_t cell) const;  ///< of cells like it that are looked at anyway

  std::vector<SeenCell> cells_;
  std::vector<size_t> kind_of_;             ///< of each cell
  std::vector<std::vector<size_t>> alike_;  ///< of each kind
};

}  // namespace mpsprobe

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/campaign/boundary_search.h"
#include "harness/campaign/seen_cell.h"

namespace mpsprobe {

enum class LineState : uint8_t {
  settled,   ///< where failures begin is known, or that they do not, with the stated confidence
  open,      ///< more trials are needed
  given_up,  ///< its rates lie between those of the question, or nothing can be tried
};

/// Cells that differ in their count alone, of threads or of processes: a boundary lies on it.
struct SettlingLine {
  std::string axis;           ///< "threads" or "processes"
  std::vector<size_t> cells;  ///< indices, ascending by count
  std::vector<size_t> asked;  ///< of these, the ones that give evidence
  PlaceOfBoundary place;      ///< among those asked
  LineState state = LineState::open;
  std::optional<size_t> next;  ///< of an open line, the cell that must be tried
  /// How many more trials of `next` decide it where none of them fails: the least that is missing.
  int further = 0;
};

/// The questions of `run --settle RATE` over all cells, and which trial answers most. A function of
/// what was seen alone, in whatever order: a campaign that was killed goes on as it would have.
/// Not thread safe.
class Settling {
 public:
  /// `rate` in (0, 1), see settling_question.
  Settling(double rate, std::vector<SeenCell> cells);

  /// A trial of that cell ended; `counts` where it passed or failed.
  void add(size_t cell, bool counts, bool fails);

  /// The cell to try next, of the open line on which fewest trials were spent; those that `busy`
  /// names wait for their results, unless all do. Nothing where no line is open.
  std::optional<size_t> next(const std::function<bool(size_t)>& busy) const;

  /// Where nothing is open and there is time left: of the cells on both sides of a boundary the one
  /// whose interval is widest. Nothing where no cell gives evidence.
  std::optional<size_t> next_to_sharpen(const std::function<bool(size_t)>& busy) const;

  const std::vector<SettlingLine>& lines() const { return lines_; }
  const RateQuestion& question() const { return question_; }

 private:
  void find_lines();
  void judge(size_t line);
  int spent(const SettlingLine& line) const;

  RateQuestion question_;
  std::vector<SeenCell> cells_;
  std::vector<SettlingLine> lines_;
  std::vector<std::vector<size_t>> lines_of_;       ///< of each cell
  std::vector<std::vector<size_t>> beside_places_;  ///< of each line: cells next to its boundary
};

}  // namespace mpsprobe

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reproducers/minimise/questions.h"

namespace mpsprobe {

/// Goes from the start cell to a simpler one, by questions that keep or drop one change each. Never
/// asks the same cell twice: what was answered stays answered, unless it is taken back. `minimum`'s
/// `cell` is where it stands, and `steps` is the path and all that was tried beside it.
class Search {
 public:
  /// All references must outlive it.
  Search(const MinimiseRequest& request, Questions& questions, Minimum& minimum);

  /// Simplifies until a whole pass changes nothing. Throws Stopped.
  void run();

  /// The last step that was kept does not hold, as `seen` shows: back to where it came from. Not at
  /// the start cell.
  void take_back(const Tally& seen);

  /// `condition` can be left out and the failure stays: the search stands there now.
  void adopt(const Condition& condition);

 private:
  using Write = std::function<void(Cell&, int64_t)>;

  bool ask(const Cell& candidate);
  void stand_at(const Cell& cell);
  void record(const Reduction& step);
  Cell with_threads(int64_t count) const;
  void reset(const std::vector<std::string_view>& names);
  void simplify_operation();
  void lower_threads();
  void lower_count(int64_t now, int64_t least, const Write& write, bool least_passes = false);
  bool lower_by_one(int64_t now, const Write& write);
  void bisect(int64_t failing, int64_t passing, const Write& write);
  void lower_sizes();
  bool pass();

  const MinimiseRequest& request_;
  Questions& questions_;
  Minimum& minimum_;
  bool first_pass_ = true;                   ///< later ones only look whether one step less holds
  std::set<std::string_view> needed_;        ///< axes whose default alone was dropped in this pass
  std::map<std::string, bool> answers_;      ///< by cell: whether the failure stays
  std::vector<std::pair<Cell, Cell>> path_;  ///< of the steps that were kept: from, to
};

}  // namespace mpsprobe

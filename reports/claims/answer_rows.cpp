#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "reports/claims/answer.h"
#include "reports/claims/families.h"
#include "reports/words/counted.h"

namespace mpsprobe {
namespace {

/// Kinds of cell that share a row: they came out alike in every build, count by count.
struct Row : AnswerTable::Row {
  std::vector<std::string> labels;
  std::pair<int, double> weight;  ///< whether it fails, refuses or passes; then how often
};

// Where a campaign that settles came to: "10% or more from 3", "nowhere reaches 10%, not settled".
std::string place_in_words(const SettledPlace& place) {
  return (place.from ? fmt::format("{:g}% or more from {}", place.rate * 100, *place.from)
                     : fmt::format("nowhere reaches {:g}%", place.rate * 100)) +
         (place.settled ? "" : ", not settled");
}

/// What the cells of one kind and build came to along their counts, ascending.
class CountsOfKind {
 public:
  CountsOfKind(const Analysis& analysis, const Family& family,
               const std::vector<const CellSummary*>& cells, std::string place)
      : analysis_(analysis), family_(family), place_(std::move(place)) {
    for (const CellSummary* cell : cells) {
      if (cell->refused > 0) refused_.push_back(cell);
      if (cell->failures > 0) failing_.push_back(cell);
      if (cell->counted > 0 && cell->failures == 0) clear_.push_back(cell);
      if (cell->counted + cell->refused == 0) untested_.push_back(cell);
    }
    for (const CellSummary* cell : failing_) {
      if (worst_ == nullptr || cell->seen_rate() > worst_->seen_rate()) worst_ = cell;
    }
  }

  std::pair<int, double> weight() const {
    if (worst_ != nullptr) return {3, worst_->seen_rate()};
    return {!refused_.empty() ? 2 : !clear_.empty() ? 1 : 0, 0};
  }

  // "10 crashes in 10 at 4; 7 in 10 at 2; none at 1 (0/10 < 31%); refused at 8".
  std::string text() const {
    std::vector<std::string> parts;
    if (!place_.empty()) parts.push_back(place_);
    std::vector<const CellSummary*> rest = failing_;
    int told = 0;
    for (const CellSummary* next = worst_; next != nullptr && told < kMostFailing;
         next = rest.empty() ? nullptr : rest.front()) {
      const std::string words = words_of(*next);
      std::vector<const CellSummary*> alike;
      std::copy_if(rest.begin(), rest.end(), std::back_inserter(alike),
                   [&](const CellSummary* cell) { return words_of(*cell) == words; });
      std::erase_if(rest, [&](const CellSummary* cell) { return words_of(*cell) == words; });
      parts.push_back(
          fmt::format("{}{} at {}", words, alike.size() > 1 ? " each" : "", counts_of(alike)));
      ++told;
    }
    if (!rest.empty()) parts.push_back(fmt::format("failures also at {}", counts_of(rest)));
    if (!clear_.empty()) parts.push_back(clear_in_words());
    if (!refused_.empty()) parts.push_back("refused at " + counts_of(refused_));
    if (!untested_.empty()) parts.push_back("not tested at " + counts_of(untested_));
    return parts.empty() ? "not tested" : fmt::format("{}", fmt::join(parts, "; "));
  }

 private:
  static constexpr int kMostFailing = 3;

  std::string words_of(const CellSummary& cell) const {
    return fmt::format("{} in {}", fmt::join(failures_in_words(analysis_, cell), ", "),
                       cell.counted);
  }

  // The bound is of each cell by itself. Threads that never met have passed nothing.
  std::string clear_in_words() const {
    int trials = 0;
    double bound = 0;
    bool met = false;
    for (const CellSummary* cell : clear_) {
      trials += cell->counted;
      bound = std::max(bound, cell->rate.high);
      met = met || cell->overlap != Overlap::none;
    }
    const CellSummary& most = *clear_.back();
    std::string bounds = (clear_.size() > 1 ? ", each < " : " < ") + percent_up(bound);
    if (percent_up(most.rate.high) != percent_up(bound)) {  // more trials, where it settles
      bounds += fmt::format(", at {} < {}", count_in(family_, most), percent_up(most.rate.high));
    }
    return fmt::format("{} at {} (0/{}{}){}", worst_ == nullptr ? "no failure" : "none",
                       counts_of(clear_), trials, bounds,
                       !met ? ", threads never met"
                       : most.overlap == Overlap::seen
                           ? fmt::format(", {} at once", most.most_inside)
                           : "");
  }

  // "1, 2, 4 to 8".
  std::string counts_of(const std::vector<const CellSummary*>& cells) const {
    std::vector<int> counts;
    for (const CellSummary* cell : cells) counts.push_back(count_in(family_, *cell));
    std::vector<std::string> parts;
    for (const auto& [first, last] : runs_of(std::move(counts))) {
      parts.push_back(std::to_string(first));
      if (last > first) parts.back() += fmt::format("{} {}", last > first + 1 ? " to" : ",", last);
    }
    return joined(parts);
  }

  const Analysis& analysis_;
  const Family& family_;
  std::string place_;
  std::vector<const CellSummary*> untested_;
  std::vector<const CellSummary*> failing_;
  std::vector<const CellSummary*> clear_;
  std::vector<const CellSummary*> refused_;
  const CellSummary* worst_ = nullptr;
};

class Rows {
 public:
  explicit Rows(const Analysis& analysis) : analysis_(analysis) {
    for (const Boundary& boundary : analysis.boundaries) {
      if (!boundary.settled) continue;
      places_[{boundary.worker, boundary.axis, to_string(boundary.group)}] =
          place_in_words(*boundary.settled);
    }
  }

  AnswerTable table() {
    std::map<std::vector<std::string>, size_t> index;
    for (const Family& family : families_of(analysis_)) {
      Row row{{.axis = family.axis}, {family.label}, {}};
      std::vector<std::string> key{family.axis};
      for (const auto& cells : family.by_arm) {
        const CountsOfKind counts(analysis_, family, cells,
                                  cells.empty() ? "" : place_of(family, *cells.front()));
        row.weight = std::max(row.weight, counts.weight());
        row.fields.push_back(counts.text());
        key.push_back(row.fields.back());
      }
      const auto [at, fresh] = index.try_emplace(std::move(key), rows_.size());
      if (fresh) {
        rows_.push_back(std::move(row));
      } else {
        rows_[at->second].labels.push_back(family.label);
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.weight > b.weight; });
    return written();
  }

 private:
  std::string place_of(const Family& family, const CellSummary& first) const {
    Cell group = first.cell;
    (family.axis == "threads" ? group.threads : group.processes) = 1;
    const auto place =
        places_.find({analysis_.arms[first.arm].label, family.axis, to_string(group)});
    return place == places_.end() ? "" : place->second;
  }

  AnswerTable written() {
    constexpr size_t kMostLabels = 3;
    AnswerTable table;
    for (const Arm& arm : analysis_.arms) table.builds.push_back(arm.label);
    for (Row& row : rows_) {
      row.cells = some_of(row.labels, kMostLabels, "; ");
      if (row.labels.size() > 1) {
        for (std::string& field : row.fields) field += ", each";
      }
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  const Analysis& analysis_;
  std::map<std::tuple<std::string, std::string, std::string>, std::string> places_;
  std::vector<Row> rows_;
};

}  // namespace

AnswerTable find_answer_rows(const Analysis& analysis) {
  return Rows(analysis).table();
}

}  // namespace mpsprobe

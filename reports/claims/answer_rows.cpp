#include "reports/claims/answer_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/claims/families.h"
#include "reports/words/counted.h"

namespace mpsprobe {
namespace {

/// A field of the table before it is written: words, and the counts behind them.
struct Field {
  std::string words;  ///< "crashes from 2"; counts are added up where they are the same
  std::string more;   ///< "refuses from 4": has no counts
  int failures = 0;
  int trials = 0;
  int weight = 0;  ///< 3: fails, 2: refuses, 1: passes, 0: not tested

  std::string key() const { return words + "/" + more; }
  std::string text() const {
    std::string text = words;
    if (trials > 0) text += fmt::format(" ({}/{})", failures, trials);
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
    return text.empty() ? "not tested" : text;
  }
};

/// Kinds of cell that share a row.
struct Row {
  std::vector<std::string> labels;
  std::string axis;
  std::vector<Field> fields;

  int weight() const {
    int most = 0;
    for (const Field& field : fields) most = std::max(most, field.weight);
    return most;
  }
};

class Rows {
 public:
  explicit Rows(const Analysis& analysis) : analysis_(analysis), places_(analysis) {}

  AnswerTable table() {
    std::map<std::string, size_t> index;
    for (const Family& family : families_of(analysis_)) {
      Row row;
      row.axis = family.axis;
      row.labels = {family.label};
      std::string key = family.axis;
      for (const auto& cells : family.by_arm) {
        row.fields.push_back(field_of(family, cells));
        key += "|" + row.fields.back().key();
      }
      const auto [at, fresh] = index.try_emplace(key, rows_.size());
      if (fresh) {
        rows_.push_back(std::move(row));
        continue;
      }
      Row& known = rows_[at->second];
      known.labels.push_back(family.label);
      for (size_t arm = 0; arm < row.fields.size(); ++arm) {
        known.fields[arm].failures += row.fields[arm].failures;
        known.fields[arm].trials += row.fields[arm].trials;
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.weight() > b.weight(); });
    return written();
  }

 private:
  Field field_of(const Family& family, const std::vector<const CellSummary*>& cells) const {
    Field field;
    std::vector<std::string_view> harms;  ///< where the first failure is
    std::vector<std::string> later;       ///< harm that begins at a higher count
    const CellSummary* first = nullptr;
    const CellSummary* refused = nullptr;
    int32_t most = 0;
    bool met = false;
    int failures = 0;
    int trials = 0;
    bool all_refused = true;
    int counts_tried = 0;
    for (const CellSummary* cell : cells) {
      if (cell->refused > 0 || cell->counted > 0) ++counts_tried;
      if (cell->refused > 0 && refused == nullptr) refused = cell;
      if (cell->counted == 0) continue;
      all_refused = false;
      failures += cell->failures;
      trials += cell->counted;
      most = count_in(family, *cell);
      met = met || cell->overlap != Overlap::none;
      if (first == nullptr && places_.fails(*cell)) first = cell;
    }
    // Of one count alone nothing is known below it or above.
    const char* const from = counts_tried > 1 ? "from" : "at";
    const char* const to = counts_tried > 1 ? "to" : "at";
    if (refused != nullptr) {
      field.more =
          all_refused ? "refuses" : fmt::format("refuses {} {}", from, count_in(family, *refused));
      field.weight = 2;
    }
    if (first != nullptr) {
      for (size_t harm = 0; harm < kHarms; ++harm) {
        // Each kind of harm from where it was seen, not from where another began.
        const auto seen = std::find_if(cells.begin(), cells.end(), [&](const CellSummary* cell) {
          return places_.fails(*cell) && trials_with(*cell, static_cast<Harm>(harm)) > 0;
        });
        if (seen == cells.end()) continue;
        if (*seen == first) {
          harms.push_back(in_words(static_cast<Harm>(harm)));
        } else {
          later.push_back(fmt::format("{} from {}", in_words(static_cast<Harm>(harm)),
                                      count_in(family, **seen)));
        }
      }
      field.words = fmt::format("{} {} {}", fmt::join(harms, ", "), from, count_in(family, *first));
      if (!field.more.empty()) later.push_back(field.more);
      field.more = fmt::format("{}", fmt::join(later, "; "));
      field.failures = first->failures;
      field.trials = first->counted;
      field.weight = 3;
    } else if (trials > 0) {
      field.words = failures == 0 ? fmt::format("no failure {} {}", to, most)
                                  : fmt::format("below {:g}% {} {}", analysis_.settling->rate * 100,
                                                to, most);
      if (!met) field.more += (field.more.empty() ? "" : "; ") + std::string("threads never met");
      field.failures = failures;
      field.trials = trials;
      field.weight = std::max(field.weight, 1);
    }
    return field;
  }

  AnswerTable written() const {
    constexpr size_t kMostLabels = 3;
    AnswerTable table;
    for (const Arm& arm : analysis_.arms) table.builds.push_back(arm.label);
    for (const Row& row : rows_) {
      if (table.rows.size() == kMostAnswerRows) break;
      AnswerTable::Row& written = table.rows.emplace_back();
      const size_t named = std::min(row.labels.size(), kMostLabels);
      written.cells = fmt::format(
          "{}", fmt::join(row.labels.begin(),
                          row.labels.begin() + static_cast<std::ptrdiff_t>(named), "; "));
      if (row.labels.size() > named) {
        written.cells += fmt::format("; {} more", row.labels.size() - named);
      }
      written.axis = row.axis;
      for (const Field& field : row.fields) written.fields.push_back(field.text());
    }
    table.left_out = rows_.size() - table.rows.size();
    return table;
  }

  const Analysis& analysis_;
  SettledPlaces places_;
  std::vector<Row> rows_;
};

}  // namespace

AnswerTable find_answer_rows(const Analysis& analysis) {
  return Rows(analysis).table();
}

}  // namespace mpsprobe

#include "harness/matrix/expand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "harness/input/input_error.h"
#include "harness/input/near_name.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

// The values of a block for each axis, in the order of the table.
using BlockValues = std::vector<std::vector<std::string>>;

bool lists_value(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// What a product of a block is to the plan.
enum class Belonging : uint8_t { no, again, here };

bool may_share_cells(const BlockValues& one, const BlockValues& two) {
  for (size_t i = 0; i < one.size(); ++i) {
    const bool common = std::any_of(one[i].begin(), one[i].end(), [&](const std::string& value) {
      return lists_value(two[i], value);
    });
    if (!common) return false;
  }
  return true;
}

class Expander {
 public:
  Expander(const Matrix& matrix, const Operations& operations, const ExpandOptions& options)
      : matrix_(matrix), operations_(operations), options_(options) {}

  Plan expand() {
    for (const Block& block : matrix_.blocks) {
      blocks_.emplace_back();
      for (const Axis& axis : axes()) blocks_.back().push_back(values_of(block, axis));
    }
    check_size();
    for (size_t i = 0; i < blocks_.size(); ++i) expand_block(i);
    for (const std::string& text : matrix_.include) include(parse_cell(text), text);
    plan_.cells.expect(matrix_.expect);
    return std::move(plan_);
  }

 private:
  std::vector<std::string> values_of(const Block& block, const Axis& axis) {
    const std::string name(axis.name);
    if (const auto fixed = options_.fixed.find(name); fixed != options_.fixed.end()) {
      return fixed->second;
    }
    if (const auto own = block.axes.find(name); own != block.axes.end()) return own->second;
    if (name == "op") {
      throw InputError(fmt::format("{}, block \"{}\"", matrix_.name, block.title),
                       "names no operation", "Give it the axis \"op\", or --op");
    }
    if (name == "backend") {
      if (!options_.default_backend.has_value()) {
        throw InputError("--backend",
                         "nothing real can run here, and none of the backends is named",
                         "`mpsprobe list backends` says why. " + usable_backends());
      }
      return {std::string(name_of(*options_.default_backend))};
    }
    return {std::string(axis.default_value)};
  }

  /// In words, those that somebody has to name.
  std::string usable_backends() {
    std::vector<std::string> found;
    for (const BackendInfo& row : backend_table::kRows) {
      if (!why_unavailable(row.backend).empty()) continue;
      found.push_back(fmt::format("--backend {}", row.name));
    }
    return found.empty() ? "None can be used here"
                         : fmt::format("These can be named: {}", fmt::join(found, ", "));
  }

  void check_size() const {
    double total = static_cast<double>(matrix_.include.size());
    for (const BlockValues& values : blocks_) {
      double cells = 1;
      for (const std::vector<std::string>& each : values) cells *= static_cast<double>(each.size());
      total += cells;
    }
    if (total > static_cast<double>(kMostCells)) {
      throw InputError(matrix_.name,
                       fmt::format("has {:.0f} cells; {} is the most", total, kMostCells),
                       "Name fewer values, or split it into several matrices");
    }
  }

  void expand_block(size_t index) {
    earlier_.clear();
    for (size_t i = 0; i < index; ++i) {
      if (may_share_cells(blocks_[i], blocks_[index])) earlier_.push_back(&blocks_[i]);
    }
    grid_ = CellGrid{matrix_.blocks[index].title, {}, {}};
    product_ = 0;
    Cell cell;
    for (size_t i = 0; i < axes().size(); ++i) {
      const Axis& axis = axes()[i];
      const std::vector<std::string>& values = blocks_[index][i];
      const bool usual = values.size() == 1 && values.front() == axis.default_value;
      if (!usual || axis.name == "backend") grid_.axes.emplace_back(axis.name, values);
      for (const std::string& value : values) set_axis(cell, axis, value);
    }
    multiply(cell, 0);
    plan_.cells.push_back(std::move(grid_));
  }

  void multiply(Cell& cell, size_t index) {
    if (index == grid_.axes.size()) {
      add_product(belonging_of(cell, false));
      ++product_;
      return;
    }
    const auto& [name, values] = grid_.axes[index];
    const Axis& axis = *find_axis(name);
    for (const std::string& value : values) {
      if (values.size() > 1) set_axis(cell, axis, value);
      multiply(cell, index + 1);
    }
  }

  void add_product(Belonging belonging) {
    if (belonging == Belonging::no) return;
    auto& ranges = belonging == Belonging::here ? grid_.kept : grid_.again;
    if (!ranges.empty() && ranges.back().first + ranges.back().second == product_) {
      ++ranges.back().second;
    } else {
      ranges.emplace_back(product_, 1);
    }
  }

  void include(const Cell& cell, const std::string& text) {
    earlier_.clear();
    for (const BlockValues& block : blocks_) earlier_.push_back(&block);
    if (!included_.insert(text).second || belonging_of(cell, true) != Belonging::here) return;
    plan_.cells.push_back(PlannedCell{cell, "single cells", expectation_of(cell, matrix_.expect)});
  }

  /// Notes why where the cell was left out.
  Belonging belonging_of(const Cell& cell, bool single) {
    const OperationInfo& operation = operation_of(cell);
    if (!options_.filters.empty() && !matches_a_filter(to_string(cell))) {
      return Belonging::no;
    }
    if ((single || !earlier_.empty()) && stands_in_an_earlier_block(cell)) return Belonging::again;
    for (const Selector& selector : matrix_.exclude) {
      if (selector.matches(cell)) return leave_out(cell, "excluded by the matrix");
    }
    if (const auto reason = contradiction(cell, operation)) return leave_out(cell, *reason);
    const std::string& unavailable = why_unavailable(cell.backend);
    return unavailable.empty() ? Belonging::here : leave_out(cell, unavailable);
  }

  const OperationInfo& operation_of(const Cell& cell) {
    if (operation_ != nullptr && looked_up_.first == cell.op && looked_up_.second == cell.backend) {
      return *operation_;
    }
    operation_ = find_operation(operations_, cell.op, cell.backend);
    looked_up_ = {cell.op, cell.backend};
    if (operation_ != nullptr) return *operation_;
    std::vector<std::string> known;
    for (const auto& [each, info] : operations_) known.push_back(each);
    throw UnknownOperation(
        "op",
        fmt::format("no worker has the operation \"{}\"{}", cell.op, did_you_mean(cell.op, known)),
        "`mpsprobe list operations` shows what there is");
  }

  bool matches_a_filter(const std::string& text) const {
    return std::any_of(
        options_.filters.begin(), options_.filters.end(),
        [&text](const auto& filter) { return fnmatch(filter.c_str(), text.c_str(), 0) == 0; });
  }

  bool stands_in_an_earlier_block(const Cell& cell) const {
    return std::any_of(earlier_.begin(), earlier_.end(), [&cell](const BlockValues* block) {
      for (size_t i = 0; i < axes().size(); ++i) {
        if (!lists_value((*block)[i], axes()[i].read(cell))) return false;
      }
      return true;
    });
  }

  Belonging leave_out(const Cell& cell, const std::string& reason) {
    constexpr size_t kMostNamed = 1000;  // of one reason
    const auto [at, fresh] = reasons_.try_emplace(reason, plan_.left_out.size(), 0);
    auto& [first, count] = at->second;
    if (++count > kMostNamed) {
      ++plan_.left_out[first].others;
    } else {
      plan_.left_out.push_back({to_string(cell), reason});
    }
    return Belonging::no;
  }

  const std::string& why_unavailable(Backend backend) {
    const auto known = unavailable_.find(backend);
    if (known != unavailable_.end()) return known->second;
    std::string why = options_.why_unavailable ? options_.why_unavailable(backend) : "";
    return unavailable_.emplace(backend, std::move(why)).first->second;
  }

  const Matrix& matrix_;
  const Operations& operations_;
  const ExpandOptions& options_;
  std::vector<BlockValues> blocks_;
  std::vector<const BlockValues*> earlier_;  // that may hold cells of the block at hand as well
  CellGrid grid_;                            // of the block at hand
  uint64_t product_ = 0;
  std::unordered_set<std::string> included_;
  const OperationInfo* operation_ = nullptr;
  std::pair<std::string, Backend> looked_up_;
  std::map<Backend, std::string> unavailable_;
  std::map<std::string, std::pair<size_t, size_t>> reasons_;  // first entry and how many
  Plan plan_;
};

}  // namespace

std::optional<Expectation> expectation_of(const Cell& cell,
                                          const std::vector<Matrix::ExpectRule>& rules) {
  const auto last = std::find_if(rules.rbegin(), rules.rend(),
                                 [&cell](const auto& rule) { return rule.selector.matches(cell); });
  if (last == rules.rend()) return std::nullopt;
  return last->expectation;
}

Plan expand(const Matrix& matrix, const Operations& operations, const ExpandOptions& options) {
  return Expander(matrix, operations, options).expand();
}

}  // namespace mpsprobe

#include "harness/matrix/expand.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <unordered_set>

#include "harness/wire/axis.h"
#include "harness/wire/input_error.h"
#include "harness/wire/near_name.h"

namespace mpsprobe {
namespace {

class Expander {
 public:
  Expander(const Matrix& matrix, const Operations& operations, const ExpandOptions& options)
      : matrix_(matrix), operations_(operations), options_(options) {}

  Plan expand() {
    check_size();
    for (const Block& block : matrix_.blocks) {
      block_ = &block;
      values_.clear();
      for (const Axis& axis : axes()) values_.push_back(values_of(axis));
      Cell cell;
      multiply(cell, 0);
    }
    for (const std::string& text : matrix_.include) {
      static const Block kIncluded{"single cells", {}};
      block_ = &kIncluded;
      add(parse_cell(text));
    }
    return std::move(plan_);
  }

 private:
  std::vector<std::string> values_of(const Axis& axis) const {
    const std::string name(axis.name);
    if (const auto fixed = options_.fixed.find(name); fixed != options_.fixed.end()) {
      return fixed->second;
    }
    if (const auto own = block_->axes.find(name); own != block_->axes.end()) return own->second;
    if (name == "backend") {
      if (!options_.default_backend.has_value()) {
        throw InputError("--backend",
                         "nothing real can run here, and none of the backends is named",
                         "`mpsprobe list backends` says why. --backend sim runs on the simulated "
                         "Metal device");
      }
      return {std::string(name_of(*options_.default_backend))};
    }
    return {std::string(axis.default_value)};
  }

  void check_size() {
    double total = static_cast<double>(matrix_.include.size());
    for (const Block& block : matrix_.blocks) {
      block_ = &block;
      double cells = 1;
      for (const Axis& axis : axes()) cells *= static_cast<double>(values_of(axis).size());
      total += cells;
    }
    if (total > static_cast<double>(kMostCells)) {
      throw InputError(matrix_.name,
                       fmt::format("has {:.0f} cells; {} is the most", total, kMostCells),
                       "Name fewer values, or split it into several matrices");
    }
  }

  void multiply(Cell& cell, size_t index) {
    if (index == axes().size()) {
      add(cell);
      return;
    }
    const Axis& axis = axes()[index];
    for (const std::string& value : values_[index]) {
      if (axis.name == "op" && value.empty()) {
        throw InputError(fmt::format("{}, block \"{}\"", matrix_.name, block_->title),
                         "names no operation", "Give it the axis \"op\", or --op");
      }
      set_axis(cell, axis, value);
      multiply(cell, index + 1);
    }
  }

  void add(const Cell& cell) {
    const OperationInfo* const operation = find_operation(operations_, cell.op, cell.backend);
    if (operation == nullptr) {
      throw InputError("op",
                       fmt::format("no worker has the operation \"{}\"{}", cell.op, guess(cell.op)),
                       "`mpsprobe list operations` shows what there is");
    }
    const std::string text = to_string(cell);
    if (!options_.filters.empty() &&
        std::none_of(options_.filters.begin(), options_.filters.end(), [&text](const auto& filter) {
          return fnmatch(filter.c_str(), text.c_str(), 0) == 0;
        })) {
      return;
    }
    if (!seen_.insert(text).second) return;
    for (const Selector& selector : matrix_.exclude) {
      if (!selector.matches(cell)) continue;
      plan_.left_out.push_back({text, "excluded by the matrix"});
      return;
    }
    if (const auto reason = contradiction(cell, *operation)) {
      plan_.left_out.push_back({text, *reason});
      return;
    }
    plan_.cells.push_back({cell, block_->title, expectation_of(cell)});
  }

  std::optional<Expectation> expectation_of(const Cell& cell) const {
    std::optional<Expectation> expectation;
    for (const Matrix::ExpectRule& rule : matrix_.expect) {
      if (rule.selector.matches(cell)) expectation = rule.expectation;
    }
    return expectation;
  }

  std::string guess(const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& [each, info] : operations_) known.push_back(each);
    return did_you_mean(name, known);
  }

  const Matrix& matrix_;
  const Operations& operations_;
  const ExpandOptions& options_;
  const Block* block_ = nullptr;
  std::vector<std::vector<std::string>> values_;  // of the block's axes
  std::unordered_set<std::string> seen_;
  Plan plan_;
};

}  // namespace

Plan expand(const Matrix& matrix, const Operations& operations, const ExpandOptions& options) {
  return Expander(matrix, operations, options).expand();
}

}  // namespace mpsprobe

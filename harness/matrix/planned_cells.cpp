#include "harness/matrix/planned_cells.h"

#include <algorithm>

#include "harness/input/input_error.h"
#include "harness/matrix/expand.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

[[noreturn]] void refuse_grid(const std::string& problem) {
  throw InputError("cells", problem, "The plan is damaged");
}

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

void check_ranges(const Ranges& ranges, uint64_t products) {
  uint64_t end = 0;
  for (const auto& [first, count] : ranges) {
    if (first < end || count == 0 || count > products || first > products - count) {
      refuse_grid("a block keeps cells that it does not have");
    }
    end = first + count;
  }
}

}  // namespace

size_t PlannedCells::piece_of(size_t index) const {
  const auto after =
      std::upper_bound(layouts_.begin(), layouts_.end(), index,
                       [](size_t wanted, const Layout& layout) { return wanted < layout.begin; });
  return static_cast<size_t>(after - layouts_.begin()) - 1;
}

Cell PlannedCells::cell_of(const CellGrid& grid, const Layout& layout, size_t index) const {
  const auto after = std::upper_bound(layout.before.begin(), layout.before.end(), index);
  const auto range = static_cast<size_t>(after - layout.before.begin()) - 1;
  return product_of(layout, grid.kept[range].first + (index - layout.before[range]));
}

Cell PlannedCells::product_of(const Layout& layout, uint64_t product) {
  Cell cell = layout.base;
  for (const Varied& varied : layout.varied) {
    set_axis(cell, *varied.axis, varied.values[product / varied.stride % varied.values.size()]);
  }
  return cell;
}

Cell PlannedCells::cell(size_t index) const {
  const size_t piece = piece_of(index);
  const Layout& layout = layouts_[piece];
  if (const auto* grid = std::get_if<CellGrid>(&pieces_[piece])) {
    return cell_of(*grid, layout, index - layout.begin);
  }
  return std::get<Singles>(pieces_[piece])[index - layout.begin].cell;
}

PlannedCell PlannedCells::operator[](size_t index) const {
  const size_t piece = piece_of(index);
  const Layout& layout = layouts_[piece];
  const auto* grid = std::get_if<CellGrid>(&pieces_[piece]);
  if (grid == nullptr) return std::get<Singles>(pieces_[piece])[index - layout.begin];
  PlannedCell planned{cell_of(*grid, layout, index - layout.begin), grid->block, std::nullopt};
  planned.expectation = expectation_of(planned.cell, rules_);
  return planned;
}

void PlannedCells::push_back(PlannedCell planned) {
  if (pieces_.empty() || !std::holds_alternative<Singles>(pieces_.back())) {
    pieces_.emplace_back(Singles{});
    layouts_.emplace_back();
    layouts_.back().begin = size_;
  }
  std::get<Singles>(pieces_.back()).push_back(std::move(planned));
  ++layouts_.back().count;
  ++size_;
}

void PlannedCells::push_back(CellGrid grid) {
  Layout layout;
  layout.begin = size_;
  uint64_t products = 1;
  for (const auto& [name, values] : grid.axes) {
    const Axis& axis = axis_named(name);
    if (values.empty()) refuse_grid("a block has no values for " + name);
    for (const std::string& value : values) set_axis(layout.base, axis, value);  // all are valid
    if (products > kMostCells / values.size()) refuse_grid("a block has too many cells");
    products *= values.size();
    layout.varied.push_back({&axis, values, 0});
  }
  uint64_t stride = products;
  for (Varied& varied : layout.varied) {
    stride /= varied.values.size();
    varied.stride = stride;
  }
  std::erase_if(layout.varied, [](const Varied& varied) { return varied.values.size() == 1; });
  check_ranges(grid.kept, products);
  check_ranges(grid.again, products);
  for (const auto& [first, count] : grid.kept) {
    layout.before.push_back(layout.count);
    layout.count += count;
  }
  if (layout.count == 0 && grid.again.empty()) return;
  size_ += layout.count;
  pieces_.emplace_back(std::move(grid));
  layouts_.push_back(std::move(layout));
}

void PlannedCells::for_each_again(
    const std::function<void(const std::string&, const Cell&)>& show) const {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const auto* grid = std::get_if<CellGrid>(&pieces_[i]);
    if (grid == nullptr) continue;
    for (const auto& [first, count] : grid->again) {
      for (uint64_t k = 0; k < count; ++k) show(grid->block, product_of(layouts_[i], first + k));
    }
  }
}

void PlannedCells::clear() {
  *this = PlannedCells();
}

void PlannedCells::rename_blocks(const std::function<void(std::string&)>& rename) {
  for (Piece& piece : pieces_) {
    if (auto* grid = std::get_if<CellGrid>(&piece)) {
      rename(grid->block);
    } else {
      for (PlannedCell& planned : std::get<Singles>(piece)) rename(planned.block);
    }
  }
}

std::vector<std::string> PlannedCells::blocks() const {
  std::vector<std::string> titles;
  const auto add = [&titles](const std::string& title) {
    if (std::find(titles.begin(), titles.end(), title) == titles.end()) titles.push_back(title);
  };
  for (const Piece& piece : pieces_) {
    if (const auto* grid = std::get_if<CellGrid>(&piece)) {
      add(grid->block);
    } else {
      for (const PlannedCell& planned : std::get<Singles>(piece)) {
        if (titles.empty() || titles.back() != planned.block) add(planned.block);
      }
    }
  }
  return titles;
}

std::set<Backend> PlannedCells::backends() const {
  std::set<Backend> found;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Layout& layout = layouts_[i];
    const bool one = std::holds_alternative<CellGrid>(pieces_[i]) &&
                     std::none_of(layout.varied.begin(), layout.varied.end(),
                                  [](const auto& each) { return each.axis->name == "backend"; });
    if (one) found.insert(layout.base.backend);
    for (size_t k = 0; !one && k < layout.count; ++k) {
      found.insert(cell(layout.begin + k).backend);
    }
  }
  return found;
}

std::set<std::string> PlannedCells::values_named(std::string_view axis) const {
  const auto read = find_axis(axis)->read;
  std::set<std::string> found;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (const auto* singles = std::get_if<Singles>(&pieces_[i])) {
      for (const PlannedCell& planned : *singles) found.insert(read(planned.cell));
      continue;
    }
    const auto& named = std::get<CellGrid>(pieces_[i]).axes;
    const auto own = std::find_if(named.begin(), named.end(),
                                  [axis](const auto& each) { return each.first == axis; });
    if (own == named.end()) {
      found.insert(read(layouts_[i].base));
    } else {
      found.insert(own->second.begin(), own->second.end());
    }
  }
  return found;
}

}  // namespace mpsprobe

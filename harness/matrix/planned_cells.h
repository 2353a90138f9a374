#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/matrix/matrix.h"
#include "harness/wire/axis.h"

namespace mpsprobe {

/// The cells of one block of a matrix, as the values that are multiplied and not as the products.
struct CellGrid {
  std::string block;  ///< its title
  /// Every axis that has several values, or one that is not its default; the first one varies most
  /// slowly.
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  /// Which of the products are cells: index of the first and how many, ascending.
  std::vector<std::pair<uint64_t, uint64_t>> kept;
  /// Which of them an earlier block runs: cells of this one as well, to be shown and not run again.
  std::vector<std::pair<uint64_t, uint64_t>> again = {};
};

/// The cells that a campaign plans, in their order. A million of them take no more room than the
/// values that make them: a cell is made when it is asked for. A plain value; reading is safe from
/// several threads.
class PlannedCells {
 public:
  using Singles = std::vector<PlannedCell>;
  using Piece = std::variant<Singles, CellGrid>;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = PlannedCell;
    using difference_type = std::ptrdiff_t;
    using pointer = const PlannedCell*;
    using reference = PlannedCell;

    Iterator(const PlannedCells& cells, size_t index) : cells_(&cells), index_(index) {}
    PlannedCell operator*() const { return (*cells_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const PlannedCells* cells_;
    size_t index_;
  };

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

  /// `index` below size().
  PlannedCell operator[](size_t index) const;
  /// The same without block and expectation.
  Cell cell(size_t index) const;
  PlannedCell front() const { return (*this)[0]; }

  void push_back(PlannedCell planned);
  /// Throws InputError where the grid names what is no axis or value, or keeps what it does not
  /// have: it may come from a file.
  void push_back(CellGrid grid);
  /// What is expected of the cells of grids: the last rule that matches counts.
  void expect(std::vector<Matrix::ExpectRule> rules) { rules_ = std::move(rules); }
  void clear();
  /// Shows each title of a block, to be changed.
  void rename_blocks(const std::function<void(std::string&)>& rename);

  /// Shows each cell that a block shares with an earlier one, which runs it, with the title of the
  /// later block. It may be a cell of another shard, or one that is left out.
  void for_each_again(const std::function<void(const std::string&, const Cell&)>& show) const;

  const std::vector<Piece>& pieces() const { return pieces_; }
  const std::vector<Matrix::ExpectRule>& rules() const { return rules_; }
  /// The titles of the blocks, each once, in the order of the plan.
  std::vector<std::string> blocks() const;
  /// The backends that cells are of.
  std::set<Backend> backends() const;
  /// The values of an axis that cells have; of a grid all that it names.
  std::set<std::string> values_named(std::string_view axis) const;

 private:
  struct Varied {
    const Axis* axis;
    std::vector<std::string> values;
    uint64_t stride;  ///< how many products follow before its value changes
  };
  struct Layout {
    size_t begin = 0;  ///< index of the piece's first cell
    size_t count = 0;
    Cell base;
    std::vector<Varied> varied;
    std::vector<uint64_t> before;  ///< for each kept range, how many cells stand before it
  };

  size_t piece_of(size_t index) const;
  Cell cell_of(const CellGrid& grid, const Layout& layout, size_t index) const;
  static Cell product_of(const Layout& layout, uint64_t product);

  std::vector<Piece> pieces_;
  std::vector<Layout> layouts_;  ///< of each piece
  std::vector<Matrix::ExpectRule> rules_;
  size_t size_ = 0;
};

}  // namespace mpsprobe

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/matrix/operation_info.h"
#include "harness/wire/cell.h"

namespace mpsprobe {

/// What differs between two cells, axis by axis: "threads 8 -> 4, sync end -> each". Empty where
/// they are equal.
std::string change_between(const Cell& from, const Cell& to);

/// The axes that say how a cell is run and not how much of it: those that `cell` has off their
/// defaults and that a simplification may put back, in canonical order. `shape`, `processes` and
/// `churn` are among them; backend, op, threads, iterations and profile are not.
std::vector<std::string_view> axes_off_default(const Cell& cell);

/// `cell` with these axes at their defaults.
Cell with_defaults(const Cell& cell, const std::vector<std::string_view>& names);

/// The operations that `cell`'s is made of, by what its worker tells: each as the cell that runs it
/// alone, with the shape at its default and with what the part does not know (path, dtype, weights)
/// at its default, too. Parts that the signature names come first.
std::vector<Cell> parts_of(const Cell& cell, const Operations& operations,
                           std::string_view signature);

/// The sizes of a shape, "8x64x64"; empty for "default" and for anything else.
std::vector<int64_t> sizes_of(std::string_view shape);
std::string shape_of(const std::vector<int64_t>& sizes);

/// One change of a cell that tells whether a condition of it is needed.
struct ConditionChange {
  Cell cell;
  bool simplification = true;  ///< it takes something away; false: it adds, as a lock does
};

/// Each condition of `cell` changed alone: one thread, process, iteration, round or size step less,
/// each axis that is off its default put back, and each of the remedies that people use (a lock
/// around the forward, a warm-up, threads one after the other, a fresh process for each iteration,
/// weights for each thread, synchronising at the other place) put in force. Cells that make no
/// sense are among them; the caller tells why.
std::vector<ConditionChange> conditions_of(const Cell& cell, const Operations& operations);

}  // namespace mpsprobe

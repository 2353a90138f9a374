#pragma once

#include <cstdint>
#include <optional>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The level of every claim that two results differ.
constexpr double kClaimLevel = 0.05;

/// Why a side without a failure says nothing beside one with failures.
enum class Incomparable : uint8_t {
  no_overlap,  ///< no two of its threads were ever inside an operation at once
  other_path,  ///< a side took another path than its cell asks for
  unchecked,   ///< the other's results were wrong, and it compared none
};

/// A side that was spared says something only of what it did and would have seen. Nothing where
/// both failed, or neither, or where they can be compared. Pure.
std::optional<Incomparable> why_incomparable(const CellSummary& one, const CellSummary& two);

}  // namespace mpsprobe

#pragma once

#include <optional>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The level of every claim that two results differ.
constexpr double kClaimLevel = 0.05;

/// Why a side without a failure says nothing beside one with failures: no_overlap, other_path or
/// unchecked. It says something only of what it did and would have seen. Nothing where both failed,
/// or neither, or where they can be compared. Pure.
std::optional<Conclusion> why_incomparable(const CellSummary& one, const CellSummary& two);

}  // namespace mpsprobe

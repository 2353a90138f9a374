#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What a failure is called in a table: "SIGSEGV", "exit 11", "hang". Printable, at most 40 bytes.
std::string failure_kind(const OutcomeCount& count);

/// A kind of failure and its trials.
using KindCount = std::pair<std::string, int>;

/// The trials of a cell whose outcome `counts`, by kind, each kind once, in the order of the
/// outcomes.
std::vector<KindCount> count_kinds(const CellSummary& cell, bool (*counts)(Outcome));

/// The failures of a cell: "SIGSEGV", or "SIGSEGV 7, hang 3" where there are several kinds.
std::string failure_kinds(const CellSummary& cell);

}  // namespace mpsprobe

#pragma once

#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What a failure is called in a table: "SIGSEGV", "exit 11", "hang". Printable, at most 40 bytes.
std::string failure_kind(const OutcomeCount& count);

/// The failures of a cell: "SIGSEGV", or "SIGSEGV 7, hang 3" where there are several kinds.
std::string failure_kinds(const CellSummary& cell);

}  // namespace mpsprobe

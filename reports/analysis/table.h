#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// A block of the matrix laid out in the shape of a boundary table: counts of threads or processes
/// one way, operation, path and whatever else varies the other way.
struct ReportTable {
  struct Entry {
    const CellSummary* cell = nullptr;  ///< points into the analysis; null where there is none
    bool left_out = false;              ///< of the plan, with a reason
  };
  struct Column {
    std::string cells;           ///< "linear nograph, lock=forward"; plain text
    std::string build;           ///< the label of its arm, where there are several
    std::vector<Entry> entries;  ///< by index into `counts`

    std::string label() const { return build.empty() ? cells : cells + " (" + build + ")"; }
  };
  std::string title;  ///< of the block
  std::string axis;   ///< "threads" or "processes"
  std::vector<std::string>
      shared;                   ///< what all cells have in common: "backend sim", "iterations=50"
  std::vector<int32_t> counts;  ///< ascending
  std::vector<Column> columns;
};

/// One table for each block, in the order of the plan. The analysis must outlive the tables.
std::vector<ReportTable> lay_out(const Analysis& analysis);

}  // namespace mpsprobe

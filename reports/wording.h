#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/analysis.h"

namespace mpsprobe {

/// The words of the report that every format shares. Plain text without markup.

/// What stands before everything that names a run whose devices are no real chips: "SIMULATED: ",
/// "PARAVIRTUAL GPU: ", or nothing.
std::string_view class_prefix(const Analysis& analysis);

/// "out of memory" for out_of_memory.
std::string words(std::string_view name);

/// What a failure is called in a table: "SIGSEGV", "exit 11", "hang". Printable, at most 40 bytes.
std::string failure_kind(const OutcomeCount& count);

/// A kind of failure and its trials.
using KindCount = std::pair<std::string, int>;

/// The trials of a cell whose outcome `counts`, by kind, each kind once, in the order of the
/// outcomes.
std::vector<KindCount> count_kinds(const CellSummary& cell, bool (*counts)(Outcome));

/// The failures of a cell: "SIGSEGV", or "SIGSEGV 7, hang 3" where there are several kinds.
std::string failure_kinds(const CellSummary& cell);

/// How a cell stands: `word` is the verdict ("pass", "FAIL", "intermittent") or why there is none
/// ("unsupported", "not run"); `rest` has the count and what must be known beside it.
struct Standing {
  std::string word;
  std::string rest;
  bool unexpected = false;
};
Standing standing_of(const CellSummary& cell);

/// What a group of cells is: operation and path first, then every axis that is not at its default:
/// "LibTorch 2.15.0", "MLX 0.31.1"; empty where no library was told of.
std::string library_in_words(const Arm& arm);

/// "linear nograph, lock=forward". Axes named in `without` are left out; backend always is.
std::string cell_label(const Cell& cell, const std::vector<std::string_view>& without);

/// "1 thread", "2 threads", "8 processes".
std::string counted(int64_t count, std::string_view plural);

/// "9 cells, 230 of 230 trials run, 230 count"; without a plan to compare with, as in a
/// minimisation, whose cells follow from its results: "9 cells, 50 trials run, 50 count".
std::string totals(const Analysis& analysis);

/// "no failure up to 2 threads (0 of 10 failed: below 26% with 95% confidence); fails from 3 ...".
std::string boundary_in_words(const Boundary& boundary);

}  // namespace mpsprobe

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The words of the report that every format shares. Plain text without markup.

/// What stands before everything that names a run whose devices are no real chips: "SIMULATED: ",
/// "PARAVIRTUAL GPU: ", or nothing.
std::string_view class_prefix(const Analysis& analysis);

/// What a cell ran on, for tables: "SIMULATED", "PARAVIRTUAL", "real".
std::string_view device_class(const CellSummary& cell);

/// What a failure is called in a table: "SIGSEGV", "exit 11", "hang". Printable, at most 40 bytes.
std::string failure_kind(Outcome outcome, std::string_view detail);

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

/// What a wrong result is, by who saw it: the comparison of numbers, a test of somebody's own, or
/// what a command of his was to print.
struct WrongResultWords {
  std::string_view one;
  std::string_view several;
  std::string_view verb;  ///< of whatever has it
};
const WrongResultWords& wrong_result_words(const Analysis& analysis, const Cell& cell);

/// The label, with the arm that it is of where there are several: "mlp (mlx-0.31.1)".
std::string with_arm(const Analysis& analysis, std::string label, const std::string& arm);

/// "LibTorch 2.15.0", "MLX 0.31.1"; empty where no library was told of.
std::string library_in_words(const Arm& arm);

/// " (seed 4711)" of a trial, with which it can be run again; nothing where it is not known.
std::string seed_in_words(uint64_t seed);

/// "9 cells, 230 of 230 trials run, 230 count"; without a plan to compare with, as in a
/// minimisation, whose cells follow from its results: "9 cells, 50 trials run, 50 count".
std::string totals(const Analysis& analysis);

/// "10 trials each", where `of` is "each"; of a run that settles "10 trials each or more, to tell
/// 5%".
std::string planned_trials(const CampaignHeader& header, std::string_view of);

}  // namespace mpsprobe

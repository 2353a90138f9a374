#include "reports/words/report_words.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "harness/wire/own_command.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

// The non-evidence of a cell: "3 not run, 1 unsupported".
std::string rest_of_trials(const CellSummary& cell) {
  std::map<Outcome, int> trials{{Outcome::not_run, cell.missing}};
  for (const OutcomeCount& count : cell.outcomes) {
    if (!is_evidence(count.outcome)) trials[count.outcome] += count.trials;
  }
  std::vector<std::string> parts;
  for (const auto& [outcome, number] : trials) {
    if (number > 0) parts.push_back(fmt::format("{} {}", number, words(name_of(outcome))));
  }
  return joined(parts);
}

// Why a cell has no verdict: the reason that most of its trials share.
std::string without_verdict(const CellSummary& cell) {
  Outcome most = Outcome::not_run;
  int trials = cell.missing;
  for (const OutcomeCount& count : cell.outcomes) {
    if (count.trials > trials || (count.trials == trials && most == Outcome::not_run)) {
      most = count.outcome;
      trials = count.trials;
    }
  }
  return words(name_of(most));
}

}  // namespace

std::string seed_in_words(uint64_t seed) {
  return seed == 0 ? "" : fmt::format(" (seed {})", seed);
}

std::string_view class_prefix(const Analysis& analysis) {
  if (analysis.simulated) return "SIMULATED: ";
  return analysis.paravirtual ? "PARAVIRTUAL GPU: " : "";
}

std::string_view device_class(const CellSummary& cell) {
  if (cell.simulated) return "SIMULATED";
  return cell.paravirtual ? "PARAVIRTUAL" : "real";
}

std::string failure_kind(Outcome outcome, std::string_view detail) {
  switch (outcome) {
    case Outcome::signal:
      return detail.empty() ? "signal" : shortened(printable(detail), 40);
    case Outcome::exit:
      return "exit " + shortened(printable(detail), 20);
    default:
      return words(name_of(outcome));
  }
}

std::string failure_kinds(const CellSummary& cell) {
  std::vector<std::pair<std::string, int>> kinds;  // in the order of the outcomes, which are sorted
  for (const OutcomeCount& count : cell.outcomes) {
    if (!is_failure(count.outcome)) continue;
    const std::string kind = failure_kind(count.outcome, count.detail);
    if (kinds.empty() || kinds.back().first != kind) kinds.emplace_back(kind, 0);
    kinds.back().second += count.trials;
  }
  if (kinds.size() == 1) return kinds.front().first;
  std::vector<std::string> parts;
  for (const auto& [kind, trials] : kinds) parts.push_back(fmt::format("{} {}", kind, trials));
  return joined(parts);
}

Standing standing_of(const CellSummary& cell) {
  Standing standing;
  if (!cell.has_rate()) {
    standing.word = without_verdict(cell);
    if (cell.refused > 0) {
      standing.word = "refused";
      standing.rest = fmt::format("{}/{}", cell.refused, cell.recorded);
    }
  } else {
    const bool all_failed = *cell.verdict == Verdict::fail;
    standing.word = all_failed ? "FAIL" : std::string(name_of(*cell.verdict));
    standing.rest = fmt::format("{}/{}", cell.failures, cell.counted);
    if (cell.failures > 0) standing.rest += " " + failure_kinds(cell);
    if (cell.failures == 0 && cell.overlap == Overlap::none) standing.rest += ", no overlap";
    const std::string others = rest_of_trials(cell);
    if (!others.empty()) standing.rest += " (" + others + ")";
  }
  if (cell.expected == Expected::unmet) {
    standing.unexpected = true;
    if (!standing.rest.empty()) standing.rest += ", ";
    standing.rest += "expected " + printable(cell.expectation->text());
  }
  return standing;
}

const WrongResultWords& wrong_result_words(const Analysis& analysis, const Cell& cell) {
  static constexpr WrongResultWords kNumbers{"wrong number", "wrong numbers",
                                             "computes wrong numbers"};
  static constexpr WrongResultWords kTests{"failed assertion", "failed assertions",
                                           "fails an assertion"};
  static constexpr WrongResultWords kOutput{"wrong output", "wrong outputs", "has a wrong output"};
  if (cell.backend == Backend::command) return kOutput;
  return names_own_tests(analysis.header.environment) ? kTests : kNumbers;
}

std::string with_arm(const Analysis& analysis, std::string label, const std::string& arm) {
  if (analysis.arms.size() > 1) label += " (" + arm + ")";
  return label;
}

std::string library_in_words(const Arm& arm) {
  LibraryUnderTest library = arm;
  if (library.name.empty() && !library.version.empty()) library.name = "library";
  const bool told =
      !library.name.empty() || !library.interpreter.empty() || !library.packages.empty();
  return told ? in_words(library) : "";
}

std::string totals(const Analysis& analysis) {
  const bool follows_results = analysis.recorded > analysis.planned;
  return fmt::format(
      "{}, {}{} run, {} count", counted(analysis.cells.size() + analysis.cells_not_listed, "cells"),
      follows_results ? "" : fmt::format("{} of ", analysis.recorded),
      counted(follows_results ? analysis.recorded : analysis.planned, "trials"), analysis.counted);
}

std::string planned_trials(const CampaignHeader& header, std::string_view of) {
  std::string trials = fmt::format("{} {}", counted(header.trials, "trials"), of);
  if (!header.follow.empty()) return trials + ", then of what fails";
  if (header.settle_rate <= 0) return trials;
  return fmt::format("{} or more, to tell {:g}%", trials, header.settle_rate * 100);
}

}  // namespace mpsprobe

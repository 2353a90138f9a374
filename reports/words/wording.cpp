#include "reports/words/wording.h"

#include <fmt/format.h>

#include "harness/wire/library_under_test.h"
#include "reports/analysis/failures/failure_kind.h"
#include "reports/words/phrases.h"
#include "reports/words/text.h"

namespace mpsprobe {
namespace {

std::string number_list(const std::vector<int32_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

// The non-evidence of a cell: "3 not run, 1 unsupported".
std::string rest_of_trials(const CellSummary& cell) {
  std::string text;
  const auto add = [&text](int trials, const std::string& what) {
    if (trials == 0) return;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", trials, what);
  };
  int not_run = cell.missing;
  for (const OutcomeCount& count : cell.outcomes) {
    if (count.outcome == Outcome::not_run) not_run += count.trials;
  }
  add(not_run, "not run");
  for (Outcome outcome :
       {Outcome::refused, Outcome::setup_failed, Outcome::unsupported, Outcome::infrastructure}) {
    int trials = 0;
    for (const OutcomeCount& count : cell.outcomes) {
      if (count.outcome == outcome) trials += count.trials;
    }
    add(trials, words(name_of(outcome)));
  }
  return text;
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

std::string_view class_prefix(const Analysis& analysis) {
  if (analysis.simulated) return "SIMULATED: ";
  return analysis.paravirtual ? "PARAVIRTUAL GPU: " : "";
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

std::string library_in_words(const Arm& arm) {
  LibraryUnderTest library;
  library.name = arm.library_name.empty() && !arm.version.empty() ? "library" : arm.library_name;
  library.version = arm.version;
  library.interpreter = arm.interpreter;
  return library.name.empty() ? "" : in_words(library);
}

std::string totals(const Analysis& analysis) {
  const bool follows_results = analysis.recorded > analysis.planned;
  return fmt::format(
      "{}, {}{} trials run, {} count",
      counted(static_cast<int64_t>(analysis.cells.size() + analysis.cells_not_listed), "cells"),
      analysis.recorded, follows_results ? "" : fmt::format(" of {}", analysis.planned),
      analysis.counted);
}

std::string planned_trials(const CampaignHeader& header, std::string_view of) {
  std::string trials = fmt::format("{} {}", counted(header.trials, "trials"), of);
  if (header.settle_rate <= 0) return trials;
  return fmt::format("{} or more, to tell {:g}%", trials, header.settle_rate * 100);
}

namespace {

std::string point_in_words(const BoundaryPoint& point, const std::string& axis) {
  return fmt::format("{} ({})", counted(point.count, axis),
                     confidence_in_words(point.failures, point.trials, point.rate));
}

std::string settled_place_in_words(const Boundary& boundary) {
  const SettledPlace& place = *boundary.settled;
  const std::string rate = fmt::format("{:g}%", place.rate * 100);
  const std::string how =
      place.settled
          ? fmt::format("settled, wrong with a chance of {}", percent_up(place.wrong))
          : fmt::format("not settled, elsewhere with a chance of {}", percent_up(place.wrong));
  std::string text;
  if (boundary.fewest_failing) {
    text = fmt::format("fails in {} of trials or more from {}; {}", rate,
                       point_in_words(*boundary.fewest_failing, boundary.axis), how);
    if (boundary.most_passing) {
      text += "; the most below is " + point_in_words(*boundary.most_passing, boundary.axis);
    }
    return text;
  }
  text = fmt::format("nowhere reaches {}; {}", rate, how);
  if (boundary.most_passing) {
    text += "; the most tested is " + point_in_words(*boundary.most_passing, boundary.axis);
  }
  return text;
}

}  // namespace

std::string boundary_in_words(const Boundary& boundary) {
  std::string text;
  if (boundary.settled && !boundary.points.empty()) {
    text = settled_place_in_words(boundary);
    if (boundary.most_passing && boundary.most_passing->without_overlap) {
      text +=
          "; but no two threads were ever inside an operation at once, so the count below shows "
          "nothing";
    }
  } else if (const auto& passing = boundary.most_passing) {
    text = fmt::format("no failure up to {}", counted(passing->count, boundary.axis));
    if (!boundary.fewest_failing) text += ", the most tested";
    text +=
        fmt::format(" ({}", confidence_in_words(passing->failures, passing->trials, passing->rate));
    if (passing->without_overlap) {
      text += "; but no two threads were ever inside an operation at once, so this shows nothing";
    } else if (boundary.axis == "threads" && passing->count > 1) {
      text += fmt::format("; up to {} inside an operation at once", passing->most_inside);
    }
    text += ')';
  }
  if (const auto& failing = boundary.fewest_failing; failing && !boundary.settled) {
    text += text.empty() ? "fails already at " : "; fails at ";
    text += fmt::format("{} ({})", counted(failing->count, boundary.axis),
                        confidence_in_words(failing->failures, failing->trials, failing->rate));
  }
  if (!boundary.monotone()) {
    text += fmt::format("; no single boundary: passed again at {}",
                        number_list(boundary.passing_above));
  }
  if (!boundary.refused.empty()) {
    text += fmt::format("{}refused by the library at {} {}", text.empty() ? "" : "; ",
                        number_list(boundary.refused), boundary.axis);
  }
  if (!boundary.untested.empty()) {
    text += fmt::format("; without evidence: {}", number_list(boundary.untested));
  }
  return text;
}

}  // namespace mpsprobe

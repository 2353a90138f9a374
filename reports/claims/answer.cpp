#include "reports/claims/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "reports/analysis/common_axes.h"
#include "reports/analysis/failures/failure_kind.h"
#include "reports/words/phrases.h"
#include "reports/words/text.h"
#include "reports/words/wording.h"

namespace mpsprobe {
namespace {

using Cells = std::vector<const CellSummary*>;

std::string count_of(int failures, int trials) {
  return fmt::format("{} of {}", failures, trials);
}

std::string arm_name(const Analysis& analysis, size_t arm) {
  return shortened(printable(analysis.arms[arm].label), 40);
}

std::string library_name(const Analysis& analysis, size_t arm) {
  const std::string library = library_in_words(analysis.arms[arm]);
  return library.empty() ? "the library" : shortened(printable(library), 60);
}

// What a cell is apart from how many threads and processes work on it, and from a lock.
std::string kind_of(const CellSummary& cell) {
  Cell kind = cell.cell;
  kind.threads = 1;
  kind.processes = 1;
  kind.lock = Lock::none;
  return to_string(kind);
}

bool has_several_kinds(const Analysis& analysis) {
  return std::any_of(analysis.cells.begin(), analysis.cells.end(),
                     [first = kind_of(analysis.cells.front())](const auto& cell) {
                       return kind_of(cell) != first;
                     });
}

// The failing cell that asks for least; of equals the one that fails most surely.
const CellSummary* least_failing(const Cells& cells) {
  const CellSummary* least = nullptr;
  const auto load = [](const CellSummary& cell) {
    return std::tuple(cell.cell.lock != Lock::none, cell.cell.threads, cell.cell.processes,
                      -cell.rate.low);
  };
  for (const CellSummary* cell : cells) {
    if (cell->failures == 0) continue;
    if (least == nullptr || load(*cell) < load(*least)) least = cell;
  }
  return least;
}

bool passes_with_fewer(const Analysis& analysis, const CellSummary& failing) {
  return std::any_of(analysis.cells.begin(), analysis.cells.end(), [&](const CellSummary& cell) {
    Cell same = cell.cell;
    same.threads = failing.cell.threads;
    return cell.arm == failing.arm && cell.cell.threads < failing.cell.threads &&
           same == failing.cell && cell.verdict == Verdict::pass;
  });
}

// "fails from 3 threads (10 of 10)".
std::string fails_in_words(const Analysis& analysis, const CellSummary& failing) {
  std::string load = counted(failing.cell.threads, "threads");
  if (failing.cell.processes > 1) {
    load = counted(failing.cell.processes, "processes") + " of " + load + " each";
  }
  std::string facts = count_of(failing.failures, failing.counted);
  if (has_several_kinds(analysis)) {
    std::vector<std::string_view> common = common_axes(analysis);
    common.insert(common.end(), {"threads", "processes"});
    facts = cell_label(failing.cell, common) + ": " + facts;
  }
  const char* how = "fails with";
  if (failing.cell.threads > 1 && passes_with_fewer(analysis, failing)) how = "fails from";
  if (failing.cell.threads == 1 && failing.cell.processes == 1) how = "fails already with";
  return fmt::format("{} {} ({})", how, load, facts);
}

// "passed all 590 trials with up to 8 threads".
std::string passes_in_words(const Cells& cells) {
  int trials = 0;
  int32_t threads = 1;
  bool met = false;
  for (const CellSummary* cell : cells) {
    trials += cell->counted;
    if (cell->counted > 0) threads = std::max(threads, cell->cell.threads);
    met = met || cell->overlap == Overlap::seen;
  }
  std::string text = "no failure in " + counted(trials, "trials");
  if (threads > 1) {
    text += fmt::format(" with up to {}", counted(threads, "threads"));
    if (!met) text += ", of which no two were ever inside an operation at once";
  }
  return text;
}

// What a remedy was shown to do over all kinds of cells; nothing where it was not asked.
std::string remedy_in_words(const Analysis& analysis, std::string_view about,
                            std::string_view name) {
  std::vector<const RateClaim*> claims;
  std::map<RateEffect, int> effects;
  for (const RateClaim& claim : analysis.rate_claims) {
    if (claim.about != about) continue;
    claims.push_back(&claim);
    ++effects[claim.effect];
  }
  if (claims.empty()) return "";
  if (claims.size() == 1) {
    const RateClaim& claim = *claims.front();
    std::string text = fmt::format(" With {}: {}", name, effect_in_words(claim.effect));
    text +=
        fmt::format(" ({} to {}", count_of(claim.seen_without.failures, claim.seen_without.trials),
                    count_of(claim.seen_with.failures, claim.seen_with.trials));
    text += claim.effect == RateEffect::cannot_compare ? ")"
                                                       : ", " + p_in_words(claim.corrected_p) + ")";
    const bool helps =
        claim.effect == RateEffect::no_failure || claim.effect == RateEffect::less_often;
    if (helps && claim.price) text += "; " + price_in_words(claim);
    return text + ".";
  }
  std::string text;
  for (const auto& [effect, number] : effects) {
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", effect_in_words(effect), number);
  }
  return fmt::format(" With {}, of {}: {}.", name,
                     counted(static_cast<int64_t>(claims.size()), "comparisons"), text);
}

std::string remedies_in_words(const Analysis& analysis) {
  return remedy_in_words(analysis, "lock", "a lock") +
         remedy_in_words(analysis, "throttle", "a throttle") +
         remedy_in_words(analysis, "processes", "a process for each thread");
}

Cells cells_of(const Analysis& analysis, size_t arm) {
  Cells cells;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.arm == arm) cells.push_back(&cell);
  }
  return cells;
}

std::string in_cells(const Cells& cells) {
  const auto failing = std::count_if(cells.begin(), cells.end(),
                                     [](const CellSummary* cell) { return cell->failures > 0; });
  const auto tested = std::count_if(cells.begin(), cells.end(),
                                    [](const CellSummary* cell) { return cell->counted > 0; });
  if (tested < 2) return "";
  return fmt::format(", in {} of {}", failing, counted(tested, "cells"));
}

// "refuses arrays and streams of another thread (160 trials in 16 cells)"; nothing where it does
// not.
std::string refuses_in_words(const Cells& cells) {
  std::set<std::string> what;
  int trials = 0;
  int64_t where = 0;
  for (const CellSummary* cell : cells) {
    if (cell->refused == 0) continue;
    trials += cell->refused;
    ++where;
    for (const OutcomeCount& count : cell->outcomes) {
      if (count.outcome == Outcome::refused) what.insert(printable(count.detail));
    }
  }
  if (trials == 0) return "";
  return fmt::format("refuses {} ({} in {})", fmt::join(what, ", "), counted(trials, "trials"),
                     counted(where, "cells"));
}

Answer of_one_arm(const Analysis& analysis, const Cells& cells) {
  const CellSummary* failing = least_failing(cells);
  const std::string refuses = refuses_in_words(cells);
  const std::string library = library_name(analysis, cells.front()->arm);
  const std::string also = refuses.empty() ? "" : " " + library + " " + refuses + ".";
  if (failing == nullptr) {
    const bool any = std::any_of(cells.begin(), cells.end(),
                                 [](const CellSummary* cell) { return cell->counted > 0; });
    if (!any) return {"refused", also.substr(1)};
    std::string text = passes_in_words(cells);
    text.front() = 'N';
    return {"no_failure", text + "." + also};
  }
  std::string text = "Affected: " + fails_in_words(analysis, *failing);
  if (has_several_kinds(analysis)) text += in_cells(cells);
  return {"fails", text + "." + also + remedies_in_words(analysis)};
}

// The cells in which one of two builds failed and the other, with as many trials, shows not to.
struct Difference {
  Cells failing;
  int passed = 0;  ///< trials of the other build in the same cells
};

struct PairOfArms {
  size_t first = 0;
  size_t second = 0;
  Difference only_first;
  Difference only_second;
  int compared = 0;
};

std::vector<PairOfArms> compare_arms(const Analysis& analysis) {
  std::vector<PairOfArms> pairs;
  for (const Comparison& comparison : analysis.comparisons) {
    if (comparison.layers) continue;
    const CellSummary& one = analysis.cells[comparison.first];
    const CellSummary& two = analysis.cells[comparison.second];
    auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const PairOfArms& known) {
      return known.first == one.arm && known.second == two.arm;
    });
    if (pair == pairs.end()) pair = pairs.insert(pairs.end(), {one.arm, two.arm, {}, {}, 0});
    ++pair->compared;
    const auto note = [](Difference& difference, const CellSummary& failing,
                         const CellSummary& passing) {
      difference.failing.push_back(&failing);
      difference.passed += passing.counted;
    };
    const bool one_alone = comparison.conclusion == Conclusion::fixed ||
                           comparison.conclusion == Conclusion::only_first ||
                           comparison.conclusion == Conclusion::only_second;
    if (!one_alone) continue;
    if (one.failures > 0) {
      note(pair->only_first, one, two);
    } else {
      note(pair->only_second, two, one);
    }
  }
  return pairs;
}

std::string difference_in_words(const Analysis& analysis, const Difference& difference,
                                size_t failing, size_t passing) {
  return fmt::format("{} {}, where {} failed in 0 of {} ({})", arm_name(analysis, failing),
                     fails_in_words(analysis, *least_failing(difference.failing)),
                     arm_name(analysis, passing), counted(difference.passed, "trials"),
                     counted(static_cast<int64_t>(difference.failing.size()), "cells"));
}

Answer of_several_arms(const Analysis& analysis) {
  std::string differences;
  std::vector<std::string> alike;
  for (const PairOfArms& pair : compare_arms(analysis)) {
    const auto add = [&](const Difference& difference, size_t failing, size_t passing) {
      if (difference.failing.empty()) return;
      if (!differences.empty()) differences += "; ";
      differences += difference_in_words(analysis, difference, failing, passing);
    };
    add(pair.only_first, pair.first, pair.second);
    add(pair.only_second, pair.second, pair.first);
    if (pair.only_first.failing.empty() && pair.only_second.failing.empty()) {
      alike.push_back(fmt::format("Between {} and {} no cell of {} shows that one alone fails.",
                                  arm_name(analysis, pair.first), arm_name(analysis, pair.second),
                                  pair.compared));
    }
  }
  std::string each;
  bool fails = false;
  for (size_t arm = 0; arm < analysis.arms.size(); ++arm) {
    const Cells cells = cells_of(analysis, arm);
    const bool any =
        std::any_of(cells.begin(), cells.end(), [](const auto* cell) { return cell->counted > 0; });
    const std::string refuses = refuses_in_words(cells);
    if (!any && refuses.empty()) continue;
    const CellSummary* failing = least_failing(cells);
    fails = fails || failing != nullptr;
    if (!each.empty()) each += "; ";
    each += arm_name(analysis, arm) + ": ";
    if (any) {
      each += failing == nullptr ? passes_in_words(cells)
                                 : fails_in_words(analysis, *failing) + in_cells(cells);
    }
    if (!refuses.empty()) each += (any ? ", " : "") + refuses;
  }
  Answer answer;
  answer.code = !differences.empty() ? "differs" : fails ? "fails" : "no_failure";
  answer.text = differences.empty() ? "" : differences + ". Altogether ";
  answer.text += each + ".";
  if (fails) {
    for (const std::string& pair : alike) answer.text += " " + pair;
  }
  answer.text += remedies_in_words(analysis);
  return answer;
}

std::string came_to(const CellSummary& cell) {
  if (cell.failures > 0) return failure_kinds(cell);
  if (cell.has_rate() || cell.outcomes.empty()) return "pass";
  return words(name_of(cell.outcomes.front().outcome));
}

// Nothing where the matrix expects nothing.
std::optional<Answer> of_expectations(const Analysis& analysis) {
  int expected = 0;
  int met = 0;
  int untested = 0;
  const CellSummary* unmet = nullptr;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.expected == Expected::nothing) continue;
    ++expected;
    if (cell.expected == Expected::met) ++met;
    if (cell.expected == Expected::untested) ++untested;
    if (cell.expected == Expected::unmet && unmet == nullptr) unmet = &cell;
  }
  if (expected == 0) return std::nullopt;
  Answer answer{unmet == nullptr ? "as_expected" : "unexpected",
                fmt::format("{} of {} as expected", met, expected)};
  if (untested > 0) answer.text += fmt::format(", {} not tested", untested);
  if (unmet != nullptr) {
    answer.text += fmt::format(", {} not: ", expected - met - untested) +
                   fmt::format("{}{} is {} ({}) and not {}",
                               expected - met - untested > 1 ? "for example " : "", unmet->id,
                               came_to(*unmet), count_of(unmet->failures, unmet->counted),
                               printable(unmet->expectation->text()));
  }
  answer.text += '.';
  return answer;
}

std::string settled_in_words(const Analysis& analysis, bool nothing_failed) {
  if (!analysis.settling) return "";
  const SettledQuestions& questions = *analysis.settling;
  const size_t all = questions.settled + questions.given_up + questions.open.size();
  std::string text;
  if (nothing_failed) {
    text = fmt::format(" With the most threads or processes, less than {:.0f}% of trials fail.",
                       std::ceil(questions.below * 100));
  }
  text += fmt::format(
      " Where cells begin to fail in {:g}% of their trials or more is settled for {} of {}, each "
      "wrong with a chance of at most {:g}%",
      questions.rate * 100, questions.settled, counted(static_cast<int64_t>(all), "boundaries"),
      questions.wrong * 100);
  if (questions.given_up > 0) {
    text += fmt::format("; {} given up, with rates between {:g}% and that", questions.given_up,
                        questions.rate * 10);
  }
  if (!questions.open.empty()) text += fmt::format("; {} need more trials", questions.open.size());
  return text + ".";
}

Answer answer_to(const Analysis& analysis) {
  if (!analysis.has_evidence()) {
    return {"no_evidence", "Nothing can be said: no trial came to a result that counts."};
  }
  if (auto expected = of_expectations(analysis)) return *expected;
  std::set<size_t> tested;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.counted > 0 || cell.refused > 0) tested.insert(cell.arm);
  }
  if (tested.size() > 1) return of_several_arms(analysis);
  return of_one_arm(analysis, cells_of(analysis, *tested.begin()));
}

}  // namespace

Answer find_answer(const Analysis& analysis) {
  Answer answer = answer_to(analysis);
  answer.text += settled_in_words(analysis, answer.code == "no_failure");
  return answer;
}

}  // namespace mpsprobe

#include "reports/claims/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "reports/analysis/failures/failure_kind.h"
#include "reports/claims/answer_rows.h"
#include "reports/claims/build_sentence.h"
#include "reports/claims/comparable.h"
#include "reports/claims/compare_rates.h"
#include "reports/claims/families.h"
#include "reports/claims/next_steps.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

using Cells = std::vector<const CellSummary*>;

/// What people try against failures: the axis, and in words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRemedies{
    {{"lock", "a lock"}, {"throttle", "a throttle"}, {"processes", "a process for each thread"}}};

std::string count_of(int failures, int trials) {
  return fmt::format("{} of {}", failures, trials);
}

std::string arm_name(const Analysis& analysis, size_t arm) {
  return shortened(printable(analysis.arms[arm].label), 40);
}

/// Claims that say the same. A cell that several of them compare counts once.
struct Alike {
  int number = 0;
  Proportion with;
  Proportion without;
  double p = 0;  ///< the largest

  void add(const Analysis& analysis, const RateClaim& claim) {
    ++number;
    p = std::max(p, claim.corrected_p);
    for (size_t i = 0; i < claim.cells_with.size(); ++i) {
      const CellSummary& one = analysis.cells[claim.cells_with[i]];
      const CellSummary& other = analysis.cells[claim.cells_without[i]];
      if (claim.effect != RateEffect::cannot_compare && why_incomparable(one, other)) continue;
      add_once(claim.cells_with[i], one, with);
      add_once(claim.cells_without[i], other, without);
    }
  }

 private:
  void add_once(size_t index, const CellSummary& cell, Proportion& sum) {
    if (!counted_.insert(index).second) return;
    sum.failures += cell.failures;
    sum.trials += cell.counted;
  }

  std::set<size_t> counted_;
};

// What a remedy was shown to do over all kinds of cells, and what it costs; nothing where it was
// not asked.
std::string remedy_in_words(const Analysis& analysis, std::string_view about,
                            std::string_view name) {
  std::vector<const RateClaim*> claims;
  std::map<RateEffect, Alike> effects;
  for (const RateClaim& claim : analysis.rate_claims) {
    if (claim.about != about) continue;
    claims.push_back(&claim);
    effects[claim.effect].add(analysis, claim);
  }
  if (claims.empty()) return "";
  const std::string price = about == "processes" ? "" : "; " + prices_in_words(claims);
  for (const RateClaim& all : analysis.claims_together) {
    if (all.about != about || all.effect == RateEffect::not_shown) continue;
    if (!effects.contains(RateEffect::not_shown) || effects.contains(RateEffect::more_often)) break;
    const int alone = static_cast<int>(claims.size()) - effects[RateEffect::not_shown].number -
                      effects[RateEffect::cannot_compare].number;
    return fmt::format(
        "With {}, over {}: {} ({} failed, without it {}, {}; shown in {} of {} "
        "alone){}.",
        name, all.label, effect_in_words(all.effect),
        count_of(all.seen_with.failures, all.seen_with.trials),
        count_of(all.seen_without.failures, all.seen_without.trials), p_in_words(all.corrected_p),
        alone, claims.size(), price);
  }
  const bool several = claims.size() > 1;
  std::vector<std::string> parts;
  for (const auto& [effect, alike] : effects) {
    const bool tested =
        effect != RateEffect::cannot_compare && !(several && effect == RateEffect::not_shown);
    const std::string p = tested ? ", " + p_in_words(alike.p) : "";
    parts.push_back(fmt::format("{}{} ({} failed, without it {}{})", effect_in_words(effect),
                                several ? fmt::format(" in {}", alike.number) : "",
                                count_of(alike.with.failures, alike.with.trials),
                                count_of(alike.without.failures, alike.without.trials),
                                several && !p.empty() ? ", largest" + p.substr(1) : p));
  }
  return fmt::format("With {}{}: {}{}.", name,
                     several ? ", of " + counted(claims.size(), "comparisons") : "",
                     fmt::join(parts, ", "), price);
}

std::vector<std::string> remedies_in_words(const Analysis& analysis) {
  std::vector<std::string> sentences;
  for (const auto& [about, name] : kRemedies) {
    std::string sentence = remedy_in_words(analysis, about, name);
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

Cells cells_of(const Analysis& analysis, size_t arm) {
  Cells cells;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.arm == arm) cells.push_back(&cell);
  }
  return cells;
}

// What the same cells came to on two builds.
std::string pair_in_words(const Analysis& analysis, size_t first, size_t second) {
  std::map<Conclusion, int> conclusions;
  int compared = 0;
  bool first_is_older = false;
  for (const Comparison& comparison : analysis.comparisons) {
    const CellSummary& one = analysis.cells[comparison.first];
    if (comparison.layers || one.arm != first || analysis.cells[comparison.second].arm != second) {
      continue;
    }
    ++compared;
    ++conclusions[comparison.conclusion];
    if (comparison.conclusion == Conclusion::fixed) first_is_older = one.failures > 0;
  }
  if (compared == 0) return "";
  const std::string one = arm_name(analysis, first);
  const std::string two = arm_name(analysis, second);
  std::vector<std::string> parts;
  const auto add = [&](Conclusion conclusion, const std::string& what) {
    const auto at = conclusions.find(conclusion);
    if (at != conclusions.end()) parts.push_back(fmt::format("in {} {}", at->second, what));
  };
  add(Conclusion::fixed, fmt::format("{} fails and the newer {} does not",
                                     first_is_older ? one : two, first_is_older ? two : one));
  add(Conclusion::only_first, "only " + one + " fails");
  add(Conclusion::only_second, "only " + two + " fails");
  add(Conclusion::less_often, two + " fails less often, and still fails");
  add(Conclusion::more_often, one + " fails less often, and still fails");
  if (parts.empty()) {
    return fmt::format("Between {} and {} no cell of {} shows that one alone fails.", one, two,
                       compared);
  }
  return fmt::format("Of {} compared: {} (p below {:g} over all).", counted(compared, "cells"),
                     fmt::join(parts, ", "), kClaimLevel);
}

std::vector<std::string> comparisons_in_words(const Analysis& analysis) {
  std::vector<std::string> sentences;
  std::set<std::pair<size_t, size_t>> seen;
  for (const Comparison& comparison : analysis.comparisons) {
    if (comparison.layers) continue;
    const std::pair<size_t, size_t> pair{analysis.cells[comparison.first].arm,
                                         analysis.cells[comparison.second].arm};
    if (seen.insert(pair).second) {
      sentences.push_back(pair_in_words(analysis, pair.first, pair.second));
    }
  }
  return sentences;
}

bool one_alone_fails(const Analysis& analysis) {
  return std::any_of(analysis.comparisons.begin(), analysis.comparisons.end(),
                     [](const Comparison& comparison) {
                       return comparison.conclusion == Conclusion::fixed ||
                              comparison.conclusion == Conclusion::only_first ||
                              comparison.conclusion == Conclusion::only_second;
                     });
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
  const SettledQuestions& questions = *analysis.settling;
  const size_t all = questions.settled + questions.given_up + questions.open.size();
  std::string text;
  if (nothing_failed) {
    text = fmt::format("With the most threads or processes, less than {:.0f}% of trials fail. ",
                       std::ceil(questions.below * 100));
  }
  text += fmt::format(
      "Where cells begin to fail in {:g}% of their trials or more is settled for {} of {}, each "
      "wrong with a chance of at most {:g}% if no cell fails in between {:g}% and {:g}%",
      questions.rate * 100, questions.settled, counted(all, "boundaries"), questions.wrong * 100,
      questions.rate * 10, questions.rate * 100);
  if (questions.given_up > 0) {
    text += fmt::format("; {} given up, with rates between {:g}% and that", questions.given_up,
                        questions.rate * 10);
  }
  if (!questions.open.empty()) text += fmt::format("; {} need more trials", questions.open.size());
  return text + ".";
}

// Of trials that were neither hung nor done; nothing where there are none.
std::string still_computing_in_words(const Analysis& analysis) {
  int trials = 0;
  for (const SignatureGroup& group : analysis.still_computing) trials += group.failures;
  if (trials == 0) return "";
  return fmt::format(
      "{} at the limit of {:g} s, neither passed nor failed ({}): a longer --timeout tells what "
      "they "
      "come to.",
      trials == 1 ? "1 trial was still computing"
                  : fmt::format("{} trials were still computing", trials),
      analysis.header.timeout_seconds,
      shortened(printable(analysis.still_computing.front().title), 120));
}

Answer answer_to(const Analysis& analysis) {
  Answer answer;
  const std::string still_computing = still_computing_in_words(analysis);
  if (!analysis.has_evidence()) {
    answer.code = "no_evidence";
    answer.sentences = {"Nothing can be said: no trial came to a result that counts."};
    if (!still_computing.empty()) answer.sentences.push_back(still_computing);
    return answer;
  }
  const std::optional<Answer> expected = of_expectations(analysis);
  if (expected) answer.sentences.push_back(expected->text);
  const SettledPlaces places(analysis);
  bool fails = false;
  bool tested = false;
  for (size_t arm = 0; arm < analysis.arms.size(); ++arm) {
    const Cells cells = cells_of(analysis, arm);
    if (std::all_of(cells.begin(), cells.end(), [](const CellSummary* cell) {
          return cell->counted == 0 && cell->refused == 0;
        })) {
      continue;
    }
    BuildAnswer build = answer_of_build(analysis, places, cells);
    answer.sentences.push_back(std::move(build.sentence));
    fails = fails || build.fails;
    tested = tested || build.tested;
  }
  answer.code = expected                    ? expected->code
                : one_alone_fails(analysis) ? "differs"
                : fails                     ? "fails"
                : tested                    ? "no_failure"
                                            : "refused";
  if (fails || answer.code == "differs") {
    for (std::string& sentence : comparisons_in_words(analysis)) {
      answer.sentences.push_back(std::move(sentence));
    }
  }
  if (!still_computing.empty()) answer.sentences.push_back(still_computing);
  for (std::string& sentence : remedies_in_words(analysis)) {
    answer.sentences.push_back(std::move(sentence));
  }
  if (analysis.settling) answer.sentences.push_back(settled_in_words(analysis, !fails && tested));
  answer.table = find_answer_rows(analysis);
  return answer;
}

}  // namespace

Answer find_answer(const Analysis& analysis) {
  Answer answer = answer_to(analysis);
  answer.next = next_steps(analysis);
  answer.text = fmt::format("{}", fmt::join(answer.sentences, " "));
  return answer;
}

}  // namespace mpsprobe

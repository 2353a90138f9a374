#include "reports/claims/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "reports/claims/comparisons.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

/// What people try against failures: the axis, and in words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRemedies{
    {{"lock", "a lock"},
     {"throttle", "a throttle"},
     {"warmup", "a warm-up"},
     {"processes", "processes"}}};

std::string arm_name(const Analysis& analysis, size_t arm) {
  return shortened(printable(analysis.arms[arm].label), 40);
}

/// What a remedy was shown to do, in sentences of single cells with their counts.
class Remedy {
 public:
  Remedy(const Analysis& analysis, std::string_view about, std::string_view name)
      : analysis_(analysis), name_(fmt::format("With {}", name)) {
    for (const RateClaim& claim : analysis.rate_claims) {
      if (claim.about == about) claims_.push_back(&claim);
    }
    for (const RateClaim& claim : analysis.claims_together) {
      if (claim.about == about && claim.effect != RateEffect::not_shown) together_ = &claim;
    }
    for (const auto* priced : {&analysis.rate_claims, &analysis.priced}) {
      for (const RateClaim& claim : *priced) {
        if (claim.about == about && (about == "lock" || about == "throttle")) {
          priced_.push_back(&claim);
        }
      }
    }
  }

  /// Nothing where it was not asked.
  std::vector<std::string> sentences() {
    if (claims_.empty()) return {};
    for (const auto& [effect, words, fewer] : kSaid) {
      const Claims claims = with(effect);
      const bool open = effect == RateEffect::not_shown;
      if (claims.empty() || (effect == RateEffect::cannot_compare && !sentences_.empty())) continue;
      if (open && sentences_.empty() && together_ != nullptr) {
        sentences_.push_back(fmt::format(
            "{}, over {}: {} ({} failed, without it {}, {}).", name_, together_->label,
            effect_in_words(together_->effect), seen_in_words(together_->seen_with),
            seen_in_words(together_->seen_without), p_in_words(together_->corrected_p)));
      } else {
        const bool some = effect == RateEffect::no_failure && some_failed(claims);
        say(some ? "fewer fail" : words, claims, open ? change(most(claims, true)) < 0 : fewer);
      }
    }
    if (!priced_.empty()) sentences_.push_back(name_ + " " + prices_in_words(priced_) + ".");
    return std::move(sentences_);
  }

 private:
  using Claims = std::vector<const RateClaim*>;
  using Pair = std::pair<const CellSummary*, const CellSummary*>;  ///< with it, without it

  /// In the order in which it is said; `fewer`: the pair of cells that shows it has fewer failures.
  struct Said {
    RateEffect effect;
    std::string_view words;
    bool fewer;
  };
  static constexpr std::array<Said, 6> kSaid{
      {{RateEffect::no_failure, "none failed", true},
       {RateEffect::less_often, "fewer fail", true},
       {RateEffect::more_often, "more fail", false},
       {RateEffect::opposite, "both fewer and more fail", true},
       {RateEffect::not_shown, "no difference shown", true},
       {RateEffect::cannot_compare, "nothing can be compared", true}}};

  Claims with(RateEffect effect) const {
    Claims found;
    std::copy_if(claims_.begin(), claims_.end(), std::back_inserter(found),
                 [effect](const RateClaim* claim) { return claim->effect == effect; });
    return found;
  }

  // Also of cells that nothing was compared with: they have no counterpart that counts.
  bool some_failed(const Claims& claims) const {
    const auto kind_of = [](const CellSummary& cell) {
      Cell kind = cell.cell;
      kind.threads = kind.processes = 1;
      return std::tuple(cell.arm, cell.cell.processes > 1, to_string(kind));
    };
    return std::any_of(claims.begin(), claims.end(), [&](const RateClaim* claim) {
      const auto kind = kind_of(analysis_.cells[claim->cells_with.front()]);
      return std::any_of(
          analysis_.cells.begin(), analysis_.cells.end(),
          [&](const CellSummary& cell) { return cell.failures > 0 && kind_of(cell) == kind; });
    });
  }

  static double change(const Pair& pair) {
    return pair.first->seen_rate() - pair.second->seen_rate();
  }

  // The pair of cells that differs most, towards fewer failures or more.
  Pair most(const Claims& claims, bool fewer) const {
    std::optional<Pair> found;
    for (const RateClaim* claim : claims) {
      for (size_t i = 0; i < claim->cells_with.size(); ++i) {
        const Pair pair{&analysis_.cells[claim->cells_with[i]],
                        &analysis_.cells[claim->cells_without[i]]};
        if (claim->effect != RateEffect::cannot_compare &&
            why_incomparable(*pair.first, *pair.second)) {
          continue;
        }
        if (!found || (fewer ? change(pair) < change(*found) : change(pair) > change(*found))) {
          found = pair;
        }
      }
    }
    return *found;
  }

  std::string pair_in_words(const Pair& pair) const {
    const auto& [with, without] = pair;
    return fmt::format("{}: {}, without it {}", cell_in_words(analysis_, *without),
                       seen_in_words({with->failures, with->counted}, with->refused),
                       seen_in_words({without->failures, without->counted}, without->refused));
  }

  // With the cells that differ most in one direction; and where others clearly go the other way,
  // the most of these, which a mean would hide.
  void say(std::string_view what, const Claims& claims, bool fewer) {
    constexpr double kClearly = 0.2;
    const std::string kinds =
        claims_.size() > 1 ? fmt::format(" in {} of {} kinds", claims.size(), claims_.size()) : "";
    double p = 0;
    for (const RateClaim* claim : claims) p = std::max(p, claim->corrected_p);
    const RateEffect effect = claims.front()->effect;
    const std::string sure =
        effect == RateEffect::cannot_compare || effect == RateEffect::opposite
            ? ""
            : fmt::format(" ({}{})", claims.size() > 1 ? "largest " : "", p_in_words(p));
    sentences_.push_back(fmt::format("{} {}{}: {}{}.", name_, what, kinds,
                                     pair_in_words(most(claims, fewer)), sure));
    const Pair other = most(claims, !fewer);
    if ((fewer ? change(other) : -change(other)) < kClearly) return;
    sentences_.push_back(fmt::format("{} {} in {}.", name_, fewer ? "more failed" : "fewer failed",
                                     pair_in_words(other)));
  }

  const Analysis& analysis_;
  std::string name_;
  Claims claims_;
  Claims priced_;
  const RateClaim* together_ = nullptr;
  std::vector<std::string> sentences_;
};

/// What the same cells came to on two builds.
class TwoBuilds {
 public:
  TwoBuilds(const Analysis& analysis, size_t first, size_t second)
      : analysis_(analysis), one_(first), two_(second) {
    // The newer one is spoken of.
    if (is_older(analysis.arms[two_], analysis.arms[one_])) std::swap(one_, two_);
    for (const Comparison& comparison : analysis.comparisons) {
      const CellSummary* a = &analysis.cells[comparison.first];
      const CellSummary* b = &analysis.cells[comparison.second];
      if (comparison.layers || a->arm != first || b->arm != second) continue;
      ++compared_;
      if (a->arm != one_) std::swap(a, b);
      add(comparison, a, b);
    }
  }

  std::vector<std::string> sentences() const {
    if (compared_ == 0) return {};
    std::vector<std::string> sentences;
    const std::string one = arm_name(analysis_, one_);
    const std::string two = arm_name(analysis_, two_);
    const auto say = [&](const Found& found, std::string_view how) {
      if (found.number == 0) return;
      sentences.push_back(
          fmt::format("{}{} fails {} often than {} in {} of {}: {} (p < {:g}).", two,
                      is_older(analysis_.arms[one_], analysis_.arms[two_]) ? " (newer)" : "", how,
                      one, found.number, counted(compared_, "cells"), counts(found), kClaimLevel));
    };
    say(less_, "less");
    say(more_, "more");
    if (!sentences.empty()) return sentences;
    const std::string why =
        untold_.example == nullptr ? "" : why_inconclusive(analysis_, *untold_.example);
    if (why.empty()) {
      sentences.push_back(fmt::format("{} and {}: no difference shown in {}{}.", two, one,
                                      counted(compared_, "cells"),
                                      untold_.example == nullptr ? "" : "; " + counts(untold_)));
    } else {
      sentences.push_back(fmt::format("{} and {}: nothing can be told: {}.", two, one, why));
      sentences.push_back(fmt::format("Seen at {}.", counts(untold_)));
    }
    return sentences;
  }

 private:
  /// Cells that came out so, and of these the pair that differs most.
  struct Found {
    int number = 0;
    const Comparison* example = nullptr;
    const CellSummary* one = nullptr;
    const CellSummary* two = nullptr;
  };

  void add(const Comparison& comparison, const CellSummary* one, const CellSummary* two) {
    const bool differs = shows_difference(comparison);
    if (!differs && one->failures + two->failures == 0) return;
    const double change = two->seen_rate() - one->seen_rate();
    Found& found = !differs ? untold_ : change < 0 ? less_ : more_;
    ++found.number;
    if (found.one != nullptr &&
        std::abs(change) <= std::abs(found.two->seen_rate() - found.one->seen_rate())) {
      return;
    }
    found = {found.number, &comparison, one, two};
  }

  std::string counts(const Found& found) const {
    return fmt::format("{}: {}, {} {}", cell_in_words(analysis_, *found.one), seen(*found.two),
                       arm_name(analysis_, one_), seen(*found.one));
  }

  // What was not seen is not gone.
  std::string seen(const CellSummary& cell) const {
    const std::string text = seen_in_words({cell.failures, cell.counted}, cell.refused);
    return cell.failures > 0
               ? text
               : text + " (below " +
                     percent_up(
                         rate_interval(analysis_.sampling, 0, cell.counted, compared_).high) +
                     ")";
  }

  const Analysis& analysis_;
  size_t one_;
  size_t two_;
  int compared_ = 0;
  Found less_;
  Found more_;
  Found untold_;
};

std::vector<std::string> comparisons_in_words(const Analysis& analysis) {
  std::vector<std::string> sentences;
  std::set<std::pair<size_t, size_t>> seen;
  for (const Comparison& comparison : analysis.comparisons) {
    if (comparison.layers) continue;
    const std::pair<size_t, size_t> pair{analysis.cells[comparison.first].arm,
                                         analysis.cells[comparison.second].arm};
    if (!seen.insert(pair).second) continue;
    for (std::string& each : TwoBuilds(analysis, pair.first, pair.second).sentences()) {
      sentences.push_back(std::move(each));
    }
  }
  return sentences;
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
                               came_to(*unmet), seen_in_words({unmet->failures, unmet->counted}),
                               printable(unmet->expectation->text()));
  }
  answer.text += '.';
  return answer;
}

std::string counts_along(const Analysis& analysis, const std::vector<size_t>& cells) {
  std::vector<std::string> parts;
  for (const size_t index : cells) {
    const CellSummary& cell = analysis.cells[index];
    parts.push_back(fmt::format("{} of {} at {}", cell.failures, cell.counted,
                                cell.cell.processes > 1 ? cell.cell.processes : cell.cell.threads));
  }
  if (parts.size() > 2) parts.resize(2);
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What a settled place rests on is said with it, and where the counts contradict that.
std::vector<std::string> settled_in_words(const Analysis& analysis) {
  const SettledQuestions& questions = *analysis.settling;
  const size_t all = questions.settled + questions.given_up + questions.open.size();
  std::string text =
      fmt::format("Where {:g}% of trials or more begin to fail is settled for {} of {}",
                  questions.rate * 100, questions.settled, counted(all, "boundaries"));
  if (questions.given_up > 0) text += fmt::format("; {} given up", questions.given_up);
  if (!questions.open.empty()) text += fmt::format("; {} open", questions.open.size());
  if (questions.settled == all && !questions.somewhere) text += ": nowhere";
  if (questions.broken.empty()) {
    return {text + ", if failures go on with more threads."};
  }
  const SettledQuestions::Broken& broken = questions.broken.front();
  const CellSummary& cell = analysis.cells[broken.failing];
  return {text + ".",
          fmt::format(
              "That failures go on with more threads is broken{}: {}: {} of {}, {}.",
              questions.broken.size() > 1 ? fmt::format(" {} times", questions.broken.size()) : "",
              cell_in_words(analysis, cell), cell.failures, cell.counted,
              counts_along(analysis, broken.rarer))};
}

// Of trials that were neither hung nor done; nothing where there are none.
std::string still_computing_in_words(const Analysis& analysis) {
  int trials = 0;
  for (const SignatureGroup& group : analysis.still_computing) trials += group.failures;
  if (trials == 0) return "";
  return fmt::format(
      "{} at the limit of {:g} s, neither passed nor failed ({}): a longer --timeout tells.",
      trials == 1 ? "1 trial was still computing"
                  : fmt::format("{} trials were still computing", trials),
      analysis.header.timeout_seconds,
      shortened(printable(analysis.still_computing.front().title), 60));
}

void add(Answer& answer, std::vector<std::string> sentences) {
  for (std::string& each : sentences) answer.lines.push_back({.text = std::move(each)});
}

Answer answer_to(const Analysis& analysis) {
  Answer answer;
  const std::string still_computing = still_computing_in_words(analysis);
  if (!analysis.has_evidence()) {
    answer.code = "no_evidence";
    add(answer, {"Nothing can be said: no trial came to a result that counts."});
    if (!still_computing.empty()) add(answer, {still_computing});
    return answer;
  }
  const std::optional<Answer> expected = of_expectations(analysis);
  if (expected) add(answer, {expected->text});
  bool fails = false;
  bool tested = false;
  for (size_t arm = 0; arm < analysis.arms.size(); ++arm) {
    Headline headline = headline_of(analysis, arm);
    for (AnswerLine& line : headline.lines) {
      line.arm = arm;
      answer.lines.push_back(std::move(line));
    }
    fails = fails || headline.fails;
    tested = tested || headline.tested;
  }
  const bool differs = std::ranges::any_of(analysis.comparisons, shows_difference);
  answer.code = expected  ? expected->code
                : differs ? "differs"
                : fails   ? "fails"
                : tested  ? "no_failure"
                          : "refused";
  if (fails || differs) add(answer, comparisons_in_words(analysis));
  if (!still_computing.empty()) add(answer, {still_computing});
  for (const auto& [about, name] : kRemedies) {
    add(answer, Remedy(analysis, about, name).sentences());
  }
  if (analysis.settling) add(answer, settled_in_words(analysis));
  answer.table = find_answer_rows(analysis);
  return answer;
}

}  // namespace

Answer find_answer(const Analysis& analysis) {
  Answer answer = answer_to(analysis);
  answer.next = next_steps(analysis);
  for (const AnswerLine& line : answer.lines) answer.sentences.push_back(line.text);
  answer.text = fmt::format("{}", fmt::join(answer.sentences, " "));
  return answer;
}

}  // namespace mpsprobe

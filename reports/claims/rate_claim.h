#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/statistics/anytime.h"
#include "harness/statistics/fisher.h"
#include "harness/statistics/interval.h"
#include "harness/statistics/stratified.h"
#include "harness/wire/enum_words.h"

namespace mpsprobe {

/// What a difference in one axis was shown to do to the rate of failures.
enum class RateEffect : uint8_t {
  no_failure,      ///< with it none failed, which chance does not explain
  less_often,      ///< with it fewer failed, which chance does not explain, and some did
  not_shown,       ///< chance may explain the difference
  more_often,      ///< with it more failed, which chance does not explain
  opposite,        ///< fewer at one count and more at another, which chance explains neither of
  cannot_compare,  ///< a side without a failure would not have shown one
};
template <>
inline constexpr auto kWordsOf<RateEffect> =
    std::to_array<std::string_view>({"no_failure", "less_often", "no_difference_shown",
                                     "more_often", "opposite", "cannot_compare"});

/// A ratio of operations a second, of like with like: cells that differ in the one axis, whose
/// trials ran in the same rounds.
struct Price {
  int32_t threads = 0;
  double ratio = 1;  ///< with the setting, for one without: the median over pairs of trials
  Interval within;   ///< that the ratio is in, with 95% confidence
  int pairs = 0;     ///< of trials that passed, one of each cell
};

/// What was compared, and what that permits to be said: of all cells of one arm that are the same
/// but for one axis, matched by their thread count.
struct RateClaim {
  std::string about;                  ///< the axis; "processes" is a process for each thread
  std::string with;                   ///< its setting: "lock=forward"
  std::string without;                ///< the setting compared with: "lock=none"
  std::string label;                  ///< of the cells compared: "linear nograph (fork)"
  std::vector<size_t> cells_with;     ///< indices into Analysis::cells, ascending by threads
  std::vector<size_t> cells_without;  ///< the cell that each is compared with
  Proportion seen_with;               ///< added up; the p-value compares cell by cell
  Proportion seen_without;
  int refused_with = 0;  ///< by the library, in the cells compared: these are in no count above
  int refused_without = 0;
  std::vector<Stratum> strata;  ///< the pairs of cells that p is of
  double p = 1;
  double corrected_p = 1;  ///< by Holm, for `of`
  size_t of = 1;           ///< of how many such comparisons this is one
  RateEffect effect = RateEffect::not_shown;
  std::optional<Price> price;
};

/// What may be said where chance explains the difference or not.
RateEffect effect_shown(bool differs, bool fewer, int failures_with);

/// "no failure", "fails less often, still fails", "no difference shown", "fails more often", "fails
/// less often and more often", "cannot be compared".
std::string_view effect_in_words(RateEffect effect);

/// "at 2 threads it does 0.49 to 0.52 times the operations per second of lock=none (95%
/// confidence)"; of several prices the widest range, and that none is shown where there is none. Of
/// at least one claim, all about one axis.
std::string prices_in_words(const std::vector<const RateClaim*>& claims);

/// What was seen after a change, beside what was seen `before` it, where chance explains that or
/// not: "none in 20 (below 17%)", "rarer", "more often", "no difference shown". Of what was merely
/// not seen it is never said that it is gone.
std::string change_in_words(bool differs, const Proportion& before, const Proportion& after,
                            Sampling sampling = Sampling::fixed);

/// "3 of 20", "0 of 6 (14 refused)".
std::string seen_in_words(const Proportion& seen, int refused = 0);

/// "< 0.001", "0.012"; and with "p" before it: "p < 0.001", "p = 0.012".
std::string p_number(double p);
std::string p_in_words(double p);

}  // namespace mpsprobe

#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "harness/statistics/rate_question.h"

namespace mpsprobe {

/// The trials that every cell gets before a search spends any where they matter: thread counts are
/// erratic on real machines, a count may pass above one that fails, and a search that skipped it
/// would never see it. A cell that fails 26% of the time or more shows it in so many with 95%.
constexpr int kFloorTrials = 10;

/// The question that `--settle rate` asks of a cell: does it fail at `rate` or more, or at a tenth
/// of it or less? Each answer is wrong with a chance of at most 5%, at any stopping time
/// (rate_question.h).
RateQuestion settling_question(double rate);

/// A cell that never comes to an answer, since its rate is between the two of the question, is
/// given up after so many trials: five times as many as a cell takes that never fails.
int most_trials_to_settle(const RateQuestion& question);

/// Where failures begin among the points of one boundary, and how sure that is.
struct PlaceOfBoundary {
  size_t first_failing = 0;  ///< index of the first point that fails; points.size(): none does
  double lower = 0;          ///< the chance that they begin at a lower point
  double higher = 0;         ///< the chance that they begin at a higher one, or at none

  /// The chance that it is elsewhere, for the place at which this is wrong most often: the mean
  /// over the places is up to six tenths of it (1,000 campaigns at each place:
  /// boundary_search_test).
  double wrong() const;

  bool settled(const RateQuestion& question) const {
    return wrong() <= question.false_often + question.false_seldom;
  }
};

/// The likeliest place of a boundary among `points`, ascending by count, with chances that start
/// equal for every place and for none at all, if all points below the place fail at p0 of the
/// question and all others at p1. To none belongs that all points fail at one rate in between, at
/// sqrt(p0 p1), of which stray failures would otherwise make a place; its chance starts at (n-1)/n
/// of a place's among n points, so that a single point is asked the question alone. Chances by
/// Bayes' rule do not depend on why trials were stopped, so that, averaged over the places, those
/// named are wrong with at most lower + higher: C. W. Baum, V. V. Veeravalli, "A sequential
/// procedure for multihypothesis testing", IEEE Trans. Inform. Theory 40 (1994). One stray failure
/// below does not move the place, nor does a point that passes above one that clearly fails. Pure.
PlaceOfBoundary place_of_boundary(const RateQuestion& question, std::span<const Proportion> points);

/// The point of one boundary that must be tried next: of the two next to its likeliest place the
/// one that rules out the likelier side. Nothing where the boundary is settled or its points are
/// given up. All points have their floor already; those further away keep it. Pure.
std::optional<size_t> point_to_try(const RateQuestion& question,
                                   std::span<const Proportion> points);

/// Whether a cell is neither settled nor given up. Pure.
bool is_open(const RateQuestion& question, const Proportion& cell);

}  // namespace mpsprobe

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/statistics/fisher.h"

namespace mpsprobe {

/// A change of the failure rate by less than this is none, as far as "no culprit" is said.
constexpr double kLeastChange = 0.1;

/// What trials of builds, in the order in which they were made, say of the one at which a failure
/// began or ended. The builds from the change on have one failure rate, those before it another; or
/// there is no culprit, and all have the same. Which rates these are is not known: Jeffreys' prior
/// is integrated out on each side, as every place has an equal prior. A posterior does not depend
/// on why a build was tried, or when it was stopped: the same counts give the same one, so that a
/// bisection is a function of its journal. That all builds of a side have one rate is assumed.
///
/// A posterior is right in the mean over its prior, and not at each pair of rates. What is said is
/// therefore guarded (`confidence`), and change_point_test.cpp measures it at each pair by itself.
struct ChangePoint {
  /// The posterior of a change at build i; that of 0, before which there is nothing, is that of no
  /// culprit. Adds up to 1.
  std::vector<double> chances;
  std::vector<double> began;  ///< given that it is there, that it fails more often after it
  /// The bits that one more trial of each build is expected to tell of all this (D. V. Lindley, "On
  /// a measure of the information provided by an experiment", Ann. Math. Statist. 27, 1956).
  std::vector<double> information;
  /// How sure the likeliest answer is, at most. A build: by its posterior, with a margin; by what
  /// is left of that at rates nearer to one another that the trials leave possible; and by how
  /// clearly any common rate is ruled out. No culprit: by how clearly every change of kLeastChange
  /// or more is. Both are ruled out by the ratio of what all hypotheses together and what the best
  /// of these rates make of the trials: a martingale of mean 1 at the true rates whatever was tried
  /// (L. Wasserman, A. Ramdas, S. Balakrishnan, "Universal inference", PNAS 117, 2020; J. Ville,
  /// 1939), so that it ever reaches 1/a with a chance of at most a.
  double confidence = 0;
  bool common_rate_possible = true;  ///< at 95%: no culprit is not ruled out
  size_t untried = 0;                ///< builds without a trial: nothing is known of them alone

  size_t likeliest() const;     ///< the place of the largest chance
  size_t build_to_try() const;  ///< the one that is expected to tell most; of equal ones the newest
  /// The fewest places that hold the change with `sure`, ascending; 0 among them where no culprit
  /// is not ruled out.
  std::vector<size_t> possible(double sure) const;
};

/// Throws std::invalid_argument without a build, or where failures are not 0 to trials. O(builds).
/// Pure.
ChangePoint find_change(std::span<const Proportion> builds);

}  // namespace mpsprobe

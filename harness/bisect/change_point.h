#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/statistics/fisher.h"

namespace mpsprobe {

/// What trials of builds, in the order in which they were made, say of the one at which a failure
/// began or ended. The builds from the change on have one failure rate, those before it another, at
/// least twice as high or as low; or there is no culprit, and all have the same. Which rates these
/// are is not known and not asked: they have Beta priors (stated in the source, integrated over a
/// grid of 48 rates), as every place and both directions have equal ones. A posterior does not
/// depend on why a build was tried, or when it was stopped: the same counts give the same one, so
/// that a bisection is a function of its journal. That all builds of a side have one rate is
/// assumed.
struct ChangePoint {
  /// The chance that the change is at build i; that of 0, before which there is nothing, is that of
  /// no culprit. Adds up to 1.
  std::vector<double> chances;
  std::vector<double> began;  ///< given that it is there, that it fails more often after it
  /// The bits that one more trial of each build is expected to tell of all this (D. V. Lindley, "On
  /// a measure of the information provided by an experiment", Ann. Math. Statist. 27, 1956).
  std::vector<double> information;

  size_t likeliest() const;     ///< the place of the largest chance
  size_t build_to_try() const;  ///< the one that is expected to tell most; of equal ones the newest
};

/// Throws std::invalid_argument without a build, or where failures are not 0 to trials. O(builds).
/// Pure.
ChangePoint find_change(std::span<const Proportion> builds);

}  // namespace mpsprobe

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/statistics/fisher.h"

// Failure counts night by night. Nights differ for reasons that nobody sees (heat, load, what ran
// before), so that the trials of one night are more alike than those of two: a model that takes
// all for independent finds a change in every other series.

namespace mpsprobe {

/// Whether the rate changed for good at some night.
struct RateShift {
  double chance = 0;           ///< that it changed at all; before the first night 5%
  std::vector<double> places;  ///< given that, the chance that night i is the first of the new rate
  double before = 0;           ///< mean rates, given that it changed at the likeliest place
  double after = 0;

  size_t likeliest() const;
  /// The fewest consecutive nights, from `first` to `last`, that hold the change with 95%.
  struct Nights {
    size_t first = 0;
    size_t last = 0;
  };
  Nights within() const;
};

/// The chance of a change from which one is claimed. Simulated in nights_test.cpp: looked at every
/// night for 90 nights, whose rates vary (mean .2, standard deviation .15), fewer than 1% of series
/// ever reach it.
constexpr double kClaimedShift = 0.92;

/// The failures of a night with the rate's mean m and spread s have the beta-binomial distribution
/// (J. G. Skellam, "A probability distribution derived from the binomial", J. R. Statist. Soc. B
/// 10, 1948); before the change one m, after it another, with the same s. All are integrated out: m
/// has Jeffreys' prior for a rate, on a grid of 40, and 1/(s + 1), the correlation of two trials of
/// one night, 12 values from 0.001 to 0.5. Every place has the same chance. A night without trials
/// tells nothing. Throws std::invalid_argument unless 0 <= failures <= trials. O(nights). Pure.
RateShift find_shift(std::span<const Proportion> nights);

/// Several changes, each the first night of a new rate: the likeliest one that is claimed, then
/// those of the nights before and after it, likewise. Ascending.
struct ClaimedShift {
  size_t night = 0;
  RateShift shift;   ///< over the nights from `begin` on
  size_t begin = 0;  ///< the first night that was looked at for it
};
std::vector<ClaimedShift> claimed_shifts(std::span<const Proportion> nights);

}  // namespace mpsprobe

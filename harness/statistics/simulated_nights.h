#pragma once

#include <cstdint>

namespace mpsprobe {

/// Series of 90 nights with 10 trials each. Reproducible by `seed`.

/// In how many of `series`, whose rate varies by night (beta, mean .2, standard deviation .15), a
/// change was claimed at any of the nightly looks.
int false_changes(int series, uint64_t seed);

/// The same for a rate that is the same every night.
int false_changes_at(double rate, int series, uint64_t seed);

/// Nights from the first one with a rate of 10%, after `quiet` nights with none, until a change is
/// claimed: the median, and in how many of `series` none was within 60 nights.
struct ShiftDelay {
  int median = 0;
  int missed = 0;
  int early = 0;  ///< series in which one was claimed before it was there
};
ShiftDelay delay_of_shift(int quiet, int series, uint64_t seed);

/// A failure that is known from `recorded` trials at its rate.
struct SimulatedRecord {
  double rate = 0.1;
  int recorded = 100;
  int night_trials = 10;
};

/// Nights, of the 90 of a series in the mean, on which a known failure whose rate stays what it is
/// was claimed to fail more often.
double red_nights(const SimulatedRecord& known, int series, uint64_t seed);

/// Nights from the first one with the rate `risen` until that is claimed, after `quiet` nights at
/// the known one: the median. One more than 60 where it never was.
int delay_of_rise(const SimulatedRecord& known, double risen, int quiet, int series, uint64_t seed);

/// In how many of `series` a failure that lives on was called gone on any of its nights.
int called_gone(const SimulatedRecord& known, int series, uint64_t seed);

}  // namespace mpsprobe

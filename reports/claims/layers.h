#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/claims/comparable.h"

namespace mpsprobe {

/// Compares cells that ran on two layers, or on two builds, in the run at hand: mps over metal
/// (Apple's frameworks without PyTorch), over cuda and over cpu; cuda over cpu; sim over cpu; and
/// the builds of every further worker with those of the first. Needs
/// `arms`, `cells` and `signatures` of the analysis. Only pairs in which both sides have trials
/// that count; a layer of the same LibTorch is taken from the same arm.
///
/// A difference is claimed where Fisher's exact test, two-sided, gives a p-value below kClaimLevel
/// after Holm's correction for all pairs in which something failed. The others are left out of the
/// correction: the test takes the number of failures as given, and without one it can claim
/// nothing. So are pairs whose sides ran on different devices: where both arms ran a backend, their
/// processes must have named the same device for it.
std::vector<Comparison> compare_layers(const Analysis& analysis);

/// Whether `a` is the older one of two builds, where their versions tell. The order of the workers
/// is that of the command line, and tells nothing.
bool is_older(const Arm& a, const Arm& b);

/// Whether one of two builds failed less often than the other.
bool shows_difference(const Comparison& comparison);

/// Why the comparison says nothing, in words; "" where the trials of both sides could tell.
std::string why_inconclusive(const Analysis& analysis, const Comparison& comparison);

/// What the comparison permits, in words: "only with PyTorch", "inconclusive: too few trials
/// (...)". Plain text without markup; says so where a side is simulated.
std::string conclusion_in_words(const Analysis& analysis, const Comparison& comparison);

}  // namespace mpsprobe

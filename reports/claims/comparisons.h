#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

// Cells, layers and settings of one run beside one another.

namespace mpsprobe {

/// The level of every claim that two results differ.
constexpr double kClaimLevel = 0.05;

/// Why a side without a failure says nothing beside one with failures: no_overlap, other_path or
/// unchecked. It says something only of what it did and would have seen. Nothing where both failed,
/// or neither, or where they can be compared. Pure.
std::optional<Conclusion> why_incomparable(const CellSummary& one, const CellSummary& two);

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

/// Compares all cells of an arm that differ in one axis which people set to be rid of failures, or
/// suspect of them: a lock, a throttle, how a thread waits, who made its arrays, streams
/// of their own, a variable of the environment; and threads with as many processes of one thread.
/// Needs `arms`, `cells` and `sampling` of the analysis, and fills in its claims. Where nothing
/// failed on either side there is no claim, but there may be a price. Of all that are made, each
/// and together, at most 5% of runs hold even one false one: exact tests, by thread count
/// (stratified.h), corrected by Holm; opposite effects of one setting by Bonferroni, where both
/// directions are shown. Prices hold with 95% each.
void compare_rates(Analysis& analysis);

}  // namespace mpsprobe

#pragma once

#include "harness/statistics/fisher.h"

namespace mpsprobe {

enum class Decision : unsigned char { go_on, often, seldom };

/// A question about a failure rate, and how sure its answer is to be: does it happen at
/// `often_rate` or more, or at `seldom_rate` or less?
struct RateQuestion {
  double seldom_rate = 0.09;   ///< p0
  double often_rate = 0.9;     ///< p1, above p0
  double false_often = 0.02;   ///< alpha: the chance of `often` where the rate is p0 or less
  double false_seldom = 0.02;  ///< beta: the chance of `seldom` where it is p1 or more
  int most_trials = 300;       ///< an answer is given then; 0: never without evidence
};

/// The log likelihood ratio of k failures in n trials, k ln(p1/p0) + (n-k) ln((1-p1)/(1-p0)): above
/// 0 where they speak for p1. Pure.
double log_likelihood_ratio(const RateQuestion& question, const Proportion& seen);

/// What the trials so far decide, by the sequential probability ratio test: `often` where
/// their log_likelihood_ratio is ln(1/alpha) or more, `seldom` where it is ln(beta) or less.
/// Source: A. Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics
/// 16 (1945). The bounds are those of J. Ville, "Etude critique de la notion de collectif" (1939):
/// the ratio is a supermartingale for every rate up to p0, its inverse for every rate from p1 on,
/// so that each error is at most what is stated, at any stopping time, where Wald's own bounds keep
/// only the sum of both. At `most_trials` an open question is decided as `seldom`: a simplification
/// that is not shown to keep the failure is not made. Pure.
Decision decide(const RateQuestion& question, const Proportion& seen);

/// The question for a defect that failed `baseline.failures` of `baseline.trials` times. With m =
/// (k + 1/2) / (n + 1), the mean of the rate under Jeffreys' prior (H. Jeffreys, "An invariant form
/// for the prior probability in estimation problems", Proceedings of the Royal Society A 186,
/// 1946), `often` is m (3 + m) / 4: all of the rate for a defect that always shows, three quarters
/// for a rare one, since a smaller cell may fail somewhat less often and the rate is not known
/// exactly. `seldom` is a tenth of that. So two failures in a row always mean `often`; two passes
/// in a row mean `seldom` after 5 failures in 5.
RateQuestion question_for(const Proportion& baseline, int most_trials);

/// How many further trials without a failure decide `question` as `seldom`; 0 where it is decided.
/// `most_trials` is left out of account. Pure.
int trials_until_seldom(const RateQuestion& question, const Proportion& seen);

}  // namespace mpsprobe

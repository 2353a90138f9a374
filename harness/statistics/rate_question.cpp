#include "harness/statistics/rate_question.h"

#include <algorithm>
#include <cmath>

namespace mpsprobe {
namespace {

// Rounding must not cost a trial where k ln(p1/p0) equals the bound.
constexpr double kTolerance = 1e-9;

}  // namespace

double log_likelihood_ratio(const RateQuestion& question, const Proportion& seen) {
  return seen.failures * std::log(question.often_rate / question.seldom_rate) +
         (seen.trials - seen.failures) *
             std::log((1 - question.often_rate) / (1 - question.seldom_rate));
}

Decision decide(const RateQuestion& question, const Proportion& seen) {
  const double ratio = log_likelihood_ratio(question, seen);
  if (ratio >= -std::log(question.false_often) - kTolerance) return Decision::often;
  const bool over = question.most_trials > 0 && seen.trials >= question.most_trials;
  if (ratio <= std::log(question.false_seldom) + kTolerance || over) return Decision::seldom;
  return Decision::go_on;
}

int trials_until_seldom(const RateQuestion& question, const Proportion& seen) {
  const double missing =
      log_likelihood_ratio(question, seen) - std::log(question.false_seldom) - kTolerance;
  const double each = std::log((1 - question.seldom_rate) / (1 - question.often_rate));
  return std::max(0, static_cast<int>(std::ceil(missing / each)));
}

RateQuestion question_for(const Proportion& baseline, int most_trials) {
  const double mean = (baseline.failures + 0.5) / (baseline.trials + 1);
  RateQuestion question;
  question.often_rate = mean * (3 + mean) / 4;
  question.seldom_rate = question.often_rate / 10;
  question.most_trials = most_trials;
  return question;
}

}  // namespace mpsprobe

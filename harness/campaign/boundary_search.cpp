#include "harness/campaign/boundary_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace mpsprobe {
namespace {

/// ln of how likely `points` are if they all fail at sqrt(p0 p1), against p0, times its weight.
double log_flat_in_between(const RateQuestion& question, std::span<const Proportion> points) {
  RateQuestion in_between = question;
  in_between.often_rate = std::sqrt(question.seldom_rate * question.often_rate);
  const double weight = 1 - 1 / static_cast<double>(points.size());
  return std::transform_reduce(
      points.begin(), points.end(), std::log(weight), std::plus<>(),
      [&](const Proportion& point) { return log_likelihood_ratio(in_between, point); });
}

}  // namespace

RateQuestion settling_question(double rate) {
  return {.seldom_rate = rate / 10,
          .often_rate = rate,
          .false_often = 0.05,
          .false_seldom = 0.05,
          .most_trials = 0};
}

int most_trials_to_settle(const RateQuestion& question) {
  return 5 * trials_until_seldom(question, {});
}

bool is_open(const RateQuestion& question, const Proportion& cell) {
  return cell.trials < most_trials_to_settle(question) && decide(question, cell) == Decision::go_on;
}

double PlaceOfBoundary::wrong() const {
  constexpr double kMeanOfWorst = 0.6;
  return std::min(1.0, (lower + higher) / kMeanOfWorst);
}

PlaceOfBoundary place_of_boundary(const RateQuestion& question,
                                  std::span<const Proportion> points) {
  // ln of the likelihood of each place, against that of none.
  std::vector<double> likelihood(points.size() + 1, 0);
  for (size_t i = points.size(); i-- > 0;) {
    likelihood[i] = likelihood[i + 1] + log_likelihood_ratio(question, points[i]);
  }
  if (points.size() > 1) {
    const double flat = log_flat_in_between(question, points);
    likelihood.back() = std::max(0.0, flat) + std::log1p(std::exp(-std::abs(flat)));
  }
  const auto best = std::max_element(likelihood.begin(), likelihood.end());
  const auto odds = [best](auto first, auto last) {
    return std::accumulate(
        first, last, 0.0, [best](double sum, double each) { return sum + std::exp(each - *best); });
  };
  const double all = odds(likelihood.begin(), likelihood.end());
  return {static_cast<size_t>(best - likelihood.begin()), odds(likelihood.begin(), best) / all,
          odds(best + 1, likelihood.end()) / all};
}

std::optional<size_t> point_to_try(const RateQuestion& question,
                                   std::span<const Proportion> points) {
  const PlaceOfBoundary place = place_of_boundary(question, points);
  if (place.settled(question)) return std::nullopt;
  const int most = most_trials_to_settle(question);
  const size_t at = place.first_failing;
  const bool below = at > 0 && points[at - 1].trials < most;
  const bool above = at < points.size() && points[at].trials < most;
  if (below && (place.lower >= place.higher || !above)) return at - 1;
  if (above) return at;
  return std::nullopt;
}

}  // namespace mpsprobe

#include "harness/campaign/boundary_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace mpsprobe {

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

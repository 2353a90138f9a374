#include "harness/campaign/simulated_campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <functional>
#include <map>

#include "harness/statistics/anytime.h"

namespace mpsprobe {
namespace {

constexpr size_t kCounts = 8;

using FailsAt = std::function<bool(const Proportion&)>;

void read_result(const PlantedBoundary& planted, const std::vector<Proportion>& points,
                 size_t first, const FailsAt& fails, SimulatedCampaigns& all) {
  std::vector<size_t> passing_above;
  for (size_t i = first; i < points.size(); ++i) {
    if (!fails(points[i])) passing_above.push_back(i);
  }
  ++all.campaigns;
  if (first != planted.first_failing) ++all.wrong;
  if (passing_above != planted.passing_above) ++all.missed;
}

bool holds(const Interval& interval, double rate) {
  return interval.low <= rate && rate <= interval.high;
}

/// Intervals are remembered: the same few counts come up again and again.
template <typename Of>
class Remembered {
 public:
  explicit Remembered(Of of) : of_(of) {}
  const Interval& operator()(const Proportion& seen) {
    const auto [at, fresh] = known_.try_emplace({seen.failures, seen.trials});
    if (fresh) at->second = of_(seen.failures, seen.trials);
    return at->second;
  }

 private:
  Of of_;
  std::map<std::pair<int, int>, Interval> known_;
};

template <typename IntervalOf>
void count_intervals(const PlantedBoundary& planted, const std::vector<Proportion>& points,
                     IntervalOf& interval, SimulatedCampaigns& all) {
  for (size_t i = 0; i < points.size(); ++i) {
    ++all.intervals;
    if (!holds(interval(points[i]), planted.rates[i])) ++all.uncovered;
  }
}

// The fewest failures that p0 gives `trials` with at most alpha.
int critical_failures(const RateQuestion& question, int trials) {
  const boost::math::binomial_distribution<> seldom(trials, question.seldom_rate);
  int failures = 1;
  while (boost::math::cdf(boost::math::complement(seldom, failures - 1)) > question.false_often) {
    ++failures;
  }
  return failures;
}

}  // namespace

std::vector<PlantedBoundary> planted_boundaries(const RateQuestion& question) {
  const double seldom = question.seldom_rate;
  const double often = question.often_rate;
  std::vector<PlantedBoundary> all;
  for (size_t at = 0; at < kCounts; ++at) {
    PlantedBoundary sharp{fmt::format("sharp {:g}%/{:g}% at {}", seldom * 100, often * 100, at + 1),
                          std::vector<double>(kCounts, seldom),
                          at,
                          {},
                          true};
    std::fill(sharp.rates.begin() + static_cast<std::ptrdiff_t>(at), sharp.rates.end(), often);
    all.push_back(sharp);
  }
  all.push_back({"certain 0%/100% at 4", {0, 0, 0, 1, 1, 1, 1, 1}, 3, {}});
  all.push_back({"sloped", {0, 0.01, 0.1, 0.2, 0.4, 0.6, 0.8, 1}, 2, {}});
  all.push_back({"sloped, steep", {0, 0, 0, 0.1, 0.5, 0.9, 1, 1}, 3, {}});
  all.push_back({"erratic 100%", {0, 0, 1, 0, 1, 1, 1, 1}, 2, {3}});
  all.push_back({"erratic 50%", {0, 0, 0.5, 0, 0.5, 0, 0.5, 0.5}, 2, {3, 5}});
  all.push_back({"erratic 30%", {0, 0, 0.3, 0, 0.3, 0.3, 0.3, 0.3}, 2, {3}});
  all.push_back({"absent, never fails", std::vector<double>(kCounts, 0), kCounts, {}});
  all.push_back({"absent, fails seldom", std::vector<double>(kCounts, seldom), kCounts, {}, true});
  for (const double rate : {0.005, 0.01}) {
    all.push_back({fmt::format("absent, flat {:g}%", rate * 100),
                   std::vector<double>(kCounts, rate),
                   kCounts,
                   {}});
  }
  return all;
}

std::vector<Proportion> settled_points(const RateQuestion& question,
                                       const std::vector<double>& rates, SimulatedTrials& random) {
  std::vector<Proportion> points(rates.size());
  const auto try_point = [&](size_t i) {
    ++points[i].trials;
    points[i].failures += random.fails(rates[i]) ? 1 : 0;
  };
  for (size_t i = 0; i < points.size(); ++i) {
    for (int n = 0; n < kFloorTrials; ++n) try_point(i);
  }
  while (const auto next = point_to_try(question, points)) try_point(*next);
  return points;
}

SimulatedCampaigns settle_simulated(const RateQuestion& question, const PlantedBoundary& planted,
                                    int campaigns, uint64_t seed) {
  SimulatedTrials random(seed);
  Remembered interval(anytime_interval);
  SimulatedCampaigns all;
  double trials = 0;
  for (int campaign = 0; campaign < campaigns; ++campaign) {
    const std::vector<Proportion> points = settled_points(question, planted.rates, random);
    for (const Proportion& point : points) trials += point.trials;
    read_result(
        planted, points, place_of_boundary(question, points).first_failing,
        [&](const Proportion& point) {
          return point.failures > 0 && decide(question, point) != Decision::seldom;
        },
        all);
    count_intervals(planted, points, interval, all);
    bool accused = false;
    for (size_t i = 0; i < points.size(); ++i) {
      accused = accused || (planted.rates[i] <= question.seldom_rate &&
                            decide(question, points[i]) == Decision::often);
    }
    if (accused) ++all.accused;
  }
  all.mean_trials = trials / campaigns;
  return all;
}

SimulatedCampaigns plan_simulated(const RateQuestion& question, const PlantedBoundary& planted,
                                  int campaigns, uint64_t seed) {
  const int size = fixed_size(question);
  const int critical = critical_failures(question, size);
  SimulatedTrials random(seed);
  Remembered interval(exact_interval);
  SimulatedCampaigns all;
  for (int campaign = 0; campaign < campaigns; ++campaign) {
    std::vector<Proportion> points(planted.rates.size(), {0, size});
    bool accused = false;
    for (size_t i = 0; i < points.size(); ++i) {
      for (int n = 0; n < size; ++n) points[i].failures += random.fails(planted.rates[i]) ? 1 : 0;
      accused =
          accused || (planted.rates[i] <= question.seldom_rate && points[i].failures >= critical);
    }
    if (accused) ++all.accused;
    const auto fails_often = [&](const Proportion& point) { return point.failures >= critical; };
    const auto first = std::find_if(points.begin(), points.end(), fails_often);
    read_result(planted, points, static_cast<size_t>(first - points.begin()), fails_often, all);
    count_intervals(planted, points, interval, all);
  }
  all.mean_trials = static_cast<double>(size) * static_cast<double>(planted.rates.size());
  return all;
}

int sequences_left(double rate, int sequences, int length, uint64_t seed) {
  SimulatedTrials random(seed);
  Remembered interval(anytime_interval);
  int left = 0;
  for (int sequence = 0; sequence < sequences; ++sequence) {
    Proportion seen;
    while (seen.trials < length) {
      ++seen.trials;
      seen.failures += random.fails(rate) ? 1 : 0;
      if (!holds(interval(seen), rate)) {
        ++left;
        break;
      }
    }
  }
  return left;
}

}  // namespace mpsprobe

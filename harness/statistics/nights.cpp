#include "harness/statistics/nights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "harness/statistics/beta.h"
#include "harness/statistics/interval.h"

namespace mpsprobe {
namespace {

constexpr size_t kMeans = 40;
constexpr size_t kSpreads = 12;
constexpr double kPriorShift = 0.05;
constexpr double kLeastCorrelation = 0.001;
constexpr double kMostCorrelation = 0.5;
constexpr double kWithin = 0.95;
constexpr double kNothing = 40;  // e^-40 of the likeliest

double mean_at(size_t index) {
  static const auto means = [] {
    std::array<double, kMeans> all;
    for (size_t i = 0; i < kMeans; ++i) all[i] = jeffreys_rate(i, kMeans);
    return all;
  }();
  return means[index];
}

double spread_at(size_t index) {
  const double step = static_cast<double>(index) / static_cast<double>(kSpreads - 1);
  const double correlation =
      kLeastCorrelation * std::pow(kMostCorrelation / kLeastCorrelation, step);
  return 1 / correlation - 1;
}

using Grid = std::array<std::array<double, kMeans>, kSpreads>;

/// How likely a night's count is under each mean and spread, in logarithms and in this order of
/// its trials.
Grid night_evidence(const Proportion& night) {
  check_count(night.failures, night.trials);
  Grid grid;
  for (size_t s = 0; s < kSpreads; ++s) {
    const double spread = spread_at(s);
    for (size_t m = 0; m < kMeans; ++m) {
      const double a = mean_at(m) * spread;
      const double b = (1 - mean_at(m)) * spread;
      grid[s][m] = log_beta_function(a + night.failures, b + night.trials - night.failures) -
                   log_beta_function(a, b);
    }
  }
  return grid;
}

double log_sum(const std::vector<double>& logarithms) {
  const double most = *std::max_element(logarithms.begin(), logarithms.end());
  double sum = 0;
  for (const double each : logarithms) sum += std::exp(each - most);
  return most + std::log(sum);
}

/// The mean over the grid's means of the evidence, and the mean rate that goes with it.
std::pair<double, double> over_means(const std::array<double, kMeans>& evidence) {
  const double most = *std::max_element(evidence.begin(), evidence.end());
  double sum = 0;
  double rate = 0;
  for (size_t m = 0; m < kMeans; ++m) {
    if (evidence[m] < most - kNothing) continue;  // most are, and exponentials take the time
    const double weight = std::exp(evidence[m] - most);
    sum += weight;
    rate += weight * mean_at(m);
  }
  return {most + std::log(sum / kMeans), rate / sum};
}

/// Sums of night_evidence from the first night on; nights with the same counts are computed once.
std::vector<Grid> sums_of(std::span<const Proportion> nights) {
  std::map<std::pair<int, int>, Grid> known;
  std::vector<Grid> sums(nights.size() + 1);
  sums[0] = {};
  for (size_t i = 0; i < nights.size(); ++i) {
    const std::pair<int, int> key{nights[i].failures, nights[i].trials};
    if (!known.contains(key)) known.emplace(key, night_evidence(nights[i]));
    const Grid& night = known.at(key);
    for (size_t s = 0; s < kSpreads; ++s) {
      for (size_t m = 0; m < kMeans; ++m) sums[i + 1][s][m] = sums[i][s][m] + night[s][m];
    }
  }
  return sums;
}

void claim(std::span<const Proportion> nights, size_t begin, std::vector<ClaimedShift>& claimed) {
  RateShift shift = find_shift(nights);
  if (shift.chance < kClaimedShift) return;
  const size_t place = shift.likeliest();
  claim(nights.first(place), begin, claimed);
  claimed.push_back({begin + place, std::move(shift), begin});
  claim(nights.subspan(place), begin + place, claimed);
}

}  // namespace

size_t RateShift::likeliest() const {
  return static_cast<size_t>(std::max_element(places.begin(), places.end()) - places.begin());
}

RateShift::Nights RateShift::within() const {
  Nights nights{0, places.empty() ? 0 : places.size() - 1};
  for (size_t first = 0; first < places.size(); ++first) {
    double sum = 0;
    for (size_t last = first; last < places.size(); ++last) {
      sum += places[last];
      if (sum < kWithin) continue;
      if (last - first < nights.last - nights.first) nights = {first, last};
      break;
    }
  }
  return nights;
}

RateShift find_shift(std::span<const Proportion> nights) {
  RateShift shift;
  shift.places.resize(nights.size());
  if (nights.size() < 2) return shift;
  const std::vector<Grid> sums = sums_of(nights);
  const Grid& all = sums.back();
  std::vector<double> same;  // by spread
  for (const auto& evidence : all) same.push_back(over_means(evidence).first);
  std::vector<double> changed(nights.size(), -std::numeric_limits<double>::infinity());
  std::vector<std::pair<double, double>> rates(nights.size());
  for (size_t place = 1; place < nights.size(); ++place) {
    std::vector<double> by_spread;
    double best = -std::numeric_limits<double>::infinity();
    for (size_t s = 0; s < kSpreads; ++s) {
      std::array<double, kMeans> after;
      for (size_t m = 0; m < kMeans; ++m) after[m] = all[s][m] - sums[place][s][m];
      const auto [before_evidence, before_rate] = over_means(sums[place][s]);
      const auto [after_evidence, after_rate] = over_means(after);
      by_spread.push_back(before_evidence + after_evidence);
      if (by_spread.back() > best) {
        best = by_spread.back();
        rates[place] = {before_rate, after_rate};
      }
    }
    changed[place] = log_sum(by_spread);
  }
  const double some = log_sum(changed);
  for (size_t i = 0; i < nights.size(); ++i) shift.places[i] = std::exp(changed[i] - some);
  const double log_changed = std::log(kPriorShift / static_cast<double>(nights.size() - 1)) + some;
  const double log_same = std::log(1 - kPriorShift) + log_sum(same);
  shift.chance = 1 / (1 + std::exp(log_same - log_changed));
  std::tie(shift.before, shift.after) = rates[shift.likeliest()];
  return shift;
}

std::vector<ClaimedShift> claimed_shifts(std::span<const Proportion> nights) {
  std::vector<ClaimedShift> claimed;
  claim(nights, 0, claimed);
  return claimed;
}

}  // namespace mpsprobe

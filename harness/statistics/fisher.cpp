#include "harness/statistics/fisher.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "harness/statistics/stratified.h"

namespace mpsprobe {
namespace {

constexpr double kMostTrials = 1e6;

std::vector<size_t> ascending(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&values](size_t a, size_t b) { return values[a] < values[b]; });
  return order;
}

}  // namespace

double fisher_exact(const Proportion& first, const Proportion& second) {
  const Stratum one{first, second};
  return stratified_exact({&one, 1});
}

std::vector<double> holm_corrected(const std::vector<double>& p_values) {
  const std::vector<size_t> order = ascending(p_values);
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = static_cast<double>(order.size() - rank) * p_values[order[rank]];
    largest = std::max(largest, std::min(1.0, scaled));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

std::vector<double> false_discovery_corrected(const std::vector<double>& p_values) {
  const std::vector<size_t> order = ascending(p_values);
  std::vector<double> corrected(p_values.size());
  double smallest = 1;
  for (size_t rank = order.size(); rank-- > 0;) {
    const double scaled =
        p_values[order[rank]] * static_cast<double>(order.size()) / static_cast<double>(rank + 1);
    smallest = std::min(smallest, scaled);
    corrected[order[rank]] = smallest;
  }
  return corrected;
}

double trials_to_see(double first, double second, double level, double power) {
  const auto is_share = [](double x) { return x > 0 && x < 1; };
  if (!(std::min(first, second) >= 0 && std::max(first, second) <= 1) || first == second ||
      !is_share(level) || !is_share(power)) {
    throw std::invalid_argument("two rates that differ, a level and a power are needed");
  }
  const boost::math::normal_distribution<> normal;
  const double middle = (first + second) / 2;
  const double apart = std::fabs(first - second);
  const double together =
      boost::math::quantile(normal, 1 - level / 2) * std::sqrt(2 * middle * (1 - middle)) +
      boost::math::quantile(normal, power) * std::sqrt(first * (1 - first) + second * (1 - second));
  const double trials = together * together / (apart * apart);
  const double corrected = 1 + std::sqrt(1 + 4 / (trials * apart));
  return trials / 4 * corrected * corrected;
}

std::optional<int> trials_to_tell(double first, double second, double level) {
  if (first == second) return std::nullopt;
  const double trials = std::ceil(trials_to_see(first, second, level, 0.9));
  if (trials > kMostTrials) return std::nullopt;
  return static_cast<int>(trials);
}

}  // namespace mpsprobe

#include "harness/bisect/change_point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "harness/statistics/beta.h"
#include "harness/statistics/interval.h"

namespace mpsprobe {
namespace {

/// The chance of no culprit before the first trial. What is left is shared by all places.
constexpr double kNoCulprit = 0.7;
/// A posterior of a place is taken for as far from certainty as this many times what it says.
/// Chosen by simulation (change_point_test.cpp): where trials are few and both rates are far from
/// 0, a posterior over all rates is too sure of a place by up to this.
constexpr double kMargin = 2.5;
constexpr double kCommonRateRuledOut = 0.05;
/// What the named place keeps of its chance at rates that are nearer to one another than those seen
/// may fall short of certainty by this many times as much as what is said; and so many such rates
/// are looked at. Chosen by simulation: of two rates that are near one another, trials that
/// look clear are those by chance far apart, and a posterior over all rates takes them at their
/// word.
constexpr double kNearerMargin = 4;
constexpr int kNearerRates = 32;

double bits(double rate) {
  if (rate <= 0 || rate >= 1) return 0;
  return -rate * std::log2(rate) - (1 - rate) * std::log2(1 - rate);
}

/// The trials of one side of a place.
struct Side {
  double failures = 0;
  double passes = 0;

  double trials() const { return failures + passes; }
  double rate() const { return failures / trials(); }
  double expected() const { return (failures + 0.5) / (trials() + 1); }
  /// The logarithm of how likely they are, with Jeffreys' prior integrated out.
  double log_marginal() const {
    return log_beta_function(failures + 0.5, passes + 0.5) - log_beta_function(0.5, 0.5);
  }
  /// The same at one rate, and at the best one.
  double log_at(double at) const {
    return (failures > 0 ? failures * std::log(at) : 0) +
           (passes > 0 ? passes * std::log1p(-at) : 0);
  }
  double log_best() const { return trials() > 0 ? log_at(rate()) : 0; }
};

/// The largest log likelihood of both sides where `high` has a rate that is higher by kLeastChange
/// or more.
double log_best_apart(const Side& low, const Side& high) {
  constexpr double kMost = 1 - kLeastChange;
  if (low.trials() == 0 || high.trials() == 0) {
    const double rest = high.trials() == 0 ? 0 : high.log_at(std::max(high.rate(), kLeastChange));
    return low.trials() == 0 ? rest : low.log_at(std::min(low.rate(), kMost));
  }
  if (high.rate() - low.rate() >= kLeastChange) return low.log_best() + high.log_best();
  // Just that far apart: the likelihood is concave in the lower rate, and its slope falls.
  double below = 0;
  double above = kMost;
  for (int i = 0; i < 40; ++i) {
    const double at = (below + above) / 2;
    const double other = at + kLeastChange;
    const double slope = low.failures / at - low.passes / (1 - at) + high.failures / other -
                         (high.passes > 0 ? high.passes / (1 - other) : 0);
    (slope > 0 ? below : above) = at;
  }
  const double at = (below + above) / 2;
  return low.log_at(at) + high.log_at(at + kLeastChange);
}

/// A place of a change, with what it makes of the next trial on either side. Place 0: no culprit.
struct Hypothesis {
  Side before;
  Side after;
  double weight = 0;  ///< first a logarithm, then the chance
};

class Posterior {
 public:
  explicit Posterior(std::span<const Proportion> builds) {
    for (const Proportion& build : builds) {
      check_count(build.failures, build.trials);
      all_.failures += build.failures;
      all_.passes += build.trials - build.failures;
    }
    hypotheses_.push_back({{}, all_, std::log(kNoCulprit) + all_.log_marginal()});
    const double share = std::log((1 - kNoCulprit) / static_cast<double>(builds.size() - 1));
    Side before;
    for (size_t place = 1; place < builds.size(); ++place) {
      before.failures += builds[place - 1].failures;
      before.passes += builds[place - 1].trials - builds[place - 1].failures;
      const Side after{all_.failures - before.failures, all_.passes - before.passes};
      hypotheses_.push_back({before, after, share + before.log_marginal() + after.log_marginal()});
    }
    const double most = std::max_element(hypotheses_.begin(), hypotheses_.end(),
                                         [](const Hypothesis& a, const Hypothesis& b) {
                                           return a.weight < b.weight;
                                         })
                            ->weight;
    double sum = 0;
    for (Hypothesis& each : hypotheses_) sum += each.weight = std::exp(each.weight - most);
    for (Hypothesis& each : hypotheses_) each.weight /= sum;
    log_all_ = most + std::log(sum);
  }

  const std::vector<Hypothesis>& hypotheses() const { return hypotheses_; }

  /// The chance, at most, with which trials that speak so much against it are ever seen: of every
  /// rate that all builds may share, and of every change by kLeastChange or more.
  double p_of_common_rate() const { return std::exp(std::min(0.0, all_.log_best() - log_all_)); }
  double p_of_change() const {
    double best = -std::numeric_limits<double>::infinity();
    for (size_t place = 1; place < hypotheses_.size(); ++place) {
      const Hypothesis& each = hypotheses_[place];
      best = std::max(
          {best, log_best_apart(each.before, each.after), log_best_apart(each.after, each.before)});
    }
    return std::exp(std::min(0.0, best - log_all_));
  }

  /// The least chance of `place` among all places, over rates between those seen on its sides and
  /// the common one, as far as the trials do not rule these out as they do a common rate.
  double chance_at_nearer_rates(size_t place) const {
    const Hypothesis& named = hypotheses_[place];
    const double common = all_.expected();
    const double places = static_cast<double>(hypotheses_.size() - 1);
    double least = 1;
    std::vector<double> likelihood(hypotheses_.size() - 1);
    for (int step = 0; step < kNearerRates; ++step) {
      const double nearer = step / static_cast<double>(kNearerRates);
      const double before = std::lerp(named.before.expected(), common, nearer);
      const double after = std::lerp(named.after.expected(), common, nearer);
      const std::array<double, 4> logs{std::log(before), std::log1p(-before), std::log(after),
                                       std::log1p(-after)};
      for (size_t i = 0; i < likelihood.size(); ++i) {
        const Hypothesis& each = hypotheses_[i + 1];
        likelihood[i] = each.before.failures * logs[0] + each.before.passes * logs[1] +
                        each.after.failures * logs[2] + each.after.passes * logs[3];
      }
      const double most = *std::max_element(likelihood.begin(), likelihood.end());
      if (std::exp(most - log_all_) < kCommonRateRuledOut) continue;
      const double sum = std::accumulate(
          likelihood.begin(), likelihood.end(), 0.0,
          [most](double so_far, double each) { return so_far + std::exp(each - most); });
      const double ratio = std::exp(most + std::log(sum / places) - log_all_);
      if (ratio < kCommonRateRuledOut) continue;
      least = std::min(least, std::exp(likelihood[place - 1] - most) / sum);
    }
    return least;
  }

  /// The mutual information of the hypotheses and one trial of each build: what is not known of its
  /// outcome, less what would not be known if the hypothesis were.
  std::vector<double> information() const {
    std::vector<double> rate(hypotheses_.size() + 1);  // differences from one build to the next
    std::vector<double> known(hypotheses_.size() + 1);
    for (size_t place = 0; place < hypotheses_.size(); ++place) {
      const Hypothesis& each = hypotheses_[place];
      const double after = each.after.expected();
      const double before = place == 0 ? after : each.before.expected();
      rate[0] += each.weight * before;
      rate[place] += each.weight * (after - before);
      known[0] += each.weight * bits(before);
      known[place] += each.weight * (bits(after) - bits(before));
    }
    std::partial_sum(rate.begin(), rate.end(), rate.begin());
    std::partial_sum(known.begin(), known.end(), known.begin());
    std::vector<double> information(hypotheses_.size());
    for (size_t i = 0; i < information.size(); ++i) {
      information[i] = std::max(0.0, bits(rate[i]) - known[i]);
    }
    return information;
  }

 private:
  Side all_;
  std::vector<Hypothesis> hypotheses_;
  double log_all_ = 0;  ///< how likely the trials are over all hypotheses
};

// By the likeliest rates of both sides: of two rates that are apart, where this is asked, the
// posterior has hardly any other opinion.
double chance_it_began(const Hypothesis& change) {
  const double before = change.before.expected();
  const double after = change.after.expected();
  const auto variance = [](double rate, const Side& side) {
    return rate * (1 - rate) / (side.trials() + 2);
  };
  const double spread = std::sqrt(variance(before, change.before) + variance(after, change.after));
  return 0.5 * std::erfc((before - after) / (spread * std::sqrt(2.0)));
}

}  // namespace

size_t ChangePoint::likeliest() const {
  return static_cast<size_t>(std::max_element(chances.begin(), chances.end()) - chances.begin());
}

size_t ChangePoint::build_to_try() const {
  const double most = *std::max_element(information.begin(), information.end());
  // Within what rounding makes of equal ones.
  const auto newest = std::find_if(information.rbegin(), information.rend(),
                                   [most](double bit) { return bit >= most - 1e-12; });
  return static_cast<size_t>(std::distance(newest, information.rend()) - 1);
}

std::vector<size_t> ChangePoint::possible(double sure) const {
  std::vector<size_t> places(chances.size() - 1);
  std::iota(places.begin(), places.end(), size_t{1});
  std::stable_sort(places.begin(), places.end(),
                   [this](size_t a, size_t b) { return chances[a] > chances[b]; });
  const double enough = (1 - chances[0]) * (1 - (1 - sure) / kMargin);
  double held = 0;
  size_t number = 0;
  while (number < places.size() && held < enough) held += chances[places[number++]];
  places.resize(number);
  if (common_rate_possible) places.push_back(0);
  std::sort(places.begin(), places.end());
  return places;
}

ChangePoint find_change(std::span<const Proportion> builds) {
  if (builds.empty()) throw std::invalid_argument("no build");
  const Posterior posterior(builds);
  ChangePoint change;
  for (const Hypothesis& each : posterior.hypotheses()) {
    change.chances.push_back(each.weight);
    change.began.push_back(change.began.empty() ? 0 : chance_it_began(each));
  }
  change.information = posterior.information();
  change.untried = static_cast<size_t>(std::count_if(
      builds.begin(), builds.end(), [](const Proportion& build) { return build.trials == 0; }));
  const double common = posterior.p_of_common_rate();
  change.common_rate_possible = common >= kCommonRateRuledOut;
  const size_t place = change.likeliest();
  const double doubt =
      place == 0 ? posterior.p_of_change()
                 : std::max({kMargin * (1 - change.chances[place]), common,
                             (1 - posterior.chance_at_nearer_rates(place)) / kNearerMargin});
  change.confidence = 1 - std::min(1.0, doubt);
  return change;
}

}  // namespace mpsprobe

#include "harness/bisect/change_point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "harness/statistics/beta.h"

namespace mpsprobe {
namespace {

/// Failure rates, of which each holds the same share of Jeffreys' prior Beta(1/2, 1/2).
constexpr size_t kRates = 48;
using Weights = std::array<double, kRates>;

/// A side that fails has a rate of Beta(0.85, 1/2); one that does not, or less, of Beta(0.1, 40)
/// or, with the chance kLoudChance, of Beta(1, 1). The numbers were chosen by bisection_bench:
/// tighter ones take fewer trials where the other side is clean, and err where it is not.
constexpr double kLoudChance = 0.55;
/// A change makes the rate so many times as high, or low: what is less is none.
constexpr double kLeastRatio = 2;
/// The chance of no culprit before the first trial. What is left is shared by all places and by
/// both directions.
constexpr double kNoCulprit = 0.4;

struct Tables {
  Weights rate;
  Weights log_failure;
  Weights log_pass;
  Weights failing;                         ///< prior of the side that fails
  Weights quiet;                           ///< and of the other
  std::array<size_t, kRates> quiet_until;  ///< for a failing rate: how many quiet ones go with it
  double pairs = 0;                        ///< the prior weight of all pairs that go together
};

Tables make_tables() {
  Tables tables;
  const auto beta = [&tables](double a, double b) {  // relative to Beta(1/2, 1/2)
    Weights weights;
    double sum = 0;
    for (size_t i = 0; i < kRates; ++i) {
      weights[i] = std::pow(tables.rate[i], a - 0.5) * std::pow(1 - tables.rate[i], b - 0.5);
      sum += weights[i];
    }
    for (double& weight : weights) weight /= sum;
    return weights;
  };
  for (size_t i = 0; i < kRates; ++i) {
    tables.rate[i] = jeffreys_rate(i, kRates);
    tables.log_failure[i] = std::log(tables.rate[i]);
    tables.log_pass[i] = std::log1p(-tables.rate[i]);
  }
  tables.failing = beta(0.85, 0.5);
  tables.quiet = beta(0.1, 40);
  const Weights any = beta(1, 1);
  for (size_t i = 0; i < kRates; ++i) {
    tables.quiet[i] = (1 - kLoudChance) * tables.quiet[i] + kLoudChance * any[i];
  }
  double quiet = 0;
  size_t until = 0;
  for (size_t i = 0; i < kRates; ++i) {
    for (; tables.rate[until] * kLeastRatio <= tables.rate[i]; ++until) {
      quiet += tables.quiet[until];
    }
    tables.quiet_until[i] = until;
    tables.pairs += tables.failing[i] * quiet;
  }
  return tables;
}

const Tables& tables() {
  static const Tables made = make_tables();
  return made;
}

double bits(double rate) {
  if (rate <= 0 || rate >= 1) return 0;
  return -rate * std::log2(rate) - (1 - rate) * std::log2(1 - rate);
}

/// How likely one side's trials are under each rate, relative to the likeliest.
struct Likelihood {
  Weights relative;
  double log_most;
};

Likelihood likelihood_of(double failures, double passes) {
  Likelihood likelihood;
  for (size_t i = 0; i < kRates; ++i) {
    likelihood.relative[i] = failures * tables().log_failure[i] + passes * tables().log_pass[i];
  }
  likelihood.log_most = *std::max_element(likelihood.relative.begin(), likelihood.relative.end());
  for (double& each : likelihood.relative) each = std::exp(each - likelihood.log_most);
  return likelihood;
}

/// One place and direction of a change, with what it makes of the next trial on either side.
struct Hypothesis {
  size_t place;
  double weight;  ///< first a logarithm, then the chance
  double before;  ///< the chance that a trial fails
  double after;
};

struct BothSides {
  double log_weight;
  double quiet;
  double failing;
};

BothSides both_sides(const Likelihood& quiet, const Likelihood& failing) {
  double weight = 0;
  double quiet_rate = 0;
  double failing_rate = 0;
  double below = 0;  // of the quiet rates that go with the failing one
  double below_rate = 0;
  size_t next = 0;
  for (size_t i = 0; i < kRates; ++i) {
    for (; next < tables().quiet_until[i]; ++next) {
      const double share = tables().quiet[next] * quiet.relative[next];
      below += share;
      below_rate += share * tables().rate[next];
    }
    const double share = tables().failing[i] * failing.relative[i];
    weight += share * below;
    quiet_rate += share * below_rate;
    failing_rate += share * below * tables().rate[i];
  }
  if (weight <= 0) return {-std::numeric_limits<double>::infinity(), 0, 0};
  return {std::log(weight / tables().pairs) + quiet.log_most + failing.log_most,
          quiet_rate / weight, failing_rate / weight};
}

Hypothesis no_culprit(const Likelihood& all) {
  double weight = 0;
  double rate = 0;
  for (size_t i = 0; i < kRates; ++i) {
    const double share = (tables().quiet[i] + tables().failing[i]) / 2 * all.relative[i];
    weight += share;
    rate += share * tables().rate[i];
  }
  return {0, std::log(kNoCulprit * weight) + all.log_most, rate / weight, rate / weight};
}

std::vector<Hypothesis> weigh(std::span<const Proportion> builds) {
  double failures = 0;
  double passes = 0;
  for (const Proportion& build : builds) {
    if (build.failures < 0 || build.failures > build.trials) {
      throw std::invalid_argument("failures are not 0 to trials");
    }
    failures += build.failures;
    passes += build.trials - build.failures;
  }
  std::vector<Hypothesis> hypotheses{no_culprit(likelihood_of(failures, passes))};
  const double share = std::log((1 - kNoCulprit) / 2 / static_cast<double>(builds.size() - 1));
  double failed = 0;  // before the place
  double passed = 0;
  for (size_t place = 1; place < builds.size(); ++place) {
    failed += builds[place - 1].failures;
    passed += builds[place - 1].trials - builds[place - 1].failures;
    const Likelihood before = likelihood_of(failed, passed);
    const Likelihood after = likelihood_of(failures - failed, passes - passed);
    const BothSides began = both_sides(before, after);
    const BothSides ended = both_sides(after, before);
    hypotheses.push_back({place, share + began.log_weight, began.quiet, began.failing});
    hypotheses.push_back({place, share + ended.log_weight, ended.failing, ended.quiet});
  }
  const double most =
      std::max_element(hypotheses.begin(), hypotheses.end(), [](const auto& a, const auto& b) {
        return a.weight < b.weight;
      })->weight;
  double sum = 0;
  for (Hypothesis& each : hypotheses) sum += each.weight = std::exp(each.weight - most);
  for (Hypothesis& each : hypotheses) each.weight /= sum;
  return hypotheses;
}

/// The mutual information of the hypotheses and one trial of each build: what is not known of its
/// outcome, less what would not be known if the hypothesis were.
std::vector<double> information_of(const std::vector<Hypothesis>& hypotheses, size_t builds) {
  std::vector<double> rate(builds + 1);  // differences from one build to the next
  std::vector<double> known(builds + 1);
  for (const Hypothesis& each : hypotheses) {
    rate[0] += each.weight * each.before;
    rate[each.place] += each.weight * (each.after - each.before);
    known[0] += each.weight * bits(each.before);
    known[each.place] += each.weight * (bits(each.after) - bits(each.before));
  }
  std::partial_sum(rate.begin(), rate.end(), rate.begin());
  std::partial_sum(known.begin(), known.end(), known.begin());
  std::vector<double> information(builds);
  for (size_t i = 0; i < builds; ++i) {
    information[i] = std::max(0.0, bits(rate[i]) - known[i]);
  }
  return information;
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

ChangePoint find_change(std::span<const Proportion> builds) {
  if (builds.empty()) throw std::invalid_argument("no build");
  const std::vector<Hypothesis> hypotheses = weigh(builds);
  ChangePoint change;
  change.chances.resize(builds.size());
  change.began.resize(builds.size());
  for (const Hypothesis& each : hypotheses) {
    change.chances[each.place] += each.weight;
    if (each.place > 0 && each.after > each.before) change.began[each.place] += each.weight;
  }
  for (size_t i = 0; i < builds.size(); ++i) {
    if (change.chances[i] > 0) change.began[i] /= change.chances[i];
  }
  change.information = information_of(hypotheses, builds.size());
  return change;
}

}  // namespace mpsprobe

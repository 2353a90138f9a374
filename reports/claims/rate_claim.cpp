#include "reports/claims/rate_claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/words/counted.h"

namespace mpsprobe {

namespace {

/// In the order of the enum.
constexpr auto kEffects = std::to_array<std::string_view>(
    {"no failure", "fails less often, still fails", "no difference shown", "fails more often",
     "fails less often and more often", "cannot be compared"});

}  // namespace

RateEffect effect_shown(bool differs, bool fewer, int failures_with) {
  if (!differs) return RateEffect::not_shown;
  if (!fewer) return RateEffect::more_often;
  return failures_with == 0 ? RateEffect::no_failure : RateEffect::less_often;
}

std::string_view effect_in_words(RateEffect effect) {
  return kEffects[static_cast<size_t>(effect)];
}

std::string change_in_words(bool differs, const Proportion& before, const Proportion& after,
                            Sampling sampling) {
  if (!differs) return "no difference shown";
  if (after.failures == 0) {
    return fmt::format("none in {} (below {})", after.trials,
                       percent_up(rate_interval(sampling, 0, after.trials).high));
  }
  const double now = static_cast<double>(after.failures) / after.trials;
  return now < static_cast<double>(before.failures) / before.trials ? "rarer" : "more often";
}

std::string seen_in_words(const Proportion& seen, int refused) {
  std::string text = fmt::format("{} of {}", seen.failures, seen.trials);
  return refused > 0 ? text + fmt::format(" ({} refused)", refused) : text;
}

std::string p_number(double p) {
  if (p < 0.001) return "< 0.001";
  // Rounded up: never said to be smaller than it is, nor to reach the level that it is below.
  if (p < 0.05 && p > 0.049) return "< 0.05";
  return fmt::format("{:.2g}", p < 0.1 ? std::ceil(p * 1000) / 1000 : std::ceil(p * 100) / 100);
}

std::string p_in_words(double p) {
  const std::string number = p_number(p);
  return (number.front() == '<' ? "p " : "p = ") + number;
}

std::string prices_in_words(const std::vector<const RateClaim*>& claims) {
  std::vector<const Price*> prices;
  for (const RateClaim* claim : claims) {
    if (claim->price) prices.push_back(&*claim->price);
  }
  if (prices.empty()) return "its price is not shown: fewer than 6 pairs of passing trials";
  Interval within = prices.front()->within;
  for (const Price* price : prices) {
    within = {std::min(within.low, price->within.low), std::max(within.high, price->within.high)};
  }
  const std::string where = prices.size() == 1 ? counted(prices.front()->threads, "threads")
                                               : counted(prices.size(), "kinds of cell");
  // Rounded outwards.
  return fmt::format(
      "{} {} it does {:.2f} to {:.2f} times the operations per second of {} (95% confidence{})",
      prices.size() == 1 ? "at" : "over", where, std::floor(within.low * 100 + 1e-9) / 100,
      std::ceil(within.high * 100 - 1e-9) / 100, claims.front()->without,
      prices.size() == 1 ? "" : " each");
}

}  // namespace mpsprobe

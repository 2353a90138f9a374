#include "reports/claims/rate_claim.h"

#include <fmt/format.h>

#include <cmath>

#include "reports/words/phrases.h"

namespace mpsprobe {

std::string_view name_of(RateEffect effect) {
  switch (effect) {
    case RateEffect::no_failure:
      return "no_failure";
    case RateEffect::less_often:
      return "less_often";
    case RateEffect::more_often:
      return "more_often";
    case RateEffect::cannot_compare:
      return "cannot_compare";
    default:
      return "no_difference_shown";
  }
}

std::string_view effect_in_words(RateEffect effect) {
  switch (effect) {
    case RateEffect::no_failure:
      return "no failure";
    case RateEffect::less_often:
      return "fails less often, still fails";
    case RateEffect::more_often:
      return "fails more often";
    case RateEffect::cannot_compare:
      return "cannot be compared";
    default:
      return "no difference shown";
  }
}

std::string_view need_in_words(bool fails_less_often, int failures_without) {
  if (!fails_less_often) return "not shown";
  return failures_without == 0 ? "necessary" : "rarer without";
}

std::string p_in_words(double p) {
  if (p < 0.001) return "p < 0.001";
  // Rounded up: never said to be smaller than it is.
  return fmt::format("p = {:.2g}", p < 0.1 ? std::ceil(p * 1000) / 1000 : std::ceil(p * 100) / 100);
}

std::string in_words(const RateClaim& claim) {
  const std::string counts = fmt::format(
      "{} of {} failed, with {} {} of {}", claim.seen_with.failures, claim.seen_with.trials,
      claim.without, claim.seen_without.failures, claim.seen_without.trials);
  const std::string_view effect = effect_in_words(claim.effect);
  if (claim.effect == RateEffect::cannot_compare) {
    return fmt::format("{} with {}: {}, and the side without a failure would not have shown one",
                       effect, claim.with, counts);
  }
  const bool shown = claim.effect != RateEffect::not_shown;
  const bool less = claim.effect == RateEffect::less_often;
  return fmt::format("{} with {}{}: {} ({}{}){}", less ? "fails less often" : effect, claim.with,
                     less ? ", still fails" : "", counts, p_in_words(claim.corrected_p),
                     claim.of > 1 ? fmt::format(" over {} comparisons", claim.of) : "",
                     shown ? "" : "; more trials would tell");
}

std::string price_in_words(const RateClaim& claim) {
  if (!claim.price) return "its price is not shown: fewer than 6 pairs of passing trials";
  const Price& price = *claim.price;
  // Rounded outwards.
  return fmt::format(
      "at {} it does {:.2f} to {:.2f} times the operations per second of {} (95% confidence)",
      counted(price.threads, "threads"), std::floor(price.within.low * 100 + 1e-9) / 100,
      std::ceil(price.within.high * 100 - 1e-9) / 100, claim.without);
}

}  // namespace mpsprobe

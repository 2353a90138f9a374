#include "reports/claims/advice.h"

#include <fmt/format.h>

#include "harness/wire/axis.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"

namespace mpsprobe {
namespace {

void advise_threads(const Analysis& analysis, std::vector<Advice>& advice) {
  for (const Boundary& boundary : analysis.boundaries) {
    if (boundary.axis != "threads" || !boundary.fewest_failing || !boundary.most_passing) continue;
    if (boundary.most_passing->without_overlap || boundary.group.lock != Lock::none) continue;
    const std::string label =
        with_arm(analysis, cell_label(boundary.group, {"threads"}), boundary.worker);
    const BoundaryPoint& passing = *boundary.most_passing;
    advice.push_back({"threads", fmt::format("{}: at most {} at a time. There {}.", label,
                                             counted(passing.count, "threads"),
                                             confidence_in_words(passing.failures, passing.trials,
                                                                 passing.rate))});
  }
}

// What people set to be rid of failures; whatever else was compared is no advice.
bool is_remedy(const RateClaim& claim) {
  return claim.about == "lock" || claim.about == "throttle" || claim.about == "processes";
}

void advise_remedies(const Analysis& analysis, std::vector<Advice>& advice) {
  for (const RateClaim& claim : analysis.rate_claims) {
    const bool helps =
        claim.effect == RateEffect::no_failure || claim.effect == RateEffect::less_often;
    if (!is_remedy(claim) || (!helps && claim.effect != RateEffect::not_shown)) continue;
    std::string text = fmt::format("{}: {}.", claim.label, in_words(claim));
    if (helps && claim.price) text += " Its price: " + prices_in_words({&claim}) + ".";
    advice.push_back({helps ? claim.about : "inconclusive", std::move(text)});
  }
}

}  // namespace

std::vector<Advice> advise(const Analysis& analysis) {
  std::vector<Advice> advice;
  advise_threads(analysis, advice);
  advise_remedies(analysis, advice);
  return advice;
}

}  // namespace mpsprobe

#pragma once

#include <nlohmann/json.hpp>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// {"low": 0.1, "high": 0.4, "confidence": 0.95}
nlohmann::ordered_json interval_json(const Interval& interval);

/// The parts of report.json that say what was found: a signature with an example of it, and what
/// one cell came to on two layers or builds. Text from workers may not be valid UTF-8 yet.
nlohmann::ordered_json signature_json(const Analysis& analysis, const SignatureGroup& group);
nlohmann::ordered_json rate_claim_json(const Analysis& analysis, const RateClaim& claim);
/// Which failing operations need the same conditions: `groups` and `failing_operations`.
void add_groups_json(const Analysis& analysis, nlohmann::ordered_json& report);
nlohmann::ordered_json comparison_json(const Analysis& analysis, const Comparison& comparison);

}  // namespace mpsprobe

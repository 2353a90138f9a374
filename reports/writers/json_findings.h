#pragma once

#include <nlohmann/json.hpp>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The parts of report.json that say what was found: a signature with an example of it, and what
/// one cell came to on two layers or builds. Text from workers may not be valid UTF-8 yet.
nlohmann::ordered_json signature_json(const Analysis& analysis, const SignatureGroup& group);
nlohmann::ordered_json rate_claim_json(const Analysis& analysis, const RateClaim& claim);
nlohmann::ordered_json comparison_json(const Analysis& analysis, const Comparison& comparison);

}  // namespace mpsprobe

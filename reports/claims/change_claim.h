#pragma once

#include <string>
#include <vector>

#include "harness/bisect/change_point.h"
#include "harness/statistics/nights.h"

namespace mpsprobe {

/// "99.1% sure": rounded down, never 100%.
std::string sure_in_words(double confidence);

/// What a bisection may say, without a full stop: "the failure began with 0.31.2 (96.2% sure)", "no
/// change of the rate by 10 points or more among the builds tried (95.1% sure)", with how many were
/// not. `builds`
/// are the names of those that `change` is over. Plain text.
std::string change_in_words(const ChangePoint& change, const std::vector<std::string>& builds);

/// What is left where that is not `sure` enough: "undecided: one of no culprit, 0.30.1 to 0.31.2,
/// 0.32.0 (95% confidence)".
std::string undecided_in_words(const ChangePoint& change, const std::vector<std::string>& builds,
                               double sure);

/// A change from night to night: "fails more often (1.0% -> 12.4%, 99.2% sure)".
std::string shift_in_words(const RateShift& shift);

}  // namespace mpsprobe

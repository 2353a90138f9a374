#pragma once

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// Where the questions of a run with --settle stand: fills in `settling` and the places of
/// `boundaries`. The trials that are missing at the least become planned and missing ones of their
/// cells. Needs `arms`, `cells` and `boundaries`.
void settle(double rate, Analysis& analysis);

}  // namespace mpsprobe

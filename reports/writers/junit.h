#pragma once

#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// JUnit XML, for what reads test results: a suite with one case for each cell and arm, since only
/// a suite may have properties in the schema that Jenkins publishes (junit-10.xsd): trials,
/// failures, the rate's interval. The first failed trial is the case's <failure>, with the
/// signature as its type; the others are <rerunFailure>, at most 100 of a cell. A failure that the
/// matrix expects, and a cell without a trial that counts, is <skipped>; an expectation that was
/// not met is a failure. Pure.
std::string report_junit(const Journal& journal, const Analysis& analysis);

}  // namespace mpsprobe

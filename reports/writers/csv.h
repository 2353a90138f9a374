#pragma once

#include <string>
#include <string_view>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// How the first line of such a file begins.
constexpr std::string_view kCsvMark = "device_class,worker,library";

/// The cells as comma-separated values (RFC 4180) for a spreadsheet: a header, then a row for each
/// cell and arm, every axis in a column of its own. Text that a spreadsheet would take for a
/// formula gets an apostrophe in front. Pure.
std::string report_csv(const Analysis& analysis);

}  // namespace mpsprobe

#pragma once

#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The report as GitHub-flavoured Markdown that can be pasted into an issue. Tables first. Text
/// that came from a worker or from a file is shown, never in force. Ends with a newline; the same
/// analysis gives the same bytes.
std::string report_markdown(const Analysis& analysis);

/// What is too long for that: each further failure with its example, throughput, the machine.
std::string details_markdown(const Analysis& analysis);

}  // namespace mpsprobe

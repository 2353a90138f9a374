#pragma once

#include <string_view>

#include "harness/crash_report/crash_report.h"

namespace mpsprobe {

/// Reads a crash report in the text form: `.crash` of older systems, and what newer ones show as
/// "translated report". The same CrashReport as from an `.ips`; bug_type stays empty. macOS before
/// 12 wrote neither a launch time nor an incident: such a report can be read, and never be attached
/// to a process (find_report.h). A report that ends before its "Binary Images:" is Unreadable.
/// Pure; bounded by report_limits.h.
ParsedReport parse_crash_text(std::string_view content);

}  // namespace mpsprobe

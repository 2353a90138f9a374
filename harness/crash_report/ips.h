#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/crash_report/crash_report.h"

namespace mpsprobe {

/// Reads a report as macOS writes it: `.ips`, a header line and a body, both JSON; an `.ips` header
/// before a report in the older text form; or the text form alone (below). `file` of what it
/// gives is left empty. Pure; throws only for lack of memory. Time and memory are bounded by
/// report_limits.h whatever the content.
///
/// A crash is what bug_type calls one ("309", formerly "109"; "308" and "385" only where the body
/// tells of a death). A report of a process that went on (isSimulated, isNonFatal) is none.
ParsedReport parse_crash_report(std::string_view content);

/// Reads a crash report in the text form: `.crash` of older systems, and what newer ones show as
/// "translated report". The same CrashReport as from an `.ips`; bug_type stays empty. macOS before
/// 12 wrote neither a launch time nor an incident: such a report can be read, and never be attached
/// to a process (find_report.h). A report that ends before its "Binary Images:" is Unreadable.
/// Pure; bounded by report_limits.h.
ParsedReport parse_crash_text(std::string_view content);

/// What the header line alone tells, for leaving a report aside without reading its body.
struct ReportHeader {
  std::string bug_type;
  double written = 0;  ///< when the system wrote it, in seconds since 1970; 0 where unknown
};

/// From the first bytes of a file; nothing where they are no header line.
std::optional<ReportHeader> parse_report_header(std::string_view beginning);

/// Whether reports of this bug_type can be of use here: crashes and GPU events. "" can be.
bool is_wanted_bug_type(std::string_view bug_type);

}  // namespace mpsprobe

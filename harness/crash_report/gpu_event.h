#pragma once

#include "harness/crash_report/crash_report.h"
#include "harness/crash_report/report_json.h"

namespace mpsprobe {

/// Reads the two documents of a GPU event (bug_type 284). Its shape is not published: what is known
/// of it comes from reports that people showed. The keys used are process_name, timestamp (seconds
/// since 1970) and, in `analysis`, restart_reason_desc, restart_reason, signature and guilty_dm;
/// each may be missing, every other is left alone.
ParsedReport read_gpu_event(const ReportJson::Value& header, const ReportJson::Value& body);

}  // namespace mpsprobe

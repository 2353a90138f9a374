#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/crash_report/find_report.h"
#include "harness/record/process_record.h"
#include "harness/record/trial.h"

namespace mpsprobe {

/// What to ask the system's reports about `record`, whose process lived from `launched_at` to
/// `died_at` (seconds since 1970). The answers go into `record`, which outlives the question. On an
/// Apple GPU an event is likely after a hang, and where it told of a command buffer that failed.
Departed departed(ProcessRecord& record, double launched_at, double died_at,
                  bool apple_gpu = false);

/// The incidents that the trials of a journal hold: what a resumed run must not attach again.
std::set<std::string> attached_incidents(const std::vector<TrialRecord>& trials);

}  // namespace mpsprobe

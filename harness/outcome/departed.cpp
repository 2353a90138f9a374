#include "harness/outcome/departed.h"

#include <variant>

#include "harness/outcome/printed_failures.h"

namespace mpsprobe {

Departed departed(ProcessRecord& record, double launched_at, double died_at, bool apple_gpu) {
  Departed question;
  question.pid = record.pid;
  question.process = record.process;
  question.launched_at = launched_at;
  question.died_at = died_at;
  if (const auto* death = std::get_if<Signaled>(&record.termination)) {
    question.signal = death->signal;
  }
  question.was_ended = record.ended_by != EndedBy::nobody;
  question.memory_kill = record.kernel_memory_kill;
  // A device that hangs or fails is restarted, which the system reports some seconds later.
  question.event_likely =
      apple_gpu && (record.ended_by == EndedBy::no_progress ||
                    record.ended_by == EndedBy::deadline || reported_command_buffer_error(record));
  question.crash_report = &record.crash_report;
  question.gpu_events = &record.gpu_events;
  return question;
}

std::set<std::string> attached_incidents(const std::vector<TrialRecord>& trials) {
  std::set<std::string> incidents;
  for (const TrialRecord& trial : trials) {
    for (const ProcessRecord& process : trial.processes) {
      if (process.crash_report.has_value()) incidents.insert(process.crash_report->incident);
    }
  }
  return incidents;
}

}  // namespace mpsprobe

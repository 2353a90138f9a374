#include "harness/campaign/trial_stamps.h"

#include <algorithm>

namespace mpsprobe {

void TrialStamps::add(const TrialRecord& trial) {
  const auto teller =
      std::find_if(trial.processes.begin(), trial.processes.end(),
                   [](const ProcessRecord& process) { return process.hello.has_value(); });
  TrialStamp& stamp = stamps_.emplace_back();
  stamp.started = trial.started;
  stamp.sequence = trial.sequence;
  stamp.worker = &*texts_.insert(trial.worker).first;
  stamp.cell = &*texts_.insert(to_string(trial.cell)).first;
  stamp.provenance =
      &*texts_.insert(teller == trial.processes.end() ? "" : teller->hello->provenance).first;
  stamp.trial = trial.trial;
  stamp.attempt = trial.attempt;
  stamp.evidence = is_evidence(trial.judgement.outcome);
}

}  // namespace mpsprobe

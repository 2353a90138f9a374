#include <algorithm>

#include "harness/outcome/judge.h"
#include "harness/record/trial.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {
namespace {

/// Among processes without a failure, which one speaks for the trial.
int weight(const Judgement& judgement) {
  switch (judgement.outcome) {
    case Outcome::infrastructure:
      // A trial is run again as a bystander's only where nothing else went wrong in it.
      return judgement.bystander ? 5 : 6;
    case Outcome::setup_failed:
    case Outcome::timeout:
      return 4;
    case Outcome::unsupported:
      return 3;
    case Outcome::refused:
      return 2;
    case Outcome::not_run:
      return 1;
    default:
      return 0;
  }
}

/// When what a process came to happened, as far as that is known.
double time_of(const ProcessRecord& process) {
  return process.failures.empty() ? process.ended_at : process.failed_at;
}

}  // namespace

void judge_trial(TrialRecord& trial) {
  const std::string_view path =
      trial.cell.path == Path::automatic ? std::string_view() : name_of(trial.cell.path);
  bool chosen = false;
  for (size_t i = 0; i < trial.processes.size(); ++i) {
    const ProcessRecord& process = trial.processes[i];
    Judgement judgement = judge_on_path(process, path);
    bool better = !chosen;
    if (chosen) {
      const bool fails = is_failure(judgement.outcome);
      const bool failed = is_failure(trial.judgement.outcome);
      if (fails && failed) {
        better =
            time_of(process) < time_of(trial.processes[static_cast<size_t>(trial.judged_process)]);
      } else {
        better = fails || (!failed && weight(judgement) > weight(trial.judgement));
      }
    }
    if (!better) continue;
    trial.judgement = std::move(judgement);
    trial.judged_process = static_cast<int>(i);
    chosen = true;
  }
}

void judge_bystander_alone(Judgement& judgement) {
  if (!judgement.bystander) return;
  judgement.bystander = false;
  judgement.outcome = Outcome::gpu_error;
  judgement.detail = kVictimAlone;
  judgement.signature = kVictimAlone;
  judgement.basis = Basis::place;
  judgement.also.insert(judgement.also.begin(), {std::string(kInnocentVictim), true});
}

}  // namespace mpsprobe

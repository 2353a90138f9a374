#include "tools/runner/run/recorded_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "harness/campaign/campaign.h"
#include "harness/outcome/judge.h"
#include "reports/analysis/failures/failure_kind.h"

namespace mpsprobe {

TrialResult result_of(const TrialRecord& trial) {
  const Judgement& judgement = trial.judgement;
  TrialResult result;
  result.outcome = judgement.outcome;
  if (!is_failure(judgement.outcome)) return result;
  result.signature = judgement.signature.empty()
                         ? failure_kind({judgement.outcome, judgement.detail, 1})
                         : judgement.signature;
  return result;
}

RecordedTrials::RecordedTrials(const CampaignHeader& header,
                               const std::vector<TrialRecord>& existing, JournalWriter& journal,
                               Run run, const std::atomic<bool>& interrupted,
                               std::chrono::milliseconds recovery)
    : header_(header),
      journal_(journal),
      run_(std::move(run)),
      interrupted_(interrupted),
      recovery_(recovery),
      start_(std::chrono::steady_clock::now()) {
  for (const TrialRecord& trial : existing) {
    remember(trial);
    sequence_ = std::max(sequence_, trial.sequence + 1);
  }
}

void RecordedTrials::remember(const TrialRecord& trial) {
  const Key key{to_string(trial.cell), trial.trial};
  before_ = key.first;
  if (is_unsettled(trial)) {
    attempts_[key] = trial.attempt + 1;
  } else {
    results_[key] = result_of(trial);
  }
}

std::optional<TrialResult> RecordedTrials::operator()(const Cell& cell, int index) {
  const Key key{to_string(cell), index};
  if (const auto known = results_.find(key); known != results_.end()) {
    ++replayed_;
    return known->second;
  }
  while (!results_.contains(key)) {
    if (!may_go_on()) return std::nullopt;
    TrialRequest request;
    request.worker = &header_.workers.front();
    request.cell = cell;
    request.trial = index;
    request.sequence = sequence_++;
    request.before = before_;
    request.seed = header_.seed;
    TrialRecord trial = run_(request);
    const auto attempts = attempts_.find(key);
    trial.attempt = attempts == attempts_.end() ? 0 : attempts->second;
    // Nothing else runs here, so it was alone: a victim each time is no bystander.
    if (trial.attempt + 1 >= kMostAttempts) judge_bystander_alone(trial.judgement);
    // A trial that the user cut short did not happen: it is run again when this is resumed.
    if (trial.judgement.outcome == Outcome::not_run && interrupted_.load()) {
      stop("interrupted", "ended by the user");
      return std::nullopt;
    }
    journal_.append(trial);
    remember(trial);
    look_after_device(request, trial);
  }
  return results_.at(key);
}

bool RecordedTrials::may_go_on() {
  if (interrupted_.load()) stop("interrupted", "ended by the user");
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (header_.budget_seconds > 0 && seconds > header_.budget_seconds) {
    stop("budget", "the time budget was used up");
  }
  return stop_reason_.empty();
}

void RecordedTrials::look_after_device(const TrialRequest& request, const TrialRecord& trial) {
  if (!info_of(trial.cell.backend).real_device || !is_failure(trial.judgement.outcome)) return;
  const std::optional<Cell> known_good = known_good_cell(*request.worker, trial.cell);
  if (!known_good.has_value()) return;
  TrialRequest check = request;
  check.cell = *known_good;
  check.before = to_string(trial.cell);
  KnownGood result;
  result.cell = to_string(check.cell);
  while (result.attempts < kKnownGoodAttempts && !interrupted_.load()) {
    if (result.attempts > 0) std::this_thread::sleep_for(recovery_ * result.attempts);
    ++result.attempts;
    result.outcome = run_(check).judgement.outcome;
    if (!is_failure(result.outcome)) break;
  }
  journal_.append(request.sequence, result);
  before_ = result.cell;
  if (!is_failure(result.outcome) || interrupted_.load()) return;
  stop("device_lost", fmt::format("the known-good cell {} failed {} times after {}", result.cell,
                                  result.attempts, check.before));
}

void RecordedTrials::stop(const std::string& reason, const std::string& note) {
  if (!stop_reason_.empty()) return;
  stop_reason_ = reason;
  stop_note_ = note;
}

}  // namespace mpsprobe

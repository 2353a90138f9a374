#include "tools/runner/run/recorded_trials.h"

#include <algorithm>

#include "harness/campaign/trial_seed.h"
#include "reports/words/report_words.h"

namespace mpsprobe {

TrialResult result_of(const TrialRecord& trial) {
  const Judgement& judgement = trial.judgement;
  TrialResult result;
  result.outcome = judgement.outcome;
  if (!is_failure(judgement.outcome)) return result;
  result.signature = judgement.signature.empty() ? failure_kind(judgement.outcome, judgement.detail)
                                                 : judgement.signature;
  return result;
}

RecordedTrials::RecordedTrials(const Journal& known, JournalWriter& journal, DeviceCare care,
                               const std::atomic<bool>& interrupted)
    : header_(known.header),
      journal_(journal),
      care_(std::move(care)),
      interrupted_(interrupted),
      start_(std::chrono::steady_clock::now()) {
  for (const TrialRecord& trial : known.trials) {
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
    request.seed = trial_seed(header_.seed, index);
    const auto attempts = attempts_.find(key);
    // Nothing else runs here, so that every attempt is alone.
    const std::optional<TrialRecord> trial =
        care_.attempt(request, attempts == attempts_.end() ? 0 : attempts->second);
    if (!trial.has_value()) {
      stop("interrupted", "ended by the user");
      return std::nullopt;
    }
    journal_.append(*trial);
    remember(*trial);
    const DeviceLook seen = care_.look(request, *trial, journal_);
    if (!seen.cell.empty()) before_ = seen.cell;
    if (!seen.lost.empty()) stop("device_lost", seen.lost);
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

void RecordedTrials::stop(const std::string& reason, const std::string& note) {
  if (!stop_reason_.empty()) return;
  stop_reason_ = reason;
  stop_note_ = note;
}

}  // namespace mpsprobe

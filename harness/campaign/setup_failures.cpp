#include "harness/campaign/setup_failures.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

std::string arm_of(const std::string& worker, const Cell& cell) {
  std::string arm = fmt::format("worker {} on {}", worker, name_of(cell.backend));
  for (const char* name : {"env", "validation"}) {
    const Axis& axis = *find_axis(name);
    const std::string value = axis.read(cell);
    if (value != axis.default_value) arm += " with " + setting(axis, value, " ");
  }
  return arm;
}

}  // namespace

void SetupFailures::add(const TrialRecord& trial) {
  Seen& seen = seen_[arm_of(trial.worker, trial.cell)];
  const bool setup = trial.judgement.outcome == Outcome::setup_failed;
  if (setup && seen.failures == 0) seen.why = trial.judgement.signature;
  // Whatever else it came to shows that it can be set up, now and then at least.
  seen.alone = seen.alone && setup && seen.why == trial.judgement.signature;
  ++seen.failures;
}

bool SetupFailures::given_up(const std::string& worker, const Cell& cell) const {
  const auto is = [](const auto& entry) { return entry.second.given_up(); };
  if (std::none_of(seen_.begin(), seen_.end(), is)) return false;  // nearly always
  const auto seen = seen_.find(arm_of(worker, cell));
  return seen != seen_.end() && seen->second.given_up();
}

std::string SetupFailures::in_words() const {
  std::string text;
  for (const auto& [arm, seen] : seen_) {
    if (!seen.given_up()) continue;
    text += fmt::format("{}{} was given up: {} of {} trials failed in set-up: {}",
                        text.empty() ? "" : "; ", arm, seen.failures, seen.failures, seen.why);
  }
  return text;
}

}  // namespace mpsprobe

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
  if (seen.given_up()) return;  // others were under way
  const bool setup = trial.judgement.outcome == Outcome::setup_failed;
  const bool again = setup && seen.why == trial.judgement.signature;
  seen.failures = again ? seen.failures + 1 : setup ? 1 : 0;
  seen.worked = seen.worked || !setup;
  if (setup) seen.why = trial.judgement.signature;
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
    text += fmt::format("{}{} was given up: {} trials in a row failed in set-up: {}",
                        text.empty() ? "" : "; ", arm, seen.failures, seen.why);
  }
  return text;
}

}  // namespace mpsprobe

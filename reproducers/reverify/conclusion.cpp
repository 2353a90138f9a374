#include "reproducers/reverify/conclusion.h"

#include <algorithm>

#include "reproducers/reverify/power.h"

namespace mpsprobe {
namespace {

bool failed_before(const CellBeforeAndNow& cell) {
  return cell.before.failures > 0 && !cell.control;
}

double rate_of(const Proportion& proportion) {
  return proportion.trials == 0 ? 0 : static_cast<double>(proportion.failures) / proportion.trials;
}

const ArmNow* counted(const std::optional<ArmNow>& arm) {
  return arm.has_value() && arm->same.trials > 0 ? &*arm : nullptr;
}

/// The arm that stands for today.
const ArmNow* today(const CellBeforeAndNow& cell) {
  return counted(cell.new_arm.has_value() ? cell.new_arm : cell.old_arm);
}

bool on_the_bundles_device(const CellBeforeAndNow& cell, const ArmNow& arm) {
  if (!arm.same_class) return false;
  if (cell.devices_before.empty() || arm.devices.empty()) return true;
  return std::all_of(arm.devices.begin(), arm.devices.end(), [&cell](const std::string& device) {
    return std::find(cell.devices_before.begin(), cell.devices_before.end(), device) !=
           cell.devices_before.end();
  });
}

/// Whether the exact test of the two arms is what decides.
bool decided_by_arms(const CellBeforeAndNow& cell) {
  const ArmNow* old_arm = counted(cell.old_arm);
  const ArmNow* new_arm = counted(cell.new_arm);
  return failed_before(cell) && old_arm != nullptr && new_arm != nullptr &&
         old_arm->same.failures > 0 && new_arm->same.failures == 0 && new_arm->otherwise == 0;
}

std::vector<Reason> reasons_of_the_arm(const CellBeforeAndNow& cell, const ArmNow& arm) {
  std::vector<Reason> reasons;
  if (!on_the_bundles_device(cell, arm)) reasons.push_back(Reason::other_device);
  if (!arm.proved) reasons.push_back(Reason::unproved);
  if (!arm.met) reasons.push_back(Reason::no_overlap);
  if (arm.other_path) reasons.push_back(Reason::other_path);
  if (arm.unchecked) reasons.push_back(Reason::unchecked);
  return reasons;
}

/// Why a cell that does not fail today is not shown to be fixed; `level` is that of one cell.
std::vector<Reason> reasons_against(const CellBeforeAndNow& cell, const CellConclusion& conclusion,
                                    bool control_failed) {
  const ArmNow& arm = *today(cell);
  std::vector<Reason> reasons;
  const bool decided = conclusion.corrected_p_arms.has_value();
  // Without an old arm that failed, what was seen before says whether the number of trials could
  // have shown anything.
  const double p = decided ? *conclusion.corrected_p_arms : conclusion.p_before_and_now.value_or(0);
  if (p >= kVerifyLevel) reasons.push_back(Reason::too_few_trials);
  if (!cell.new_arm.has_value()) {
    reasons.push_back(Reason::same_build);
  } else if (const ArmNow* old_arm = counted(cell.old_arm); old_arm == nullptr) {
    reasons.push_back(Reason::old_arm_not_run);
  } else if (old_arm->same.failures == 0) {
    reasons.push_back(old_arm->otherwise > 0 ? Reason::old_arm_failed_otherwise
                                             : Reason::old_arm_passed);
  } else if (!old_arm->proved && arm.proved) {
    reasons.push_back(Reason::unproved);
  } else if (!on_the_bundles_device(cell, *old_arm) && on_the_bundles_device(cell, arm)) {
    reasons.push_back(Reason::other_device);
  }
  for (Reason reason : reasons_of_the_arm(cell, arm)) reasons.push_back(reason);
  if (control_failed) reasons.push_back(Reason::control_failed);
  return reasons;
}

std::optional<double> test_before_and_now(const CellBeforeAndNow& cell) {
  const ArmNow* arm = today(cell);
  if (arm == nullptr || !on_the_bundles_device(cell, *arm)) return std::nullopt;
  return equality_p_value(Sampling::looking, cell.before, arm->same);
}

/// A control that fails of something else: the build or the machine is not well. That it fails of
/// the very failure is no reason, but the failure.
bool is_failed_control(const CellBeforeAndNow& cell) {
  const auto fails = [](const ArmNow* arm) { return arm != nullptr && arm->otherwise > 0; };
  return cell.control && cell.otherwise_before == 0 &&
         (fails(counted(cell.old_arm)) || fails(counted(cell.new_arm)));
}

CellConclusion conclude_cell(const CellBeforeAndNow& cell, CellConclusion conclusion,
                             bool control_failed, double level) {
  const ArmNow* arm = today(cell);
  conclusion.p_before_and_now = test_before_and_now(cell);
  if (arm == nullptr) {
    conclusion.finding = RecheckFinding::inconclusive;
    conclusion.reasons = {Reason::nothing_counted};
    return conclusion;
  }
  if (!failed_before(cell)) {
    // What it already failed of otherwise is no news.
    const bool news = arm->otherwise > 0 && cell.otherwise_before == 0;
    conclusion.finding = arm->same.failures > 0 ? RecheckFinding::still_fails
                         : news                 ? RecheckFinding::fails_otherwise
                                                : RecheckFinding::as_before;
    return conclusion;
  }
  if (arm->same.failures > 0) {
    conclusion.finding = RecheckFinding::still_fails;
  } else if (arm->otherwise > 0) {
    conclusion.finding = RecheckFinding::fails_otherwise;
  } else {
    conclusion.reasons = reasons_against(cell, conclusion, control_failed);
    conclusion.finding =
        conclusion.reasons.empty() ? RecheckFinding::fixed : RecheckFinding::inconclusive;
    const ArmNow* old_arm = counted(cell.old_arm);
    const bool old_failed = old_arm != nullptr && old_arm->same.failures > 0;
    if (conclusion.finding == RecheckFinding::inconclusive) {
      conclusion.trials_needed =
          trials_for_power(rate_of(old_failed ? old_arm->same : cell.before), level);
    }
  }
  return conclusion;
}

void add_once(std::vector<Reason>& reasons, const std::vector<Reason>& more) {
  for (Reason reason : more) {
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
      reasons.push_back(reason);
    }
  }
}

}  // namespace

BundleConclusion conclude(const std::vector<CellBeforeAndNow>& cells, Sampling arms) {
  BundleConclusion whole;
  whole.cells.resize(cells.size());
  std::vector<size_t> tested;
  std::vector<double> p_values;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!counted(cells[i].old_arm) || !counted(cells[i].new_arm)) continue;
    whole.cells[i].p_arms = equality_p_value(arms, cells[i].old_arm->same, cells[i].new_arm->same);
    if (!decided_by_arms(cells[i])) continue;
    tested.push_back(i);
    p_values.push_back(*whole.cells[i].p_arms);
  }
  const std::vector<double> corrected = holm_corrected(p_values);
  for (size_t i = 0; i < tested.size(); ++i) whole.cells[tested[i]].corrected_p_arms = corrected[i];
  const bool control_failed = std::any_of(cells.begin(), cells.end(), is_failed_control);
  const auto failed = static_cast<double>(std::count_if(cells.begin(), cells.end(), failed_before));
  const double level = kVerifyLevel / std::max(1.0, failed);

  bool all_fixed = failed > 0;
  bool still = false;
  bool otherwise = false;
  for (size_t i = 0; i < cells.size(); ++i) {
    CellConclusion& cell = whole.cells[i];
    cell = conclude_cell(cells[i], cell, control_failed, level);
    still = still || cell.finding == RecheckFinding::still_fails;
    // A control that fails otherwise is a reason against the others, and not what is looked for.
    if (cell.finding == RecheckFinding::fails_otherwise && !cells[i].control && !otherwise) {
      otherwise = true;
      whole.other_signature = today(cells[i])->other_signature;
    }
    if (!failed_before(cells[i])) continue;
    all_fixed = all_fixed && cell.finding == RecheckFinding::fixed;
    add_once(whole.reasons, cell.reasons);
    whole.trials_needed = std::max(whole.trials_needed, cell.trials_needed);
  }
  whole.finding = still       ? RecheckFinding::still_fails
                  : otherwise ? RecheckFinding::fails_otherwise
                  : all_fixed ? RecheckFinding::fixed
                              : RecheckFinding::inconclusive;
  if (whole.finding != RecheckFinding::inconclusive) {
    whole.reasons.clear();
    whole.trials_needed.reset();
  }
  if (whole.finding != RecheckFinding::fails_otherwise) whole.other_signature.clear();
  // The most useful reason first: nothing helps where trials are too few, however much else is so.
  std::stable_sort(whole.reasons.begin(), whole.reasons.end(), [](Reason a, Reason b) {
    return a == Reason::too_few_trials && b != Reason::too_few_trials;
  });
  return whole;
}

int default_trials(const std::vector<BundleCell>& cells) {
  const auto failed = [](const BundleCell& cell) { return cell.failures > 0 && !cell.control; };
  const auto count = static_cast<double>(std::count_if(cells.begin(), cells.end(), failed));
  int most = kFewestTrials;
  for (const BundleCell& cell : cells) {
    if (!failed(cell)) continue;
    const auto needed =
        trials_for_power(rate_of({cell.failures, cell.trials}), kVerifyLevel / count);
    most = std::max(most, needed.value_or(kMostDefaultTrials));
  }
  return std::min(most, kMostDefaultTrials);
}

}  // namespace mpsprobe

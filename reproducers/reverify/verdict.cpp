#include "reproducers/reverify/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/input/json_shape.h"
#include "harness/wire/loaded_library.h"
#include "reports/claims/comparisons.h"
#include "reports/words/counted.h"

namespace mpsprobe {
namespace {

bool failed(const BundleCell& entry) {
  return entry.failures > 0 && !entry.control;
}

/// Trials a side that tell such a rate from none. `level` is of one test.
std::optional<int> trials_to_tell_none(const Proportion& seen, double level) {
  return trials_to_tell(static_cast<double>(seen.failures) / seen.trials, 0, level);
}

/// Whether `now` is the build of `before`: by build id where both have one; else only versions and
/// hashes are there, and nothing proves that two are the same. Cells of the backend metal run on
/// Apple's frameworks alone, which come with the system.
bool is_build_of(const BundleCell& before, const BuildIdentity& now, const BundleMachine& machine,
                 const std::string& system) {
  if (!before.build.is_known() && !now.is_known()) {
    return before.cell.backend == Backend::metal && !system.empty() && system_of(machine) == system;
  }
  return !now.build_id.empty() && before.build.build_id == now.build_id;
}

/// Looks one run up for one bundle.
class Recheck {
 public:
  Recheck(const BundleRecord& record, const Analysis& analysis, const SameTitle& same_title)
      : record_(record), analysis_(analysis), system_(system_of(analysis.header.machine)) {
    for (const SignatureGroup& group : analysis.signatures) {
      const bool same =
          group.title == record.signature || same_title(group.title, record.signature);
      for (const SignatureGroup::Where& where : group.cells) {
        ArmNow& arm = arm_[where.summary];
        if (same) {
          arm.same.failures += where.failures;
        } else if (arm.otherwise += where.failures; arm.other_signature.empty()) {
          arm.other_signature = group.title;  // most frequent first
        }
      }
    }
    for (const BundleCell& entry : record.cells) failed_ += failed(entry) ? 1 : 0;
  }

  BundleVerdict verdict() {
    BundleVerdict verdict;
    std::map<std::string, std::vector<const BundleCell*>> entries;
    for (const BundleCell& entry : record_.cells) {
      entries[to_string(entry.cell)].push_back(&entry);
    }
    for (const BundleCell& entry : record_.cells) {
      const auto at = entries.find(to_string(entry.cell));
      if (at == entries.end()) continue;
      verdict.cells.push_back(beside_each_other(at->second));
      entries.erase(at);
    }
    for (const RecheckedCell& cell : verdict.cells) {
      const auto otherwise = [](const std::optional<ArmNow>& arm) {
        return arm.has_value() && arm->otherwise > 0;
      };
      // That it fails of the very failure is no reason, but the failure.
      control_failed_ = control_failed_ || (cell.before.control && cell.before.otherwise == 0 &&
                                            (otherwise(cell.old_arm) || otherwise(cell.new_arm)));
    }
    for (RecheckedCell& cell : verdict.cells) conclude(cell);
    sum_up(verdict);
    return verdict;
  }

 private:
  ArmNow arm_of(size_t summary) {
    ArmNow arm = arm_[summary];
    arm.summary = summary;
    arm.same.trials = analysis_.cells[summary].counted;
    return arm;
  }

  RecheckedCell beside_each_other(const std::vector<const BundleCell*>& entries) {
    RecheckedCell cell;
    cell.before = **std::max_element(
        entries.begin(), entries.end(), [](const BundleCell* a, const BundleCell* b) {
          return std::pair(failed(*a), a->failures) < std::pair(failed(*b), b->failures);
        });
    const bool any_failed = failed(cell.before);
    for (size_t i = 0; i < analysis_.cells.size(); ++i) {
      const CellSummary& summary = analysis_.cells[i];
      if (summary.cell != cell.before.cell || summary.counted == 0) continue;
      const Arm& arm = analysis_.arms[summary.arm];
      const auto ran = std::find_if(entries.begin(), entries.end(), [&](const BundleCell* entry) {
        // The build of an entry that had not failed is the old one only of a cell that never did.
        return failed(*entry) == any_failed &&
               is_build_of(*entry, {arm.version, arm.git_hash, arm.build_id}, record_.machine,
                           system_);
      });
      if (ran != entries.end() && !cell.old_arm.has_value()) {
        cell.before = **ran;
        cell.old_arm = arm_of(i);
      } else {
        cell.new_arm = arm_of(i);
      }
    }
    return cell;
  }

  void conclude(RecheckedCell& cell) {
    const std::optional<ArmNow>& today = cell.new_arm.has_value() ? cell.new_arm : cell.old_arm;
    if (!today.has_value()) {
      cell.reasons.emplace_back("no trial came to a result that counts");
    } else if (today->same.failures > 0) {
      cell.finding = RecheckFinding::still_fails;
    } else if (!failed(cell.before)) {
      // What it already failed of otherwise is no news.
      const bool news = today->otherwise > 0 && cell.before.otherwise == 0;
      cell.finding = news ? RecheckFinding::fails_otherwise : RecheckFinding::as_before;
    } else if (today->otherwise > 0) {
      cell.finding = RecheckFinding::fails_otherwise;
    } else {
      cell.reasons = reasons_against(cell, *today);
      if (cell.reasons.empty()) cell.finding = RecheckFinding::none_seen;
    }
  }

  /// Why a cell that does not fail today is not shown to fail more seldom.
  std::vector<std::string> reasons_against(const RecheckedCell& cell, const ArmNow& today) {
    std::vector<std::string> reasons;
    const bool again = cell.old_arm.has_value() && cell.old_arm->same.failures > 0;
    const bool both = again && cell.new_arm.has_value();
    const double level = kClaimLevel / failed_;
    const auto needed =
        again ? trials_to_tell_none(cell.old_arm->same, level)
              : trials_to_tell_none({cell.before.failures, cell.before.trials}, level);
    // A run that was cut short may have been so by looking at it.
    const Sampling sampling = analysis_.complete ? analysis_.sampling : Sampling::looking;
    const bool enough =
        both ? equality_p_value(sampling, cell.old_arm->same, cell.new_arm->same) < level
             : needed.has_value() && today.same.trials >= *needed;
    if (!enough) {
      trials_needed_ = std::max(trials_needed_, needed);
      reasons.push_back((needed.has_value() ? counted(*needed, "trials") : "more than a million") +
                        " on each side of a new run would tell");
    }
    if (!cell.new_arm.has_value()) {
      reasons.emplace_back("it is the bundle's own build that does not fail now");
    } else if (!cell.old_arm.has_value()) {
      reasons.emplace_back("the old arm was not run again");
    } else if (!again) {
      reasons.push_back(cell.old_arm->otherwise > 0 ? "the old arm failed in another way (" +
                                                          cell.old_arm->other_signature + ")"
                                                    : "the old arm did not fail in this run");
    }
    const std::string why = both ? why_incomparable(cell) : "";
    if (!why.empty()) reasons.push_back(why);
    if (!on_the_bundles_device(cell.before, analysis_.cells[today.summary])) {
      reasons.push_back(fmt::format("it ran on another device than the bundle's ({}, and now {})",
                                    fmt::join(cell.before.devices, ", "),
                                    fmt::join(analysis_.cells[today.summary].devices, ", ")));
    }
    if (control_failed_) reasons.emplace_back("a control failed");
    return reasons;
  }

  /// What the run's own comparison of the two arms says against one.
  std::string why_incomparable(const RecheckedCell& cell) const {
    const auto pair = std::minmax(cell.old_arm->summary, cell.new_arm->summary);
    for (const Comparison& each : analysis_.comparisons) {
      if (std::minmax(each.first, each.second) == pair) return why_inconclusive(analysis_, each);
    }
    return "the arms were not compared";
  }

  bool on_the_bundles_device(const BundleCell& before, const CellSummary& now) const {
    if (info_of(now.cell.backend).apple_gpu) {
      if (now.devices.empty() && now.simulated != record_.simulated) return false;
      if (!now.simulated && now.paravirtual != record_.paravirtual) return false;
    }
    return before.devices.empty() ||
           std::all_of(now.devices.begin(), now.devices.end(), [&before](const std::string& name) {
             return std::find(before.devices.begin(), before.devices.end(), name) !=
                    before.devices.end();
           });
  }

  /// The bundle: the first of still_fails and fails_otherwise that any cell has; none_seen where
  /// every cell that failed before is.
  void sum_up(BundleVerdict& verdict) const {
    bool all_unseen = failed_ > 0;
    bool still = false;
    for (const RecheckedCell& cell : verdict.cells) {
      still = still || cell.finding == RecheckFinding::still_fails;
      // A control that fails otherwise is a reason against the others, and not what is looked for.
      if (cell.finding == RecheckFinding::fails_otherwise && !cell.before.control &&
          verdict.other_signature.empty()) {
        verdict.other_signature = (cell.new_arm ? cell.new_arm : cell.old_arm)->other_signature;
      }
      if (!failed(cell.before)) continue;
      all_unseen = all_unseen && cell.finding == RecheckFinding::none_seen;
      for (const std::string& reason : cell.reasons) {
        auto& all = verdict.reasons;
        if (std::find(all.begin(), all.end(), reason) == all.end()) all.push_back(reason);
      }
    }
    verdict.finding = still                              ? RecheckFinding::still_fails
                      : !verdict.other_signature.empty() ? RecheckFinding::fails_otherwise
                      : all_unseen                       ? RecheckFinding::none_seen
                                                         : RecheckFinding::inconclusive;
    if (verdict.finding != RecheckFinding::fails_otherwise) verdict.other_signature.clear();
    if (verdict.finding == RecheckFinding::inconclusive) {
      verdict.trials_needed = trials_needed_;
    } else {
      verdict.reasons.clear();
    }
  }

  const BundleRecord& record_;
  const Analysis& analysis_;
  std::string system_;
  std::map<size_t, ArmNow> arm_;  ///< by index into Analysis::cells
  int failed_ = 0;                ///< cells of the bundle that did
  bool control_failed_ = false;
  std::optional<int> trials_needed_;
};

}  // namespace

BundleVerdict verdict_of(const BundleRecord& record, const Analysis& analysis,
                         const SameTitle& same_title) {
  return Recheck(record, analysis, same_title).verdict();
}

bool loads_the_bundles_build(const BundleRecord& record, const nlohmann::json& describe,
                             const std::string& system) {
  const LibraryUnderTest library =
      library_under_test(describe.value("/provenance"_json_pointer, nlohmann::json()));
  const BuildIdentity now{library.version, library.git_hash, library.build_id};
  return std::any_of(record.cells.begin(), record.cells.end(), [&](const BundleCell& entry) {
    // Cells of metal run without the worker's LibTorch.
    const BuildIdentity& build =
        info_of(entry.cell.backend).library.empty() ? BuildIdentity{} : now;
    return failed(entry) && is_build_of(entry, build, record.machine, system);
  });
}

std::string system_of(const BundleMachine& machine) {
  return machine.os + (machine.os_build.empty() ? "" : " (" + machine.os_build + ")");
}

std::string system_of(const nlohmann::json& facts) {
  return system_of(BundleMachine{text_at(facts, "os"), text_at(facts, "os_build"), "", ""});
}

int default_trials(const std::vector<BundleCell>& cells) {
  const auto count = static_cast<double>(std::count_if(cells.begin(), cells.end(), failed));
  int most = kFewestTrials;
  for (const BundleCell& cell : cells) {
    if (!failed(cell)) continue;
    const auto needed = trials_to_tell_none({cell.failures, cell.trials}, kClaimLevel / count);
    most = std::max(most, needed.value_or(kMostDefaultTrials));
  }
  return std::min(most, kMostDefaultTrials);
}

}  // namespace mpsprobe

#include "reproducers/reverify/recheck.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/wire/library_under_test.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

bool failed(const BundleCell& entry) {
  return entry.failures > 0 && !entry.control;
}

BundleBuild build_of(const Arm& arm) {
  return {arm.version, arm.git_hash, arm.build_id};
}

/// Looks one analysis up for one bundle.
class Reading {
 public:
  Reading(const BundleRecord& record, const Analysis& analysis, const SameTitle& same_title)
      : record_(record), analysis_(analysis), machine_(machine_of(analysis.header.machine)) {
    for (const SignatureGroup& group : analysis.signatures) {
      const bool same = group.title == record.signature ||
                        (same_title != nullptr && same_title(group.title, record.signature));
      for (const SignatureGroup::Where& where : group.cells) {
        Counts& counts = counts_[{where.arm, where.cell}];
        if (same) {
          counts.same += where.failures;
        } else {
          if (where.failures > counts.most_otherwise) {
            counts.most_otherwise = where.failures;
            counts.other_signature = group.title;
          }
          counts.otherwise += where.failures;
        }
      }
      if (same) wrong_numbers_ = group.first.judgement.outcome == Outcome::wrong_result;
    }
  }

  /// Trials of `cell` by any arm; those of which something counts where there are any.
  std::vector<const CellSummary*> arms_of(const Cell& cell) const {
    std::vector<const CellSummary*> found;
    for (const CellSummary& summary : analysis_.cells) {
      if (summary.cell == cell) found.push_back(&summary);
    }
    const auto counts = [](const CellSummary* summary) { return summary->counted > 0; };
    if (std::any_of(found.begin(), found.end(), counts)) {
      std::erase_if(found, [&counts](const CellSummary* summary) { return !counts(summary); });
    }
    return found;
  }

  bool is_build_of(const BundleCell& entry, const CellSummary& summary) const {
    return match_builds(entry.build, build_of(analysis_.arms[summary.arm]), entry.cell.backend,
                        record_.machine, machine_) == BuildMatch::same;
  }

  ArmNow arm_of(const CellSummary& summary) const {
    const Arm& arm = analysis_.arms[summary.arm];
    ArmNow now;
    now.label = arm.label;
    now.build = build_of(arm);
    now.proved = arm.proved;
    now.devices = summary.devices;
    now.same.trials = summary.counted;
    if (const auto at = counts_.find({summary.arm, summary.id}); at != counts_.end()) {
      now.same.failures = at->second.same;
      now.otherwise = at->second.otherwise;
      now.other_signature = at->second.other_signature;
    }
    now.met = summary.overlap != Overlap::none;
    now.other_path = took_another_path(summary);
    now.unchecked = wrong_numbers_ && summary.checked == 0;
    now.same_class = same_class(summary);
    return now;
  }

 private:
  struct Counts {
    int same = 0;
    int otherwise = 0;
    int most_otherwise = 0;
    std::string other_signature;
  };

  bool same_class(const CellSummary& summary) const {
    const bool apple = info_of(summary.cell.backend).apple_gpu;
    if (apple && summary.simulated != record_.simulated && summary.devices.empty()) return false;
    return !apple || summary.simulated || summary.paravirtual == record_.paravirtual;
  }

  const BundleRecord& record_;
  const Analysis& analysis_;
  BundleMachine machine_;
  std::map<std::pair<size_t, std::string>, Counts> counts_;
  bool wrong_numbers_ = false;
};

/// All that the bundle has of one cell.
using Entries = std::vector<const BundleCell*>;

std::vector<Entries> by_cell(const BundleRecord& record) {
  std::vector<Entries> cells;
  std::map<std::string, size_t> places;
  for (const BundleCell& entry : record.cells) {
    const auto [at, fresh] = places.try_emplace(to_string(entry.cell), cells.size());
    if (fresh) cells.emplace_back();
    cells[at->second].push_back(&entry);
  }
  return cells;
}

/// The entry that counts where none was run again: the one that failed most.
const BundleCell* most_failed(const Entries& entries) {
  return *std::max_element(
      entries.begin(), entries.end(), [](const BundleCell* a, const BundleCell* b) {
        return std::pair(failed(*a), a->failures) < std::pair(failed(*b), b->failures);
      });
}

CellBeforeAndNow compare(const Reading& reading, const Entries& entries) {
  const BundleCell* before = most_failed(entries);
  const std::vector<const CellSummary*> here = reading.arms_of(before->cell);
  const CellSummary* old_arm = nullptr;
  for (const CellSummary* summary : here) {
    for (const BundleCell* entry : entries) {
      // The build of an entry that had not failed is the old one only of a cell that never did.
      const bool counts = failed(*entry) || !failed(*before);
      if (old_arm != nullptr || !counts || !reading.is_build_of(*entry, *summary)) continue;
      old_arm = summary;
      before = entry;
    }
  }
  const CellSummary* new_arm = nullptr;
  for (const CellSummary* summary : here) {
    if (summary != old_arm) new_arm = summary;
  }
  CellBeforeAndNow cell;
  cell.cell = to_string(before->cell);
  cell.control = before->control;
  cell.build_before = before->build;
  cell.devices_before = before->devices;
  cell.before = {before->failures, before->trials};
  cell.otherwise_before = before->otherwise;
  if (old_arm != nullptr) cell.old_arm = reading.arm_of(*old_arm);
  if (new_arm != nullptr) cell.new_arm = reading.arm_of(*new_arm);
  return cell;
}

}  // namespace

BuildMatch match_builds(const BundleBuild& before, const BundleBuild& now, Backend backend,
                        const BundleMachine& os_before, const BundleMachine& os_now) {
  if (!is_known(before) && !is_known(now)) {
    if (backend != Backend::metal || os_before.os.empty() || os_now.os.empty()) {
      return BuildMatch::unknown;
    }
    const bool same = os_before.os == os_now.os && os_before.os_build == os_now.os_build;
    return same ? BuildMatch::same : BuildMatch::other;
  }
  if (!before.build_id.empty() && !now.build_id.empty()) {
    return before.build_id == now.build_id ? BuildMatch::same : BuildMatch::other;
  }
  const auto differ = [](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && a != b;
  };
  const bool other = differ(before.version, now.version) || differ(before.git_hash, now.git_hash);
  return other ? BuildMatch::other : BuildMatch::unknown;
}

BundleMachine machine_of(const json& facts) {
  const auto text = [&facts](const char* key) {
    const bool there = facts.is_object() && facts.contains(key) && facts.at(key).is_string();
    return there ? facts.at(key).get<std::string>() : std::string();
  };
  return {text("os"), text("os_build"), text("model"), text("chip")};
}

std::vector<Cell> cells_to_run(const BundleRecord& record) {
  std::vector<Cell> cells;
  for (const Entries& entries : by_cell(record)) cells.push_back(entries.front()->cell);
  return cells;
}

std::vector<CellBeforeAndNow> before_and_now(const BundleRecord& record, const Analysis& analysis,
                                             const SameTitle& same_title) {
  const Reading reading(record, analysis, same_title);
  std::vector<CellBeforeAndNow> cells;
  for (const Entries& entries : by_cell(record)) cells.push_back(compare(reading, entries));
  return cells;
}

bool loads_the_bundles_build(const BundleRecord& record, const json& describe,
                             const BundleMachine& machine) {
  const LibraryUnderTest library =
      library_under_test(describe.value("/provenance"_json_pointer, json()));
  const BundleBuild now{library.version, library.git_hash, library.build_id};
  return std::any_of(record.cells.begin(), record.cells.end(), [&](const BundleCell& entry) {
    // Cells of metal run without the worker's LibTorch.
    const BundleBuild& build = info_of(entry.cell.backend).library.empty() ? BundleBuild{} : now;
    return failed(entry) && match_builds(entry.build, build, entry.cell.backend, record.machine,
                                         machine) == BuildMatch::same;
  });
}

}  // namespace mpsprobe

#include "reports/expectations/judge_expectations.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "harness/statistics/known_rate.h"

namespace mpsprobe {
namespace {

using CellKey = std::pair<std::string, std::string>;  // arm and cell

bool fits(const std::string& pattern, const std::string& text) {
  return pattern.empty() || pattern == text || fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// Everything but the cells.
bool concerns(const KnownWhere& where, const RunFacts& run, const std::string& label) {
  const auto arm = run.arms.find(label);
  const ArmFacts library = arm == run.arms.end() ? ArmFacts() : arm->second;
  return fits(where.matrix, run.matrix) && fits(where.worker, label) &&
         fits(where.code, run.code) && fits(where.chip, machine_fact(run, "chip")) &&
         fits(where.os, machine_fact(run, "os")) &&
         where.os_build.holds(machine_fact(run, "os_build")) &&
         fits(where.library, library.library_name) && where.versions.holds(library.version);
}

bool holds_cell(const KnownWhere& where, const std::string& id, const CellFacts& cell) {
  const bool named = where.cells.empty() ||
                     std::any_of(where.cells.begin(), where.cells.end(),
                                 [&id](const std::string& pattern) { return fits(pattern, id); });
  return named && where.simulated == cell.simulated &&
         (!where.paravirtual || *where.paravirtual == cell.paravirtual) &&
         where.axes.matches(cell.cell);
}

/// The entries of a run's arms: patterns of machines are looked at once, and not for each cell.
class Concerned {
 public:
  Concerned(const std::vector<KnownFailure>& known, const RunFacts& run) : known_(known) {
    for (const auto& [key, cell] : run.cells) by_arm_[key.first];
    for (auto& [label, entries] : by_arm_) {
      for (size_t i = 0; i < known.size(); ++i) {
        if (concerns(known[i].where, run, label)) entries.push_back(i);
      }
    }
  }
  const std::vector<size_t>& of_arm(const std::string& label) const { return by_arm_.at(label); }
  /// Those that hold a cell.
  std::vector<size_t> of_cell(const CellKey& key, const CellFacts& cell) const {
    std::vector<size_t> entries;
    for (const size_t entry : of_arm(key.first)) {
      if (holds_cell(known_[entry].where, key.second, cell)) entries.push_back(entry);
    }
    return entries;
  }

 private:
  const std::vector<KnownFailure>& known_;
  std::map<std::string, std::vector<size_t>> by_arm_;
};

/// Which of the entries knows a failure: one that names it, or else one that knows its outcome, or
/// else one that knows of any.
std::optional<size_t> knower_of(const std::vector<KnownFailure>& known,
                                const std::vector<size_t>& entries, const std::string& signature,
                                std::optional<Outcome> outcome) {
  std::optional<size_t> by_outcome;
  std::optional<size_t> of_any;
  for (const size_t entry : entries) {
    const KnownFailure& each = known[entry];
    if (each.signature == signature) return entry;
    if (!each.signature.empty()) continue;
    if (!each.outcome && !of_any) of_any = entry;
    if (outcome && each.outcome == outcome && !by_outcome) by_outcome = entry;
  }
  return by_outcome ? by_outcome : of_any;
}

std::optional<Outcome> outcome_of(const RunFacts& run, const std::string& signature) {
  const auto at = run.outcomes.find(signature);
  return at == run.outcomes.end() ? std::nullopt : std::optional(at->second);
}

/// What one run says of the entries: trials of their cells, and failures that they know.
struct Night {
  std::string started;
  std::map<size_t, Proportion> seen;
};

Night night_of(const std::vector<KnownFailure>& known, const RunFacts& run,
               const std::map<CellKey, bool>& wanted) {
  Night night{run.started, {}};
  const Concerned concerned(known, run);
  for (const auto& [key, cell] : run.cells) {
    const auto at = wanted.find(key);
    if (at == wanted.end() || at->second != cell.simulated || cell.counted == 0) continue;
    const std::vector<size_t> entries = concerned.of_cell(key, cell);
    for (const size_t entry : entries) night.seen[entry].trials += cell.counted;
    for (const auto& [signature, failures] : cell.titles) {
      const auto knower = knower_of(known, entries, signature, outcome_of(run, signature));
      if (knower) night.seen[*knower].failures += failures;
    }
  }
  return night;
}

void judge_rate(const KnownFailure& known,
                const std::vector<std::pair<std::string, Proportion>>& nights,
                JudgedEntry& judged) {
  std::vector<Proportion> counts;
  Proportion seen = known.seen;
  std::vector<int> silent;
  for (const auto& [started, night] : nights) {
    counts.push_back(night);
    judged.further.failures += night.failures;
    judged.further.trials += night.trials;
    silent.push_back(night.trials);
    if (night.failures == 0) continue;
    for (const int trials : silent) seen.trials += trials;
    seen.failures += night.failures;
    silent.clear();
    judged.last_seen = started;
  }
  const RateDrift drift = weigh_nights(known.seen, counts);
  const auto drifted = [&](EntryStanding standing, size_t since) {
    judged.standing = standing;
    judged.since = nights[since].first;
    for (size_t i = since; i < nights.size(); ++i) {
      judged.since_then.failures += counts[i].failures;
      judged.since_then.trials += counts[i].trials;
    }
  };
  if (drift.more_often >= kClaimedDrift) {
    drifted(EntryStanding::more_often, drift.more_since);
  } else if (!silent.empty() && chance_gone(seen, silent) >= kClaimedGone) {
    judged.standing = EntryStanding::unseen;
  } else if (drift.less_often >= kClaimedDrift) {
    drifted(EntryStanding::less_often, drift.less_since);
  } else if (!silent.empty()) {
    judged.standing = EntryStanding::silent;
  } else {
    judged.standing = EntryStanding::as_known;
  }
}

}  // namespace

Findings judge_expectations(const std::vector<KnownFailure>& known, const RunFacts& run,
                            const std::vector<RunFacts>& earlier) {
  Findings findings;
  std::map<CellKey, bool> cells;  // and whether simulated
  std::map<size_t, bool> here;    // entries of this machine, and whether a planned cell is theirs
  const Concerned concerned(known, run);
  for (const auto& [key, cell] : run.cells) {
    cells[key] = cell.simulated;
    for (const size_t entry : concerned.of_arm(key.first)) here[entry];
    const std::vector<size_t> entries = concerned.of_cell(key, cell);
    for (const size_t entry : entries) here[entry] = true;
    for (const auto& [signature, failures] : cell.titles) {
      if (knower_of(known, entries, signature, outcome_of(run, signature))) {
        findings.expected += failures;
      } else {
        findings.unknown.push_back({key.first,
                                    key.second,
                                    signature,
                                    {failures, cell.counted},
                                    cell.simulated,
                                    !entries.empty()});
      }
    }
  }

  std::vector<Night> nights;
  for (const RunFacts& past : earlier) {
    if (past.started <= run.started) nights.push_back(night_of(known, past, cells));
  }
  std::stable_sort(nights.begin(), nights.end(), [](const Night& one, const Night& other) {
    return one.started < other.started;
  });
  nights.push_back(night_of(known, run, cells));
  for (const auto& [entry, planned] : here) {
    const KnownFailure& each = known[entry];
    // Without a matrix it may be of cells of another one.
    if (!planned && each.where.matrix.empty()) continue;
    JudgedEntry judged;
    judged.entry = entry;
    judged.last_seen = each.last_seen;
    judged.expired =
        !each.review_by.empty() && each.review_by < run.started.substr(0, each.review_by.size());
    std::vector<std::pair<std::string, Proportion>> further;
    for (const Night& night : nights) {
      const auto at = night.seen.find(entry);
      if (at == night.seen.end()) continue;
      if (&night == &nights.back()) judged.tonight = at->second;
      if (night.started > each.until) further.emplace_back(night.started, at->second);
    }
    if (judged.tonight.trials > 0) judge_rate(each, further, judged);
    findings.entries.push_back(std::move(judged));
  }
  return findings;
}

}  // namespace mpsprobe

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <unordered_set>

#include "reports/analysis/steps.h"

namespace mpsprobe {
namespace {

bool is_asked_for(const Journal& journal, const std::string& worker, Backend backend) {
  const auto& workers = journal.header.workers;
  const auto info = std::find_if(workers.begin(), workers.end(),
                                 [&](const WorkerInfo& each) { return each.name == worker; });
  return info == workers.end() || names_backend(*info, backend);
}

void count_outcome(CellSummary& cell, const Judgement& judgement) {
  for (OutcomeCount& count : cell.outcomes) {
    if (count.outcome == judgement.outcome && count.detail == judgement.detail) {
      ++count.trials;
      if (count.phase != judgement.phase) count.phase.reset();
      return;
    }
  }
  cell.outcomes.push_back({judgement.outcome, judgement.detail, 1, judgement.phase});
}

// Keeps `texts` sorted.
void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (text.empty()) return;
  const auto at = std::lower_bound(texts.begin(), texts.end(), text);
  if (at == texts.end() || *at != text) texts.insert(at, text);
}

Overlap overlap_of(const CellSummary& cell) {
  // Of somebody's own command nobody knows what its operations are.
  const bool own = cell.cell.backend == Backend::command;
  if (cell.cell.threads <= 1 || own) return Overlap::not_applicable;
  if (cell.most_inside > 1) return Overlap::seen;
  const bool asked_for =
      cell.cell.lock != Lock::none || cell.cell.throttle == 1 || in_turn(cell.cell);
  return asked_for ? Overlap::prevented : Overlap::none;
}

Expected compare(const CellSummary& cell) {
  if (!cell.expectation) return Expected::nothing;
  const Expectation& expectation = *cell.expectation;
  if (expectation.verdict) {
    if (!cell.verdict) return Expected::untested;
    return *cell.verdict == *expectation.verdict ? Expected::met : Expected::unmet;
  }
  if (!expectation.outcome) return Expected::nothing;
  bool tested = false;
  for (const OutcomeCount& count : cell.outcomes) {
    if (count.outcome == Outcome::not_run && *expectation.outcome != Outcome::not_run) continue;
    tested = true;
    const bool same = count.outcome == *expectation.outcome &&
                      (expectation.detail.empty() || count.detail == expectation.detail);
    if (!same) return Expected::unmet;
  }
  return tested ? Expected::met : Expected::untested;
}

}  // namespace

Summaries::Summaries(const Journal& journal, const TrialFactsList& trials,
                     const std::vector<Arm>& arms) {
  constexpr size_t kMostListed = 10'000;
  const bool all = journal.header.cells.size() * arms.size() <= kMostListed;
  std::unordered_set<std::string> run;
  if (!all) {
    for (const TrialFacts& trial : trials) run.insert(*trial.cell_id);
  }
  std::vector<std::set<Backend>> asked(arms.size());
  for (const Backend backend : journal.header.cells.backends()) {
    for (size_t arm = 0; arm < arms.size(); ++arm) {
      if (is_asked_for(journal, arms[arm].worker, backend)) asked[arm].insert(backend);
    }
  }
  // Several arms of one worker share its plan: the first one states it.
  const auto states_the_plan = [&arms](size_t arm) {
    return arm == 0 || arms[arm].worker != arms[arm - 1].worker;
  };
  for (size_t i = 0; i < journal.header.cells.size(); ++i) {
    if (!all && !run.contains(to_string(journal.header.cells.cell(i)))) {
      for (size_t arm = 0; arm < arms.size(); ++arm) {
        const bool listed = asked[arm].contains(journal.header.cells.cell(i).backend);
        not_listed_ += listed && states_the_plan(arm) ? 1 : 0;
      }
      continue;
    }
    const PlannedCell planned = journal.header.cells[i];
    for (size_t arm = 0; arm < arms.size(); ++arm) {
      if (!asked[arm].contains(planned.cell.backend)) continue;
      CellSummary& cell = find_or_add(arm, planned.cell);
      cell.block = planned.block;
      cell.expectation = planned.expectation;
      if (states_the_plan(arm)) cell.planned = journal.header.trials;
    }
  }
  journal.header.cells.for_each_again([&](const std::string& block, const Cell& cell) {
    const std::string id = to_string(cell);
    for (size_t arm = 0; arm < arms.size(); ++arm) {
      const auto at = index_.find({arm, id});
      if (at != index_.end()) cells_[at->second].also_in.push_back(block);
    }
  });
}

CellSummary& Summaries::find_or_add(size_t arm, const Cell& cell) {
  std::string id = to_string(cell);
  const auto [at, fresh] = index_.try_emplace({arm, id}, cells_.size());
  if (fresh) {
    CellSummary summary;
    summary.arm = arm;
    summary.cell = cell;
    summary.id = std::move(id);
    cells_.push_back(std::move(summary));
  }
  return cells_[at->second];
}

std::vector<CellSummary> Summaries::take() {
  std::vector<CellSummary> kept;
  for (CellSummary& cell : cells_) {
    if (cell.planned > 0 || !cell.outcomes.empty()) kept.push_back(std::move(cell));
  }
  return kept;
}

void add_trial(CellSummary& cell, const TrialFacts& trial, const DevicesSaid& devices) {
  const Outcome outcome = trial.judgement->outcome;
  count_outcome(cell, *trial.judgement);
  ++cell.recorded;
  cell.seconds += trial.seconds;
  if (is_failure(outcome)) ++cell.failures;
  if (outcome == Outcome::refused) {
    ++cell.refused;
    for (const OtherFinding& other : trial.judgement->also) ++cell.after_refusal[other.title];
  }
  cell.simulated = cell.simulated || devices.simulated;
  for (const std::string& name : devices.names) add_once(cell.devices, name);
  for (const std::string& path : *trial.observed_paths) add_once(cell.observed_paths, path);
  if (trial.path_unseen != nullptr) cell.path_unseen = *trial.path_unseen;
  if (is_evidence(outcome)) {
    ++cell.counted;
    cell.most_inside = std::max(cell.most_inside, trial.most_inside);
    cell.launches += trial.launches;
    cell.overlapped += trial.overlapped;
    cell.inside += trial.inside;
  }
  if (outcome != Outcome::pass) return;
  cell.checked += trial.checked;
  cell.unchecked += trial.unchecked;
  if (!std::isnan(trial.operations_per_second)) {
    cell.speeds.push_back({trial.trial, trial.operations_per_second});
  }
}

void conclude(CellSummary& cell, Sampling sampling) {
  std::vector<double> speeds;
  for (const TrialSpeed& speed : cell.speeds) speeds.push_back(speed.operations_per_second);
  cell.throughput = spread_of(speeds);
  std::sort(cell.outcomes.begin(), cell.outcomes.end(),
            [](const OutcomeCount& a, const OutcomeCount& b) {
              return std::tie(a.outcome, a.detail) < std::tie(b.outcome, b.detail);
            });
  if (cell.counted > 0) {
    cell.verdict = cell.failures == 0              ? Verdict::pass
                   : cell.failures == cell.counted ? Verdict::fail
                                                   : Verdict::intermittent;
    cell.rate = rate_interval(sampling, cell.failures, cell.counted);
  } else if (cell.refused > 0) {
    cell.verdict = Verdict::refused;
  }
  cell.overlap = cell.counted > 0 ? overlap_of(cell) : Overlap::not_applicable;
  cell.expected = compare(cell);
}

}  // namespace mpsprobe

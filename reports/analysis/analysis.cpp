#include "reports/analysis/analysis.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "harness/campaign/campaign.h"
#include "harness/outcome/judge.h"
#include "reports/analysis/devices.h"
#include "reports/analysis/failures/signatures.h"
#include "reports/analysis/steps.h"
#include "reports/analysis/trial_facts.h"
#include "reports/claims/answer.h"
#include "reports/claims/comparisons.h"

namespace mpsprobe {
namespace {

std::vector<LeftOutGroup> group_left_out(const std::vector<LeftOut>& left_out) {
  std::vector<LeftOutGroup> groups;
  std::map<std::string, size_t> index;
  for (const LeftOut& item : left_out) {
    const auto [at, fresh] = index.try_emplace(item.reason, groups.size());
    if (fresh) groups.push_back({item.reason, {}, 0, false});
    groups[at->second].cells.push_back(item.cell);
    groups[at->second].others += item.others;
  }
  return groups;
}

/// What was said of cells by arm and text; adds those of which nothing else is known.
void add_unsupported(const std::vector<CellSummary>& cells,
                     const std::map<std::pair<size_t, std::string>, const std::string*>& said,
                     std::vector<LeftOutGroup>& groups) {
  std::map<std::string, size_t> index;
  for (const CellSummary& cell : cells) {
    const auto found = said.find({cell.arm, cell.id});
    if (cell.counted > 0 || found == said.end()) continue;
    const auto [at, fresh] = index.try_emplace(*found->second, groups.size());
    if (fresh) groups.push_back({"unsupported: " + *found->second, {}, 0, true});
    std::vector<std::string>& named = groups[at->second].cells;
    if (named.empty() || named.back() != cell.id) named.push_back(cell.id);
  }
}

// Which records of a journal are trials, each once: a second record of one is no second piece of
// evidence, and one that died as a bystander, or for want of something that was mended, gives way
// to the record of its rerun. Where that is still owed, the trial was not run.
class Records {
 public:
  explicit Records(const TrialFactsList& trials) {
    seen_.reserve(trials.size());
    for (const TrialFacts& trial : trials) {
      Seen& seen = seen_[key_of(trial)];
      const Judgement& judgement = *trial.judgement;
      const bool alone = judgement.signature == kVictimAlone;
      seen.last = std::max(seen.last, trial.attempt);
      seen.settled |= !is_unsettled(judgement, trial.attempt);
      seen.rerun |= trial.attempt > 0;
      seen.bystander |= judgement.bystander || alone;
      seen.alone |= alone;
      seen.run_alone |= !judgement.bystander;
    }
  }

  bool counts(const TrialFacts& trial) {
    Seen& seen = seen_.at(key_of(trial));
    const bool bystander = trial.judgement->bystander;
    if (bystander && (seen.run_alone || !seen.settled)) return false;
    if (may_be_mended(*trial.judgement) && trial.attempt < seen.last) return false;
    const bool first = !std::exchange(seen.counted, true);
    // The attempts of a bystander are no repetitions.
    if (!first && !bystander) ++repeated_;
    return first;
  }

  int repeated() const { return repeated_; }
  Bystanders bystanders() const {
    Bystanders bystanders;
    for (const auto& [key, seen] : seen_) {
      if (!seen.bystander) continue;
      ++bystanders.trials;
      if (seen.rerun) ++bystanders.rerun;
      if (seen.alone) ++bystanders.alone;
    }
    return bystanders;
  }

 private:
  /// What the records of one trial say together.
  struct Seen {
    int last = 0;  ///< attempt
    bool settled = false;
    bool rerun = false;
    bool bystander = false;
    bool alone = false;
    bool run_alone = false;
    bool counted = false;
  };

  static uint64_t key_of(const TrialFacts& trial) {
    return uint64_t{trial.unit} << 32 | static_cast<uint32_t>(trial.trial);
  }

  std::unordered_map<uint64_t, Seen> seen_;
  int repeated_ = 0;
};

Analysis analyse_trials(const Journal& journal, const TrialFactsList& trials) {
  Analysis analysis;
  analysis.header = journal.header;
  const double settle_rate = journal.header.settle_rate;
  const std::set<std::string> followed(journal.header.follow.begin(), journal.header.follow.end());
  analysis.sampling = settle_rate > 0 || !followed.empty() ? Sampling::looking : Sampling::fixed;
  analysis.blocks = journal.header.cells.blocks();
  analysis.header.cells.clear();
  analysis.ends = journal.ends;
  Arms arms = divide_into_arms(journal, trials);
  analysis.arm_of_trial = std::move(arms.of_trial);
  analysis.arms = std::move(arms.arms);

  Summaries summaries(journal, trials, analysis.arms);
  std::map<std::pair<std::string, std::string>, int> recorded;  // by worker and cell
  std::map<const std::vector<std::string>*, DevicesSaid> devices;
  Records records(trials);
  std::vector<size_t> failed;  // indices into the journal's trials
  std::vector<size_t> slow;
  std::map<std::pair<size_t, std::string>, const std::string*> unsupported;
  for (size_t i = 0; i < trials.size(); ++i) {
    const TrialFacts& trial = trials[i];
    if (!records.counts(trial)) continue;
    CellSummary& cell = summaries.find_or_add(analysis.arm_of_trial[i], *trial.cell);
    const auto [said, fresh] = devices.try_emplace(trial.provenances);
    if (fresh) said->second = devices_said(journal, *trial.provenances);
    add_trial(cell, trial, said->second);
    if (trial.unsupported != nullptr) {
      unsupported.try_emplace({cell.arm, cell.id}, trial.unsupported);
    }
    ++recorded[{*trial.worker, cell.id}];
    if (is_failure(trial.judgement->outcome)) failed.push_back(i);
    if (trial.judgement->outcome == Outcome::timeout) slow.push_back(i);
  }
  for (CellSummary& cell : summaries.all()) {
    const int done = recorded[{analysis.arms[cell.arm].worker, cell.id}];
    if (followed.contains(cell.block)) cell.planned = done;
    if (analysis.sampling == Sampling::looking && cell.planned > 0) {
      cell.planned = std::max(cell.planned, done);
    }
    cell.missing = std::max(0, cell.planned - done);
    const std::string& worker = analysis.arms[cell.arm].worker;
    cell.simulated = cell.simulated || is_simulated(journal.header, worker, cell.cell.backend);
    cell.paravirtual =
        !cell.simulated && is_paravirtual(journal, worker, cell.cell.backend, cell.devices);
    conclude(cell, analysis.sampling);
  }
  analysis.cells = summaries.take();
  analysis.cells_not_listed = summaries.not_listed();
  analysis.boundaries = find_boundaries(analysis.cells, analysis.arms);
  if (settle_rate > 0) settle(settle_rate, analysis);
  analysis.planned = static_cast<int>(analysis.cells_not_listed) * journal.header.trials;
  bool others = false;  ///< simulated ones of another device
  for (const CellSummary& cell : analysis.cells) {
    analysis.planned += cell.planned;
    analysis.counted += cell.counted;
    analysis.failures += cell.failures;
    analysis.refused += cell.refused;
    for (const OutcomeCount& count : cell.outcomes) {
      if (count.outcome != Outcome::not_run) analysis.recorded += count.trials;
      const bool answer = is_evidence(count.outcome) || count.outcome == Outcome::unsupported ||
                          count.outcome == Outcome::refused;
      if (!answer && cell.expected != Expected::met) analysis.undone += count.trials;
    }
    analysis.undone += cell.missing;
    if (cell.simulated && cell.recorded > 0) {
      const std::string own = own_mps_code(cell.devices);
      others = others || own.empty();
      if (analysis.own_mps_code.empty()) analysis.own_mps_code = own;
    }
    analysis.simulated = analysis.simulated || cell.simulated;
    analysis.paravirtual = analysis.paravirtual || cell.paravirtual;
  }
  if (others) analysis.own_mps_code.clear();
  analysis.seconds = trials.busy_seconds();
  analysis.starts = trials.starts();
  analysis.complete = analysis.recorded >= analysis.planned;
  analysis.signatures = group_by_signature(journal, analysis, trials, failed);
  for (size_t i = 0; i < analysis.signatures.size(); ++i) {
    for (const SignatureGroup::Where& where : analysis.signatures[i].cells) {
      analysis.cells[where.summary].titles.push_back({i, where.failures});
    }
  }
  analysis.still_computing = group_by_signature(journal, analysis, trials, slow);
  analysis.comparisons = compare_layers(analysis);
  analysis.bystanders = records.bystanders();
  analysis.left_out = group_left_out(journal.header.left_out);
  add_unsupported(analysis.cells, unsupported, analysis.left_out);
  analysis.warnings = warn(journal, analysis, trials, arms.divided, records.repeated());
  compare_rates(analysis);
  analysis.answer = find_answer(analysis);
  return analysis;
}

}  // namespace

bool took_another_path(const CellSummary& cell) {
  if (cell.cell.path == Path::automatic) return false;
  return std::any_of(cell.observed_paths.begin(), cell.observed_paths.end(),
                     [&cell](const std::string& path) {
                       return path != "not observed" && path != name_of(cell.cell.path);
                     });
}

Analysis analyse(const Journal& journal) {
  TrialFactsList trials;
  for_each_trial(journal, [&trials](const TrialRecord& trial) { trials.add(trial); });
  return analyse_trials(journal, trials);
}

AnalysedJournal analyse_file(const std::filesystem::path& file) {
  AnalysedJournal result;
  TrialFactsList trials;
  const bool live = is_being_written(file);
  result.journal = read_journal(file, [&trials](const TrialRecord& trial) { trials.add(trial); });
  result.journal.live = live;
  for (const auto& [index, known_good] : result.journal.stored->known_goods()) {
    trials.set_known_good(index, known_good);
  }
  result.analysis = analyse_trials(result.journal, trials);
  return result;
}

}  // namespace mpsprobe

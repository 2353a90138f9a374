#include "reports/analysis/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "harness/campaign/campaign.h"
#include "harness/outcome/judge.h"
#include "reports/analysis/arms.h"
#include "reports/analysis/devices.h"
#include "reports/analysis/failures/signatures.h"
#include "reports/analysis/trial_facts.h"
#include "reports/analysis/warnings.h"
#include "reports/claims/answer.h"
#include "reports/claims/comparable.h"
#include "reports/claims/compare_rates.h"
#include "reports/claims/layers.h"

namespace mpsprobe {
namespace {

bool is_asked_for(const Journal& journal, const std::string& worker, Backend backend) {
  const auto& workers = journal.header.workers;
  const auto info = std::find_if(workers.begin(), workers.end(),
                                 [&](const WorkerInfo& each) { return each.name == worker; });
  return info == workers.end() || names_backend(*info, backend);
}

// The plan as summaries without trials; `index` finds them by arm and cell.
class Summaries {
 public:
  Summaries(const Journal& journal, const TrialFactsList& trials, const std::vector<Arm>& arms) {
    // Of a plan without end only what was run is listed: what was not would hide it.
    constexpr size_t kMostListed = 10'000;
    const bool all = journal.header.cells.size() * arms.size() <= kMostListed;
    std::unordered_set<std::string> run;
    if (!all) {
      for (const TrialFacts& trial : trials) run.insert(*trial.cell_id);
    }
    const std::vector<std::set<Backend>> asked = backends_asked(journal, arms);
    for (size_t i = 0; i < journal.header.cells.size(); ++i) {
      if (!all && !run.contains(to_string(journal.header.cells.cell(i)))) {
        count_not_listed(journal.header.cells.cell(i).backend, arms, asked);
        continue;
      }
      const PlannedCell planned = journal.header.cells[i];
      for (size_t arm = 0; arm < arms.size(); ++arm) {
        if (!asked[arm].contains(planned.cell.backend)) continue;
        CellSummary& cell = find_or_add(arm, planned.cell);
        cell.block = planned.block;
        cell.expectation = planned.expectation;
        // Several arms of one worker share its plan: the first one states it.
        if (arm == 0 || arms[arm].worker != arms[arm - 1].worker) {
          cell.planned = journal.header.trials;
        }
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

  CellSummary& find_or_add(size_t arm, const Cell& cell) {
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

  size_t not_listed() const { return not_listed_; }

  /// In the order of the plan; cells that an arm of a divided worker never ran are dropped.
  std::vector<CellSummary> take() {
    std::vector<CellSummary> kept;
    for (CellSummary& cell : cells_) {
      if (cell.planned > 0 || !cell.outcomes.empty()) kept.push_back(std::move(cell));
    }
    return kept;
  }

  std::vector<CellSummary>& all() { return cells_; }

 private:
  static std::vector<std::set<Backend>> backends_asked(const Journal& journal,
                                                       const std::vector<Arm>& arms) {
    std::vector<std::set<Backend>> asked(arms.size());
    for (const Backend backend : journal.header.cells.backends()) {
      for (size_t arm = 0; arm < arms.size(); ++arm) {
        if (is_asked_for(journal, arms[arm].worker, backend)) asked[arm].insert(backend);
      }
    }
    return asked;
  }

  void count_not_listed(Backend backend, const std::vector<Arm>& arms,
                        const std::vector<std::set<Backend>>& asked) {
    for (size_t arm = 0; arm < arms.size(); ++arm) {
      const bool states_the_plan = arm == 0 || arms[arm].worker != arms[arm - 1].worker;
      if (states_the_plan && asked[arm].contains(backend)) ++not_listed_;
    }
  }

  std::vector<CellSummary> cells_;
  std::map<std::pair<size_t, std::string>, size_t> index_;
  size_t not_listed_ = 0;
};

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

std::optional<Spread> throughput_of(const CellSummary& cell) {
  std::vector<double> samples;
  for (const TrialSpeed& speed : cell.speeds) samples.push_back(speed.operations_per_second);
  return spread_of(samples);
}

Overlap overlap_of(const CellSummary& cell) {
  // Of somebody's own command nobody knows what its operations are.
  const bool own = cell.cell.backend == Backend::command;
  if (cell.cell.threads <= 1 || own) return Overlap::not_applicable;
  if (cell.most_inside > 1) return Overlap::seen;
  const bool asked_for = cell.cell.lock != Lock::none || cell.cell.throttle == 1 ||
                         cell.cell.start == Start::sequential;
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

void conclude(CellSummary& cell, Sampling sampling) {
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

std::vector<CellEvidence> evidence_of(const Analysis& analysis) {
  std::vector<CellEvidence> evidence;
  for (const CellSummary& cell : analysis.cells) {
    evidence.push_back({analysis.arms[cell.arm].label, cell.cell, cell.counted, cell.failures,
                        cell.rate, cell.overlap == Overlap::none, cell.most_inside, cell.refused});
  }
  return evidence;
}

using LinePlaces = std::map<std::tuple<std::string, std::string, std::string>, SettledPlace>;

std::tuple<std::string, std::string, std::string> line_key(const std::string& arm,
                                                           const std::string& axis, Cell cell) {
  (axis == "threads" ? cell.threads : cell.processes) = 1;
  return {arm, axis, to_string(cell)};
}

SettledPlace place_of(const SettlingLine& line, const RateQuestion& question,
                      const std::vector<CellSummary>& cells) {
  SettledPlace place;
  place.rate = question.often_rate;
  place.settled = line.state == LineState::settled;
  place.wrong = line.asked.empty() ? 1 : line.place.wrong();
  size_t first = line.place.first_failing;
  // No cell is said to fail more seldom than it was seen to: until it is settled the estimate may
  // rest on next to nothing, and what fails at one count alone is a stray to it. One failure may
  // be.
  const auto seen = std::find_if(line.asked.begin(), line.asked.end(), [&](size_t asked) {
    const CellSummary& cell = cells[asked];
    return cell.failures > (place.settled ? 1 : 0) && cell.failures >= place.rate * cell.counted;
  });
  first = std::min(first, static_cast<size_t>(seen - line.asked.begin()));
  if (first < line.asked.size()) {
    const Cell& cell = cells[line.asked[first]].cell;
    place.from = line.axis == "threads" ? cell.threads : cell.processes;
  }
  return place;
}

// Whether the counts contradict that a failure which begins goes on: cells above the first one that
// was seen to fail at the rate fail less often than it, which chance does not explain.
std::optional<SettledQuestions::Broken> where_failure_ends(const SettlingLine& line, double rate,
                                                           const std::vector<CellSummary>& cells) {
  const auto often = [&](size_t index) {
    return cells[index].failures > 0 && cells[index].failures >= rate * cells[index].counted;
  };
  for (size_t i = 0; i < line.asked.size(); ++i) {
    if (!often(line.asked[i])) continue;
    SettledQuestions::Broken broken{line.asked[i], {}};
    Proportion above;
    for (size_t k = i + 1; k < line.asked.size(); ++k) {
      if (often(line.asked[k])) continue;
      broken.rarer.push_back(line.asked[k]);
      above.failures += cells[line.asked[k]].failures;
      above.trials += cells[line.asked[k]].counted;
    }
    const CellSummary& failing = cells[line.asked[i]];
    if (above.trials > 0 &&
        fisher_exact({failing.failures, failing.counted}, above) < kClaimLevel) {
      return broken;
    }
  }
  return std::nullopt;
}

/// Where the questions stand; the trials that are missing at the least are planned and missing.
SettledQuestions settled_questions(double rate, Analysis& analysis, LinePlaces& places) {
  std::vector<SettlingCell> cells;
  for (const CellSummary& cell : analysis.cells) {
    cells.push_back({analysis.arms[cell.arm].label,
                     cell.cell,
                     {cell.failures, cell.counted},
                     cell.recorded - cell.counted});
  }
  const Settling settling(rate, std::move(cells));
  const RateQuestion& question = settling.question();
  SettledQuestions questions;
  questions.rate = rate;
  questions.wrong = question.false_often + question.false_seldom;
  std::map<size_t, int> further;
  for (const SettlingLine& line : settling.lines()) {
    const CellSummary& last = analysis.cells[line.cells.back()];
    const SettledPlace place = place_of(line, question, analysis.cells);
    questions.somewhere = questions.somewhere || place.from.has_value();
    places.emplace(line_key(analysis.arms[last.arm].label, line.axis, last.cell), place);
    if (auto broken = where_failure_ends(line, rate, analysis.cells)) {
      questions.broken.push_back(std::move(*broken));
    }
    if (line.state == LineState::settled) ++questions.settled;
    if (line.state == LineState::given_up) ++questions.given_up;
    if (line.state != LineState::open) continue;
    questions.open.push_back({*line.next, line.axis, line.further});
    int& most = further[*line.next];
    most = std::max(most, line.further);
  }
  // Also of cells that are on no boundary for what they refuse.
  questions.somewhere =
      questions.somewhere ||
      std::any_of(analysis.cells.begin(), analysis.cells.end(), [rate](const CellSummary& cell) {
        return cell.failures > 1 && cell.seen_rate() >= rate;
      });
  for (const auto& [cell, trials] : further) {
    analysis.cells[cell].planned += trials;
    analysis.cells[cell].missing += trials;
  }
  return questions;
}

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
    cell.throughput = throughput_of(cell);
    const std::string& worker = analysis.arms[cell.arm].worker;
    cell.simulated = cell.simulated || is_simulated(journal.header, worker, cell.cell.backend);
    cell.paravirtual =
        !cell.simulated && is_paravirtual(journal, worker, cell.cell.backend, cell.devices);
    conclude(cell, analysis.sampling);
  }
  analysis.cells = summaries.take();
  analysis.cells_not_listed = summaries.not_listed();
  LinePlaces places;
  if (settle_rate > 0) analysis.settling = settled_questions(settle_rate, analysis, places);
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
  analysis.boundaries = find_boundaries(evidence_of(analysis));
  for (Boundary& boundary : analysis.boundaries) {
    const auto place = places.find(line_key(boundary.worker, boundary.axis, boundary.group));
    if (place != places.end()) settle_at(boundary, place->second);
  }
  analysis.signatures = group_by_signature(journal, analysis, trials, failed);
  analysis.still_computing = group_by_signature(journal, analysis, trials, slow);
  analysis.comparisons = compare_layers(analysis);
  analysis.bystanders = records.bystanders();
  analysis.left_out = group_left_out(journal.header.left_out);
  add_unsupported(analysis.cells, unsupported, analysis.left_out);
  analysis.warnings = warn(journal, analysis, trials, arms.divided, records.repeated());
  RateClaims claims = compare_rates(analysis);
  analysis.rate_claims = std::move(claims.each);
  analysis.claims_together = std::move(claims.together);
  analysis.priced = std::move(claims.priced);
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

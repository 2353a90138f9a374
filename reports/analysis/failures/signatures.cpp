#include "reports/analysis/failures/signatures.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/outcome/python_death.h"
#include "harness/outcome/race_evidence.h"
#include "harness/outcome/remarks.h"
#include "harness/outcome/reported.h"
#include "reports/analysis/trial_facts.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr size_t kExcerptLines = 16;
// The head of a report on a race names its sides; an interpreter that hung prints all its stacks,
// the main thread's last, and a caller's own frames stand in the others.
constexpr size_t kStackLines = 80;
constexpr size_t kExcerptWidth = 300;
constexpr size_t kMostOthers = 256;  // beside a signature, and related to it

FailureExample example_of(const TrialRecord& trial, size_t arm,
                          const std::vector<GpuEvent>& gpu_events) {
  FailureExample example;
  example.arm = arm;
  example.cell = trial.cell;
  example.trial = trial.trial;
  example.seed = trial.seed;
  example.judgement = trial.judgement;
  example.process = trial.judged_process;
  example.gpu_events = gpu_events;
  const auto judged = static_cast<size_t>(trial.judged_process);
  if (trial.judged_process < 0 || judged >= trial.processes.size()) return example;
  const ProcessRecord& process = trial.processes[judged];
  example.ended_by = process.ended_by;
  example.recorder = process.recorder;
  example.stacks = process.stacks;
  example.crash_report = process.crash_report;
  if (const FailureEvent* event = first_failure(process.failures)) example.event = *event;
  example.remarks = remarks(process);
  if (process.recorder.crash.signal != 0 || process.crash_report) {
    example.python_stack = python_frames(process.err.text());
  }
  const Outcome outcome = trial.judgement.outcome;
  const bool race = outcome == Outcome::data_race;
  const bool stacks = race || outcome == Outcome::hang || outcome == Outcome::timeout;
  const std::string printed = process.err.text();
  example.excerpt = last_lines(race                           ? race_evidence(printed).text
                               : example.python_stack.empty() ? std::string_view(printed)
                                                              : before_python_stacks(printed),
                               stacks ? kStackLines : kExcerptLines, kExcerptWidth);
  if (example.excerpt.empty()) {
    example.excerpt = last_lines(process.out.text(), kExcerptLines, kExcerptWidth);
  }
  return example;
}

std::string title_of(const Judgement& judgement) {
  if (!judgement.signature.empty()) return judgement.signature;
  return failure_kind(judgement.outcome, judgement.detail);
}

// A group while it is counted: by summary, and by the cell before.
struct Counting {
  SignatureGroup group;
  std::map<std::string, size_t> also;  // where each title stands in group.also
  std::map<size_t, int> by_summary;
  std::map<size_t, size_t> first_trial;  // of each summary, as an index into the journal
  std::map<std::string, int> before;
  std::set<size_t> crashed;  // summaries in which a process died of it
  std::set<size_t> hung;     // summaries in which one hung
};

bool is_stronger(Basis a, Basis b) {
  return a != Basis::none && (b == Basis::none || a < b);
}

void add_finding(Counting& counting, const OtherFinding& finding) {
  std::vector<SignatureGroup::Beside>& also = counting.group.also;
  const auto [at, fresh] = counting.also.try_emplace(finding.title, also.size());
  if (fresh) {
    also.push_back({finding, 1});
  } else {
    ++also[at->second].trials;
  }
}

// How much a cell asks for: what is nearest to the boundary asks for least.
std::tuple<int, int, int, std::string> load_of(const CellSummary& cell) {
  return {cell.cell.threads, cell.cell.processes, cell.cell.iterations, cell.id};
}

double rate_in(const Counting& counting, size_t summary, const Analysis& analysis) {
  const int counted = std::max(1, analysis.cells[summary].counted);
  return static_cast<double>(counting.by_summary.at(summary)) / counted;
}

// Of the cells that fail at least half as often as the one that fails most, the smallest: its
// failure is the one to look at, and to run again.
size_t telling_cell(const Counting& counting, const Analysis& analysis) {
  double most = 0;
  for (const auto& [summary, failures] : counting.by_summary) {
    most = std::max(most, rate_in(counting, summary, analysis));
  }
  size_t best = counting.by_summary.begin()->first;
  bool any = false;
  for (const auto& [summary, failures] : counting.by_summary) {
    if (rate_in(counting, summary, analysis) < most / 2) continue;
    if (!any || load_of(analysis.cells[summary]) < load_of(analysis.cells[best])) best = summary;
    any = true;
  }
  return best;
}

void add_trial(Counting& counting, const TrialFacts& trial, size_t index, size_t summary) {
  const Judgement& judgement = *trial.judgement;
  SignatureGroup& group = counting.group;
  ++group.failures;
  ++group.phases[std::string(name_of(judgement.phase))];
  if (is_stronger(judgement.basis, group.basis)) group.basis = judgement.basis;
  for (const OtherFinding& finding : judgement.also) add_finding(counting, finding);
  ++counting.by_summary[summary];
  counting.first_trial.try_emplace(summary, index);
  ++counting.before[*trial.before];
  if (judgement.outcome == Outcome::signal || judgement.outcome == Outcome::assertion) {
    counting.crashed.insert(summary);
  } else if (judgement.outcome == Outcome::hang) {
    counting.hung.insert(summary);
  }
}

// The groups that a cell has, by summary.
using GroupsByCell = std::map<size_t, std::vector<size_t>>;

GroupsByCell groups_by_cell(const std::vector<Counting>& counting,
                            std::set<size_t> Counting::*cells) {
  GroupsByCell groups;
  for (size_t i = 0; i < counting.size(); ++i) {
    for (size_t summary : counting[i].*cells) groups[summary].push_back(i);
  }
  return groups;
}

// Adds the groups that stand in the same cells, the most frequent first.
void add_related(std::vector<size_t>& related, const std::set<size_t>& cells,
                 const GroupsByCell& groups, size_t self) {
  for (size_t summary : cells) {
    const auto there = groups.find(summary);
    if (there != groups.end()) {
      related.insert(related.end(), there->second.begin(), there->second.end());
    }
  }
  std::sort(related.begin(), related.end());
  related.erase(std::unique(related.begin(), related.end()), related.end());
  std::erase(related, self);
}

template <typename Item>
size_t cut(std::vector<Item>& items) {
  const size_t left_out = items.size() > kMostOthers ? items.size() - kMostOthers : 0;
  items.erase(items.end() - static_cast<std::ptrdiff_t>(left_out), items.end());
  return left_out;
}

// A thread that dies while it holds a lock leaves the others waiting: one bug, seen as a crash in
// one trial and as a hang in the next.
void link_crashes_and_hangs(std::vector<Counting>& counting) {
  const GroupsByCell crashes = groups_by_cell(counting, &Counting::crashed);
  const GroupsByCell hangs = groups_by_cell(counting, &Counting::hung);
  for (size_t i = 0; i < counting.size(); ++i) {
    SignatureGroup& group = counting[i].group;
    add_related(group.related, counting[i].crashed, hangs, i);
    add_related(group.related, counting[i].hung, crashes, i);
    group.related_left_out = cut(group.related);
  }
}

SignatureGroup finish(Counting& counting, const Analysis& analysis) {
  SignatureGroup group = std::move(counting.group);
  std::stable_sort(group.also.begin(), group.also.end(),
                   [](const auto& a, const auto& b) { return a.trials > b.trials; });
  group.also_left_out = cut(group.also);
  for (const auto& [summary, failures] : counting.by_summary) {
    const CellSummary& cell = analysis.cells[summary];
    group.cells.push_back({summary, cell.arm, cell.id, failures, cell.counted});
  }
  group.before.assign(counting.before.begin(), counting.before.end());
  std::stable_sort(group.before.begin(), group.before.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return group;
}

}  // namespace

std::vector<SignatureGroup> group_by_signature(const Journal& journal, const Analysis& analysis,
                                               const TrialFactsList& trials,
                                               const std::vector<size_t>& failed) {
  std::map<std::pair<size_t, std::string>, size_t> summaries;
  for (size_t i = 0; i < analysis.cells.size(); ++i) {
    summaries[{analysis.cells[i].arm, analysis.cells[i].id}] = i;
  }
  const std::map<size_t, std::vector<GpuEvent>> gpu_events = gpu_events_of_trials(trials);
  std::vector<Counting> counting;
  std::map<std::string, size_t> index;
  for (size_t i : failed) {
    const TrialFacts& trial = trials[i];
    const std::string title = title_of(*trial.judgement);
    const auto [at, fresh] = index.try_emplace(title, counting.size());
    if (fresh) {
      counting.emplace_back();
      SignatureGroup& group = counting.back().group;
      group.title = title;
      group.known = trial.judgement->known;
    }
    add_trial(counting[at->second], trial, i,
              summaries.at({analysis.arm_of_trial[i], *trial.cell_id}));
  }
  for (Counting& count : counting) {
    const size_t i = count.first_trial.at(telling_cell(count, analysis));
    const auto events = gpu_events.find(i);
    count.group.first =
        example_of(trial_at(journal, i), analysis.arm_of_trial[i],
                   events == gpu_events.end() ? std::vector<GpuEvent>() : events->second);
  }
  std::stable_sort(counting.begin(), counting.end(), [](const Counting& a, const Counting& b) {
    const SignatureGroup& one = a.group;
    const SignatureGroup& two = b.group;
    return one.failures != two.failures ? one.failures > two.failures : one.title < two.title;
  });
  link_crashes_and_hangs(counting);
  std::vector<SignatureGroup> groups;
  for (Counting& count : counting) groups.push_back(finish(count, analysis));
  return groups;
}

}  // namespace mpsprobe

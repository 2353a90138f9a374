#include "reports/signatures.h"

#include <algorithm>
#include <map>

#include "reports/text.h"
#include "reports/wording.h"

namespace mpsprobe {
namespace {

constexpr size_t kExcerptLines = 16;
constexpr size_t kExcerptWidth = 300;

FailureExample example_of(const TrialRecord& trial, size_t arm) {
  FailureExample example;
  example.arm = arm;
  example.cell = trial.cell;
  example.trial = trial.trial;
  example.judgement = trial.judgement;
  example.process = trial.judged_process;
  const auto judged = static_cast<size_t>(trial.judged_process);
  if (trial.judged_process < 0 || judged >= trial.processes.size()) return example;
  const ProcessRecord& process = trial.processes[judged];
  example.ended_by = process.ended_by;
  example.recorder = process.recorder;
  if (!process.failures.empty()) example.event = process.failures.front();
  example.excerpt = last_lines(process.err.text(), kExcerptLines, kExcerptWidth);
  if (example.excerpt.empty()) {
    example.excerpt = last_lines(process.out.text(), kExcerptLines, kExcerptWidth);
  }
  return example;
}

std::string title_of(const Judgement& judgement) {
  if (!judgement.signature.empty()) return judgement.signature;
  return failure_kind({judgement.outcome, judgement.detail, 1});
}

// A group while it is counted: by summary, and by the cell before.
struct Counting {
  SignatureGroup group;
  std::map<size_t, int> by_summary;
  std::map<std::string, int> before;
};

SignatureGroup finish(Counting& counting, const Analysis& analysis) {
  SignatureGroup group = std::move(counting.group);
  for (const auto& [summary, failures] : counting.by_summary) {
    const CellSummary& cell = analysis.cells[summary];
    group.cells.push_back({cell.arm, cell.id, failures, cell.counted});
  }
  group.before.assign(counting.before.begin(), counting.before.end());
  std::stable_sort(group.before.begin(), group.before.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return group;
}

}  // namespace

std::vector<SignatureGroup> group_by_signature(const Journal& journal, const Analysis& analysis,
                                               const std::vector<size_t>& arm_of_trial,
                                               const std::vector<size_t>& failed) {
  std::map<std::pair<size_t, std::string>, size_t> summaries;
  for (size_t i = 0; i < analysis.cells.size(); ++i) {
    summaries[{analysis.cells[i].arm, analysis.cells[i].id}] = i;
  }
  std::vector<Counting> counting;
  std::map<std::string, size_t> index;
  for (size_t i : failed) {
    const TrialRecord& trial = journal.trials[i];
    const std::string title = title_of(trial.judgement);
    const auto [at, fresh] = index.try_emplace(title, counting.size());
    if (fresh) {
      counting.emplace_back();
      SignatureGroup& group = counting.back().group;
      group.title = title;
      group.known = trial.judgement.known;
      group.first = example_of(trial, arm_of_trial[i]);
    }
    Counting& count = counting[at->second];
    ++count.group.failures;
    ++count.group.phases[std::string(name_of(trial.judgement.phase))];
    ++count.by_summary[summaries.at({arm_of_trial[i], to_string(trial.cell)})];
    ++count.before[trial.before];
  }
  std::vector<SignatureGroup> groups;
  for (Counting& count : counting) groups.push_back(finish(count, analysis));
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.failures != b.failures ? a.failures > b.failures : a.title < b.title;
  });
  return groups;
}

}  // namespace mpsprobe

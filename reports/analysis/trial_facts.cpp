#include "reports/analysis/trial_facts.h"

#include <algorithm>

#include "harness/crash_report/report_value.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostReason = 400;

// Processes run side by side; with a fresh process for each iteration, the iterations follow one
// another.
double operations_per_second_of(const TrialRecord& trial) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::map<int, double> seconds;  // by iteration
  double operations = 0;
  for (const ProcessRecord& process : trial.processes) {
    if (!process.result) return kNone;
    operations += static_cast<double>(process.result->operations);
    double& longest = seconds[process.iteration];
    longest = std::max(longest, process.result->seconds);
  }
  double total = 0;
  for (const auto& [iteration, longest] : seconds) total += longest;
  return total > 0 ? operations / total : kNone;
}

// A validation layer that does not announce itself is not in force, whatever the environment says.
bool is_validation_silent(const TrialRecord& trial) {
  const Validation asked = trial.cell.validation;
  if (asked == Validation::none) return false;
  return std::any_of(
      trial.processes.begin(), trial.processes.end(), [asked](const ProcessRecord& process) {
        return process.ready && (!process.api_validation_seen || (asked == Validation::api_shader &&
                                                                  !process.shader_validation_seen));
      });
}

// Equal where the judgements are, but for `why`, which nothing here asks for.
std::string identity_of(const Judgement& judgement) {
  std::string key{static_cast<char>(judgement.outcome), static_cast<char>(judgement.basis),
                  static_cast<char>(judgement.phase), static_cast<char>(judgement.known),
                  static_cast<char>(judgement.bystander)};
  const auto append = [&key](const std::string& text) {
    key += std::to_string(text.size()) + ":" + text;
  };
  append(judgement.detail);
  append(judgement.signature);
  for (const OtherFinding& finding : judgement.also) {
    append(finding.title);
    key += static_cast<char>(finding.known);
  }
  return key;
}

}  // namespace

std::string unsupported_in_words(const TrialRecord& trial) {
  for (const ProcessRecord& process : trial.processes) {
    for (const FailureEvent& event : process.failures) {
      if (!event.text.empty()) return shortened(event.text, kMostReason);
    }
  }
  return shortened(trial.judgement.detail, kMostReason);
}

void TrialFactsList::add(const TrialRecord& trial) {
  const size_t index = facts_.size();
  TrialFacts& facts = facts_.emplace_back();
  facts.worker = &*texts_.insert(trial.worker).first;
  const auto cell = cells_.try_emplace(to_string(trial.cell), trial.cell).first;
  facts.cell = &cell->second;
  facts.cell_id = &cell->first;
  facts.unit =
      units_.try_emplace({facts.worker, facts.cell_id}, static_cast<uint32_t>(units_.size()))
          .first->second;
  const auto [judgement, fresh] = judgements_.try_emplace(identity_of(trial.judgement));
  if (fresh) {
    judgement->second = trial.judgement;
    judgement->second.why.clear();
  }
  facts.judgement = &judgement->second;
  if (trial.judgement.outcome == Outcome::unsupported) {
    facts.unsupported = &*texts_.insert(unsupported_in_words(trial)).first;
  }
  for (const ProcessRecord& process : trial.processes) {
    ++starts_.at(static_cast<size_t>(process.start));
  }
  facts.before = &*texts_.insert(trial.before).first;
  facts.trial = trial.trial;
  facts.attempt = trial.attempt;
  facts.begun = report_time(trial.started);
  facts.seconds = trial.seconds;
  facts.operations_per_second = operations_per_second_of(trial);
  facts.validation_silent = is_validation_silent(trial);
  std::set<std::string> paths;
  std::vector<std::string> provenances;
  for (const ProcessRecord& process : trial.processes) {
    if (process.hello) provenances.push_back(process.hello->provenance);
    if (process.recorder.intact) {
      facts.most_inside = std::max(facts.most_inside, process.recorder.most_inside);
      facts.launches += process.recorder.launches;
      facts.overlapped += process.recorder.overlapped;
    }
    if (process.observation) {
      facts.observed = true;
      facts.observed_calls += process.observation->calls;
      const std::vector<std::string>& suspicions = process.observation->suspicions;
      if (facts.suspicion == nullptr && !suspicions.empty()) {
        facts.suspicion = &*texts_.insert(suspicions.front()).first;
      }
    }
    for (const GpuEvent& event : process.gpu_events) gpu_events_.emplace_back(index, event);
    if (!process.result) continue;
    // Where a process of its own was asked, its answer is better than none.
    const std::string& path = process.result->observed_path;
    if (!path.empty() && !(trial.path_probe && path == "not observed")) paths.insert(path);
    facts.checked += process.result->checked;
    facts.unchecked += process.result->unchecked;
    const ResultEvent& result = *process.result;
    if (result.inside_seconds > 0) {
      facts.inside +=
          {result.inside_seconds, result.inside_cpu_seconds, result.seconds, result.cpu_seconds};
    }
  }
  if (trial.path_probe) {
    paths.insert(trial.path_probe->path);
    if (!trial.path_probe->why.empty()) {
      facts.path_unseen = &*texts_.insert(trial.path_probe->why).first;
    }
  }
  facts.observed_paths = &*paths_.insert(std::move(paths)).first;
  facts.provenances = &*provenances_.insert(std::move(provenances)).first;
  if (trial.known_good) set_known_good(index, *trial.known_good);
}

void TrialFactsList::set_known_good(size_t index, const KnownGood& known_good) {
  // One that was ended by the user, or could not run, says nothing of the device.
  facts_[index].device_sick = is_failure(known_good.outcome);
}

// Of trials side by side it counts once, and the pause before a run was resumed does not count.
double TrialFactsList::busy_seconds() const {
  constexpr double kLongest = 1e7;  // a trial is ended long before
  std::vector<std::pair<double, double>> spans;
  for (const TrialFacts& trial : facts_) {
    const bool told = trial.begun > 0 && trial.seconds > 0 && trial.seconds < kLongest;
    if (told) spans.emplace_back(trial.begun, trial.begun + trial.seconds);
  }
  std::sort(spans.begin(), spans.end());
  double total = 0;
  double until = 0;
  for (const auto& [begin, end] : spans) {
    total += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return total;
}

}  // namespace mpsprobe

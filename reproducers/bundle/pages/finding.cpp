#include "reproducers/bundle/pages/finding.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/campaign/rerun.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/wire/axis.h"
#include "reports/analysis/devices.h"

namespace mpsprobe {
namespace {

/// The words of all axes. Each is read once a cell: thousands of cells are compared.
std::vector<std::string> axes_of(const Cell& cell) {
  std::vector<std::string> words;
  for (const Axis& axis : axes()) words.push_back(axis.read(cell));
  return words;
}

bool differ_in_one(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  int different = 0;
  for (size_t i = 0; i < one.size() && different < 2; ++i) different += one[i] == other[i] ? 0 : 1;
  return different == 1;
}

bool by_threads(const CellCount& a, const CellCount& b) {
  const auto rank = [](const CellCount& count) {
    return std::tuple(count.failures == 0, count.control, count.summary->cell.threads,
                      count.summary->cell.processes, count.summary->id, count.summary->arm);
  };
  return rank(a) < rank(b);
}

}  // namespace

std::string BundleFinding::machine(const char* fact) const {
  const nlohmann::json& value = member(evidence->journal.header.machine, fact);
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

std::vector<const SignatureGroup*> seen_with(const Analysis& analysis, const FailureGroups& groups,
                                             const SignatureGroup& signature) {
  std::set<size_t> operations;
  for (size_t i = 0; i < groups.operations.size(); ++i) {
    const auto& cells = groups.operations[i].cells;
    for (const SignatureGroup::Where& where : signature.cells) {
      if (std::find(cells.begin(), cells.end(), where.summary) != cells.end()) operations.insert(i);
    }
  }
  for (const FailureGroup& group : groups.groups) {
    const auto is_in = [&](size_t operation) { return operations.contains(operation); };
    if (std::any_of(group.operations.begin(), group.operations.end(), is_in)) {
      operations.insert(group.operations.begin(), group.operations.end());
    }
  }
  std::set<size_t> cells;
  for (const size_t i : operations) {
    cells.insert(groups.operations[i].cells.begin(), groups.operations[i].cells.end());
  }
  std::vector<const SignatureGroup*> others;
  for (const SignatureGroup& other : analysis.signatures) {
    const auto is_there = [&](const auto& where) { return cells.contains(where.summary); };
    if (&other != &signature && std::all_of(other.cells.begin(), other.cells.end(), is_there)) {
      others.push_back(&other);
    }
  }
  return others;
}

BundleFinding find(const Evidence& evidence, const SignatureGroup& group, std::string raw_title) {
  const Analysis& analysis = evidence.analysis;
  BundleFinding finding;
  finding.evidence = &evidence;
  finding.group = &group;
  finding.raw_title = std::move(raw_title);
  std::vector<std::pair<size_t, std::vector<std::string>>> failing;  // arm and axes
  std::map<size_t, int> failures;  // of a place in Analysis::cells
  for (const SignatureGroup::Where& where : group.cells) {
    failures[where.summary] = where.failures;
    failing.emplace_back(where.arm, axes_of(analysis.cells[where.summary].cell));
  }
  for (size_t i = 0; i < analysis.cells.size(); ++i) {
    const CellSummary& summary = analysis.cells[i];
    if (summary.counted == 0) continue;
    CellCount count{.summary = &summary};
    if (const auto failed = failures.find(i); failed != failures.end()) {
      count.failures = failed->second;
    }
    const std::vector<std::string> words = axes_of(summary.cell);
    const bool near = std::any_of(failing.begin(), failing.end(), [&](const auto& other) {
      return other.first == summary.arm && differ_in_one(other.second, words);
    });
    if (count.failures == 0 && !near) continue;
    count.otherwise = summary.failures - count.failures;
    count.rate = rate_interval(analysis.sampling, count.failures, summary.counted);
    count.control = summary.failures == 0;
    finding.cells.push_back(count);
  }
  std::sort(finding.cells.begin(), finding.cells.end(), by_threads);

  std::set<std::pair<std::string, std::string>> wanted;  // cell and worker
  for (const CellCount& count : finding.cells) {
    wanted.emplace(count.summary->id, analysis.arms[count.summary->arm].worker);
    if (count.failures == 0) continue;
    finding.simulated = finding.simulated || count.summary->simulated;
    finding.paravirtual = finding.paravirtual || count.summary->paravirtual;
  }
  for (const TrialRecord& trial : evidence.journal.trials) {
    if (wanted.contains({to_string(trial.cell), trial.worker})) finding.trials.push_back(&trial);
  }
  // One simulated cell makes the whole run no evidence: its other cells ran beside it.
  finding.simulated = finding.simulated || analysis.simulated;
  finding.paravirtual = finding.paravirtual || (analysis.paravirtual && !finding.simulated);
  if (finding.simulated)
    finding.watermark = "SIMULATED: " + simulation_words(analysis.own_mps_code);
  return finding;
}

std::vector<CheckedCount> count_checked(const BundleFinding& finding) {
  std::vector<CheckedCount> counts;
  std::map<std::string, size_t> places;  // of a cell, in counts
  const Cell& failing = finding.smallest().summary->cell;
  for (const TrialRecord& trial : finding.evidence->journal.trials) {
    const Cell& cell = trial.cell;
    const bool checked = cell.validation != Validation::none || cell.observe != Observe::none;
    if (!checked || cell.backend != failing.backend || cell.op != failing.op ||
        cell.path != failing.path || !is_evidence(trial.judgement.outcome)) {
      continue;
    }
    const auto [place, is_new] = places.try_emplace(to_string(cell), counts.size());
    if (is_new) {
      counts.push_back(
          {.cell = &cell,
           .enough = cell.threads >= failing.threads && cell.processes >= failing.processes});
    }
    CheckedCount& count = counts[place->second];
    ++count.trials;
    const auto all = [&trial](auto is) {
      return !trial.processes.empty() &&
             std::all_of(trial.processes.begin(), trial.processes.end(), is);
    };
    count.proved += all([&cell](const ProcessRecord& process) {
      return process.api_validation_seen &&
             (cell.validation == Validation::api || process.shader_validation_seen);
    });
    if (is_failure(trial.judgement.outcome)) {
      ++(trial.judgement.signature == finding.group->title ? count.same : count.otherwise);
    }
    if (cell.observe == Observe::none ||
        !all([](const ProcessRecord& process) { return process.observation.has_value(); })) {
      continue;
    }
    ++count.observed;
    bool suspected = false;
    for (const ProcessRecord& process : trial.processes) {
      count.calls += process.observation->calls;
      suspected = suspected || !process.observation->suspicions.empty();
    }
    const bool broken = trial.judgement.outcome == Outcome::misuse;
    count.broken += broken;
    count.suspected += !broken && suspected;
  }
  return counts;
}

BundleRecord record_of(const BundleFinding& finding) {
  const CampaignHeader& header = finding.evidence->journal.header;
  BundleRecord record;
  record.mpsprobe_version = header.mpsprobe_version;
  record.signature = finding.group->title.substr(0, kMostBundleText);
  record.simulated = finding.simulated;
  record.paravirtual = finding.paravirtual;
  record.measured = header.started;
  record.machine = {finding.machine("os"), finding.machine("os_build"), finding.machine("model"),
                    finding.machine("chip")};
  record.seed = header.seed;
  record.timeout_seconds = header.timeout_seconds;
  record.stall_seconds = header.stall_seconds;
  record.memory_limit_mib =
      std::min(own_memory_limit_mib(header).value_or(0), kMostBundleMemoryMib);
  record.environment = header.environment;
  if (record.environment.size() > 256) record.environment.resize(256);
  std::set<std::tuple<std::string, std::string, std::string, std::string, std::string>> seen;
  for (const CellCount& count : finding.cells) {
    const Arm& arm = finding.evidence->analysis.arms[count.summary->arm];
    if (record.cells.size() >= kMostBundleCells ||
        !seen.emplace(count.summary->id, arm.worker, arm.version, arm.git_hash, arm.build_id)
             .second) {
      continue;
    }
    BundleCell cell;
    cell.cell = count.summary->cell;
    cell.worker = arm.worker;
    cell.build = {arm.version, arm.git_hash, arm.build_id};
    cell.devices = count.summary->devices;
    if (cell.devices.size() > 64) cell.devices.resize(64);
    cell.failures = count.failures;
    cell.otherwise = count.otherwise;
    cell.trials = count.summary->counted;
    cell.control = count.control;
    record.cells.push_back(std::move(cell));
  }
  return record;
}

}  // namespace mpsprobe

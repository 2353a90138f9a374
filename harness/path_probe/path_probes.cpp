#include "harness/path_probe/path_probes.h"

#include "harness/path_probe/profile_log.h"
#include "harness/wire/variables.h"

namespace mpsprobe {
namespace {

constexpr int kProbeIterations = 2;

PathSeen path_seen_in(const TrialRecord& probe) {
  const Judgement& judgement = probe.judgement;
  if (judgement.outcome != Outcome::pass) {
    std::string why = "the probe process came to ";
    why += name_of(judgement.outcome);
    if (!judgement.detail.empty()) why += " " + judgement.detail;
    return {"not observed", std::move(why)};
  }
  return path_in_profile_log(probe.processes.front().err.text());
}

}  // namespace

std::optional<Cell> probe_cell_of(const Cell& cell) {
  if (cell.path == Path::automatic || !info_of(cell.backend).profile_log) return std::nullopt;
  Cell probe;
  probe.backend = cell.backend;
  probe.op = cell.op;
  probe.path = cell.path;
  probe.iterations = kProbeIterations;
  probe.shape = cell.shape;
  probe.dtype = cell.dtype;
  probe.stream = cell.stream;
  probe.profile = cell.profile;
  Variables variables = parse_variables(cell.env);
  variables[std::string(kProfileLogVariable)] = kProfileLogOperations;
  probe.env = to_axis_value(variables);
  return probe;
}

PathProbes::PathProbes(RunTrial run, const std::vector<TrialRecord>& existing)
    : run_(std::move(run)) {
  for (const TrialRecord& trial : existing) {
    if (trial.path_probe) known_[{trial.worker, trial.path_probe->cell}] = *trial.path_probe;
  }
}

TrialRecord PathProbes::run(const TrialRequest& request) {
  const std::optional<PathProbe> shown = probe(request);
  TrialRecord trial = run_(request);
  trial.path_probe = shown;
  return trial;
}

std::optional<PathProbe> PathProbes::probe(const TrialRequest& request) {
  const std::optional<Cell> cell = probe_cell_of(request.cell);
  if (!cell) return std::nullopt;
  const Key key{request.worker->name, to_string(*cell)};
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  TrialRequest asked = request;
  asked.cell = *cell;
  asked.following = TrialRequest::Following{request.worker, request.cell};
  const TrialRecord trial = run_(asked);
  // Cut short by the user, as the trial behind it will be.
  if (trial.judgement.outcome == Outcome::not_run) return std::nullopt;
  PathSeen seen = path_seen_in(trial);
  return known_.emplace(key, PathProbe{key.second, std::move(seen.path), std::move(seen.why)})
      .first->second;
}

}  // namespace mpsprobe

#include "harness/campaign/device_care.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "harness/input/json_shape.h"
#include "harness/outcome/judge.h"

namespace mpsprobe {
namespace {

/// The operation that the worker names as known-good, else mm; "" where it has no such operation.
std::string known_good_operation(const WorkerInfo& worker) {
  const auto named = worker.describe.find("known_good");
  std::string name =
      named != worker.describe.end() && named->is_string() ? named->get<std::string>() : "mm";
  const auto operations = worker.describe.find("operations");
  if (operations == worker.describe.end()) return "";
  for (const nlohmann::json& operation : *operations) {
    if (operation.is_object() && operation.value("name", nlohmann::json()) == name) return name;
  }
  return "";
}

/// Whether the trial's device is one that can be sick. A backend whose device is the library's
/// choice computes on the processor where the worker names that one.
bool is_on_real_device(const WorkerInfo& worker, const Cell& cell) {
  const BackendInfo& backend = info_of(cell.backend);
  if (!backend.devices()) return backend.real_device;
  if (cell.device == DeviceUse::cpu) return false;
  if (backend.real_device) return true;
  const nlohmann::json& backends = member(worker.describe, "backends");
  return std::any_of(backends.begin(), backends.end(), [&](const nlohmann::json& entry) {
    const nlohmann::json& device = member(entry, "device");
    return text_at(entry, "name") == backend.name && device.is_string() && device != "CPU";
  });
}

bool is_cared_for(KnownGoodPolicy policy, const WorkerInfo& worker, const Cell& cell) {
  return policy == KnownGoodPolicy::always ||
         (policy == KnownGoodPolicy::real_devices && is_on_real_device(worker, cell));
}

}  // namespace

bool is_unsettled(const TrialRecord& trial) {
  return is_unsettled(trial.judgement, trial.attempt);
}

bool is_unsettled(const Judgement& judgement, int attempt) {
  return judgement.bystander && attempt + 1 < kMostAttempts;
}

bool may_be_mended(const Judgement& judgement) {
  return judgement.outcome == Outcome::setup_failed ||
         (judgement.outcome == Outcome::infrastructure && !judgement.bystander);
}

std::optional<Cell> known_good_cell(const WorkerInfo& worker, const Cell& failed) {
  Cell cell;
  cell.op = known_good_operation(worker);
  if (cell.op.empty()) return std::nullopt;
  cell.backend = failed.backend;
  cell.profile = failed.profile;
  cell.iterations = 1;
  return cell;
}

DeviceCare::DeviceCare(RunTrial run, KnownGoodPolicy policy, const std::atomic<bool>& interrupted,
                       std::chrono::milliseconds recovery)
    : run_(std::move(run)), policy_(policy), interrupted_(interrupted), recovery_(recovery) {}

std::optional<TrialRecord> DeviceCare::attempt(const TrialRequest& request, int number) const {
  TrialRecord trial = run_(request);
  trial.attempt = number;
  if (number + 1 >= kMostAttempts) judge_bystander_alone(trial.judgement);
  if (trial.judgement.outcome == Outcome::not_run && interrupted_.load()) return std::nullopt;
  return trial;
}

DeviceLook DeviceCare::look(const TrialRequest& request, const TrialRecord& trial,
                            JournalWriter& journal) const {
  if (!is_failure(trial.judgement.outcome) || !is_cared_for(policy_, *request.worker, trial.cell)) {
    return {};
  }
  const std::optional<Cell> known_good = known_good_cell(*request.worker, trial.cell);
  if (!known_good.has_value()) return {};
  TrialRequest check = request;
  check.cell = *known_good;
  check.before = to_string(trial.cell);
  KnownGood result;
  result.cell = to_string(check.cell);
  while (result.attempts < kKnownGoodAttempts && !interrupted_.load()) {
    // A device that restarts needs a moment; the first look comes at once.
    if (result.attempts > 0) std::this_thread::sleep_for(recovery_ * result.attempts);
    ++result.attempts;
    result.outcome = run_(check).judgement.outcome;
    if (!is_failure(result.outcome)) break;
  }
  journal.append(request.sequence, result);
  // Only a failure speaks of the device; a cell that cannot run here says nothing.
  if (!is_failure(result.outcome) || interrupted_.load()) return {result.cell, ""};
  return {result.cell, fmt::format("the known-good cell {} failed {} times after {}", result.cell,
                                   result.attempts, check.before)};
}

}  // namespace mpsprobe

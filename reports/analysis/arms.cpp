#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/wire/loaded_library.h"
#include "reports/analysis/devices.h"
#include "reports/analysis/steps.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

void describe_arm(Arm& arm, const json& provenance) {
  LibraryUnderTest library = library_under_test(provenance);
  if (library.packages.empty()) library.packages = std::move(arm.packages);
  static_cast<LibraryUnderTest&>(arm) = std::move(library);
}

void add_device(Arm& arm, const json& provenance) {
  const std::string device = device_of(provenance);
  if (device.empty()) return;
  if (std::find(arm.devices.begin(), arm.devices.end(), device) == arm.devices.end()) {
    arm.devices.push_back(device);
  }
}

void add_stack(Arm& arm, const json& provenance) {
  const json& bytes = member(provenance, "thread_stack");
  if (bytes.is_number_unsigned() && bytes.get<uint64_t>() > 0) {
    arm.stacks.insert(bytes.get<uint64_t>());
  }
}

// What identifies the build and the device of a trial: nothing where no process said, or where its
// processes contradict each other.
struct Identity {
  bool known = false;
  bool contradicts = false;
  json provenance;
  std::string build;
  std::string device;
};

Identity identify(const Journal& journal, const std::vector<std::string>& provenances) {
  Identity identity;
  for (const std::string& name : provenances) {
    const json provenance = provenance_named(journal, name);
    const bool lost = is_provenance_lost(journal, name);
    if (!provenance.is_object() && !lost) continue;
    // What it said cannot be read any more: a build of its own, which nothing describes.
    const std::string build = lost ? "lost: " + name : ascii_json_text(library_object(provenance));
    const std::string device = ascii_json_text(member(provenance, "device"));
    if (!identity.known) {
      identity = {true, false, provenance, build, device};
    } else if (identity.build != build || identity.device != device) {
      identity.contradicts = true;
    }
  }
  return identity;
}

// The arms of one worker, as they come to light.
struct WorkerArms {
  std::vector<Arm> arms;
  std::map<std::pair<std::string, size_t>, size_t> by_build;  ///< build, which device of it
  // The devices that one build had for one backend: more than one, and its trials are kept apart.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> devices;
  std::optional<size_t> unknown;
};

size_t known_arm(WorkerArms& worker, const Arm& blank, const json& described,
                 const Identity& identity, const Cell& cell) {
  const std::string scope = std::string(name_of(cell.backend)) + "/" + cell.profile;
  std::vector<std::string>& devices = worker.devices[{identity.build, scope}];
  const auto seen = std::find(devices.begin(), devices.end(), identity.device);
  const auto which = static_cast<size_t>(seen - devices.begin());
  if (seen == devices.end()) devices.push_back(identity.device);
  const auto [at, fresh] = worker.by_build.try_emplace({identity.build, which}, worker.arms.size());
  if (fresh) {
    worker.arms.push_back(blank);
    // What an own command loads is known of its worker's answer alone.
    const bool own = member(identity.provenance, "own_command") == true;
    // The packages are told once.
    describe_arm(worker.arms.back(), described);
    if (!own) describe_arm(worker.arms.back(), identity.provenance);
    worker.arms.back().proved = identity.provenance.is_object();
  }
  add_device(worker.arms[at->second], identity.provenance);
  add_stack(worker.arms[at->second], identity.provenance);
  return at->second;
}

size_t unknown_arm(WorkerArms& worker, const Arm& blank) {
  if (!worker.unknown) {
    worker.unknown = worker.arms.size();
    worker.arms.push_back(blank);
  }
  return *worker.unknown;
}

}  // namespace

Arms divide_into_arms(const Journal& journal, const TrialFactsList& trials) {
  std::vector<std::string> names;
  std::map<std::string, Arm> blanks;
  std::map<std::string, json> described;
  for (const WorkerInfo& info : journal.header.workers) {
    if (blanks.contains(info.name)) continue;
    names.push_back(info.name);
    blanks[info.name].worker_path = info.path;
    described[info.name] = member(info.describe, "provenance");
  }
  for (const TrialFacts& trial : trials) {
    if (blanks.try_emplace(*trial.worker).second) names.push_back(*trial.worker);
  }

  std::map<std::string, WorkerArms> workers;
  std::map<const std::vector<std::string>*, Identity> identities;
  // Trials of one cell by one worker that say the same of where they ran.
  std::map<std::pair<uint32_t, const std::vector<std::string>*>, std::optional<size_t>> alike;
  std::vector<uint32_t> local(trials.size());
  std::vector<size_t> undecided;
  for (size_t i = 0; i < trials.size(); ++i) {
    const TrialFacts& trial = trials[i];
    const auto [at, fresh] = alike.try_emplace({trial.unit, trial.provenances});
    if (fresh) {
      const auto [found, unseen] = identities.try_emplace(trial.provenances);
      if (unseen) found->second = identify(journal, *trial.provenances);
      const Identity& identity = found->second;
      WorkerArms& worker = workers[*trial.worker];
      if (identity.contradicts) {
        at->second = unknown_arm(worker, blanks[*trial.worker]);
      } else if (identity.known) {
        at->second = known_arm(worker, blanks[*trial.worker], described[*trial.worker], identity,
                               *trial.cell);
      }
    }
    if (at->second) {
      local[i] = static_cast<uint32_t>(*at->second);
    } else {
      undecided.push_back(i);
    }
  }
  // A trial that died before it could say what it ran on belongs to the worker's build as long as
  // there is only one.
  for (size_t i : undecided) {
    WorkerArms& worker = workers[*trials[i].worker];
    const bool one = worker.arms.size() == 1 && worker.arms[0].proved;
    local[i] = one ? 0 : static_cast<uint32_t>(unknown_arm(worker, blanks[*trials[i].worker]));
  }

  Arms result;
  std::map<std::string, uint32_t> first;
  for (const std::string& name : names) {
    WorkerArms& worker = workers[name];
    if (worker.arms.empty()) worker.arms.push_back(blanks[name]);
    first[name] = static_cast<uint32_t>(result.arms.size());
    if (worker.arms.size() > 1) result.divided.push_back(name);
    for (size_t k = 0; k < worker.arms.size(); ++k) {
      Arm arm = worker.arms[k];
      arm.worker = name;
      arm.label = name;
      if (worker.arms.size() > 1) {
        arm.label += worker.unknown == k ? ", build unknown" : ", build " + std::to_string(k + 1);
      } else if (!arm.proved) {
        describe_arm(arm, described[name]);
      }
      result.arms.push_back(std::move(arm));
    }
  }
  for (size_t i = 0; i < trials.size(); ++i) {
    result.of_trial.push_back(first[*trials[i].worker] + local[i]);
  }
  return result;
}

}  // namespace mpsprobe

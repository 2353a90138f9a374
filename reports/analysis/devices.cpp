#include "reports/analysis/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/platform/device_class.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

std::string device_text(const json& device) {
  if (device.is_string()) return device.get<std::string>();
  if (!device.is_object()) return "";
  for (const char* key : {"name", "device", "description"}) {
    if (member(device, key).is_string()) return text_at(device, key);
  }
  return ascii_json_text(device);
}

bool says_simulated(const json& provenance) {
  const auto yes = [](const json& value) { return value.is_boolean() && value.get<bool>(); };
  return yes(member(provenance, "simulated")) ||
         yes(member(member(provenance, "device"), "simulated")) ||
         yes(member(member(provenance, "sim"), "simulated"));
}

// What a worker answered to `describe` of a backend; null where it said nothing.
const json& described(const CampaignHeader& header, const std::string& worker, Backend backend) {
  static const json kNull;
  for (const WorkerInfo& info : header.workers) {
    const json& backends = member(info.describe, "backends");
    if (info.name != worker || !backends.is_array()) continue;
    for (const json& entry : backends) {
      if (text_at(entry, "name") == name_of(backend)) return entry;
    }
  }
  return kNull;
}

}  // namespace

json provenance_named(const Journal& journal, const std::string& name) {
  const auto at = journal.provenances.find(name);
  if (at != journal.provenances.end()) return at->second;
  const json parsed = parsed_if_json(name);
  return parsed.is_object() ? parsed : json(nullptr);
}

bool is_provenance_lost(const Journal& journal, const std::string& name) {
  return !name.empty() && !journal.provenances.contains(name) &&
         provenance_named(journal, name).is_null();
}

std::string device_of(const json& provenance) {
  return device_text(member(provenance, "device"));
}

DevicesSaid devices_said(const Journal& journal, const std::vector<std::string>& provenances) {
  DevicesSaid said;
  for (const std::string& name : provenances) {
    const json provenance = provenance_named(journal, name);
    said.simulated = said.simulated || says_simulated(provenance);
    said.names.push_back(device_of(provenance));
  }
  return said;
}

bool is_simulated(const CampaignHeader& header, const std::string& worker, Backend backend) {
  return backend == Backend::sim || says_simulated(described(header, worker, backend));
}

std::string own_mps_code(const std::vector<std::string>& devices) {
  for (const std::string& device : devices) {
    if (device.starts_with("PyTorch's own MPS code ")) return shortened(printable(device), 120);
  }
  return "";
}

std::string simulation_words(const std::string& own_mps_code) {
  if (own_mps_code.empty()) {
    return "ran on a simulated Metal device with planted defects: no evidence about Apple's "
           "software, any GPU or "
           "PyTorch's MPS backend";
  }
  return fmt::format(
      "ran on {}: it shows what PyTorch's code does against Metal's documented rules and C++'s "
      "memory "
      "model, and nothing of MPSGraph's insides, a driver or a GPU. Never evidence about Apple",
      own_mps_code);
}

bool is_simulated(const CampaignHeader& header) {
  const std::set<Backend> backends = header.cells.backends();
  return std::any_of(header.workers.begin(), header.workers.end(), [&](const WorkerInfo& worker) {
    return std::any_of(backends.begin(), backends.end(),
                       [&](Backend backend) { return is_simulated(header, worker.name, backend); });
  });
}

bool is_paravirtual(const Journal& journal, const std::string& worker, Backend backend,
                    const std::vector<std::string>& devices) {
  return info_of(backend).apple_gpu &&
         (std::any_of(devices.begin(), devices.end(), names_paravirtual) ||
          names_paravirtual(ascii_json_text(journal.header.machine)) ||
          names_paravirtual(text_at(described(journal.header, worker, backend), "device")));
}

DeviceKinds device_kinds(const Journal& journal) {
  DeviceKinds kinds;
  // A million trials are of a few workers, cells and devices.
  std::map<std::string, DevicesSaid> said;  // by a process's provenance
  std::set<std::tuple<std::string, Backend, std::string>> seen;
  const auto add = [&](const std::string& worker, Backend backend, const std::string& provenance) {
    if (!seen.emplace(worker, backend, provenance).second) return;
    const auto [devices, fresh] = said.try_emplace(provenance);
    if (fresh && !provenance.empty()) devices->second = devices_said(journal, {provenance});
    const bool simulated =
        devices->second.simulated || is_simulated(journal.header, worker, backend);
    kinds.simulated = kinds.simulated || simulated;
    kinds.paravirtual = kinds.paravirtual || (!simulated && is_paravirtual(journal, worker, backend,
                                                                           devices->second.names));
  };
  for (const WorkerInfo& worker : journal.header.workers) {
    for (Backend backend : journal.header.cells.backends()) add(worker.name, backend, "");
  }
  for_each_trial(journal, [&](const TrialRecord& trial) {
    add(trial.worker, trial.cell.backend, "");
    for (const ProcessRecord& process : trial.processes) {
      if (process.hello) add(trial.worker, trial.cell.backend, process.hello->provenance);
    }
  });
  return kinds;
}

}  // namespace mpsprobe

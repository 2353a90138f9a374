#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// The provenance that a process reported, HelloEvent::provenance: looked up in the journal, or as
/// it came. Null where it is none.
nlohmann::json provenance_named(const Journal& journal, const std::string& name);

/// Whether a process told its provenance and the journal does not have it any more: the line that
/// held it was damaged.
bool is_provenance_lost(const Journal& journal, const std::string& name);

/// What a process calls its device; "" where it does not say.
std::string device_of(const nlohmann::json& provenance);

/// What the processes of a trial say of their devices.
struct DevicesSaid {
  std::vector<std::string> names;  ///< one of each process, "" where it does not say
  bool simulated = false;
};

/// Of processes with these provenances.
DevicesSaid devices_said(const Journal& journal, const std::vector<std::string>& provenances);

/// Whether what a worker runs on a backend is simulated, by the backend itself or by the worker's
/// answer to `describe`: beside `sim` the backend mps on the stand-in, and metal away from a Mac.
/// The one place that decides it before a trial has run; a process says it once more.
bool is_simulated(const CampaignHeader& header, const std::string& worker, Backend backend);

/// The name of PyTorch's own MPS code over a simulated Metal, as its worker tells it (docs/mps.md),
/// where one of the devices is that; else nothing.
std::string own_mps_code(const std::vector<std::string>& devices);

/// What a simulated result is never quoted without, one sentence: on what it ran, and of what it is
/// no evidence.
std::string simulation_words(const std::string& own_mps_code);

/// Whether anything that is planned is simulated.
bool is_simulated(const CampaignHeader& header);

/// Whether a backend of Apple's GPU is that of a virtual Mac: `devices` are what processes call
/// theirs. A worker that must not touch Metal before its cell does names only the processor; what
/// it answered to `describe`, or what the machine calls itself, then tells. Of no use for what is
/// simulated.
bool is_paravirtual(const Journal& journal, const std::string& worker, Backend backend,
                    const std::vector<std::string>& devices);

/// What a result is never quoted without.
struct DeviceKinds {
  bool simulated = false;    ///< something was planned for, or ran on, a simulated device
  bool paravirtual = false;  ///< or on the GPU of a virtual Mac
};

/// Of a whole journal, by its trials and by what is planned in it, without its analysis. Pure;
/// never throws for what a worker claimed, however odd.
DeviceKinds device_kinds(const Journal& journal);

}  // namespace mpsprobe

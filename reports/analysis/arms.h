#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/analysis/trial_facts.h"

namespace mpsprobe {

/// Which arm every trial of a journal belongs to. An arm is one worker with one build of the
/// library on one device; where a worker's trials differ in that, it has several, and they are kept
/// apart.
struct Arms {
  std::vector<Arm> arms;             ///< those of one worker together, in the order of the plan
  std::vector<uint32_t> of_trial;    ///< by index into the journal's trials
  std::vector<std::string> divided;  ///< workers with more than one arm
};

/// Pure; never throws for what a worker claimed, however odd.
Arms divide_into_arms(const Journal& journal, const TrialFactsList& trials);

/// The provenance that a process reported, HelloEvent::provenance: looked up in the journal, or as
/// it came. Null where it is none.
nlohmann::json provenance_named(const Journal& journal, const std::string& name);

/// What a process calls its device; "" where it does not say.
std::string device_of(const nlohmann::json& provenance);

/// True where a provenance says that its device is simulated.
bool says_simulated(const nlohmann::json& provenance);

/// True where the worker's answer to `describe` says so of a backend.
bool describes_simulated(const Journal& journal, const std::string& worker, Backend backend);

/// True where the machine, or the worker's answer to `describe` for a backend on Apple's GPU, names
/// a paravirtual device. What processes name themselves is in CellSummary::devices.
bool describes_paravirtual(const Journal& journal, const std::string& worker, Backend backend);

}  // namespace mpsprobe

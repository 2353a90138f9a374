#pragma once

#include <nlohmann/json.hpp>

#include "harness/trial.h"

namespace mpsprobe {

/// A trial as raw as it was recorded, for report.json. Addresses are hexadecimal text, since a JSON
/// number does not hold 64 bits everywhere.
nlohmann::ordered_json trial_json(const TrialRecord& trial);

/// What a flight recorder held.
nlohmann::ordered_json recorder_json(const RecorderReading& recorder);
nlohmann::ordered_json judgement_json(const Judgement& judgement);
nlohmann::ordered_json failure_json(const FailureEvent& failure);

}  // namespace mpsprobe

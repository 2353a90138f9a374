#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/record/trial.h"

namespace mpsprobe {

/// A trial as the journal and report.json hold it: what its fields (harness/record/trial_fields.h)
/// say. Text of a child becomes valid UTF-8; addresses and offsets are text in hexadecimal.
nlohmann::json trial_to_json(const TrialRecord& trial);

/// The inverse. Throws nlohmann::json::exception or InputError where the object is no trial.
TrialRecord trial_from_json(const nlohmann::json& object);

}  // namespace mpsprobe

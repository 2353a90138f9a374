#pragma once

#include <nlohmann/json.hpp>

#include "harness/record/trial.h"

namespace mpsprobe {

/// A trial as the journal and report.json hold it. Text of a child becomes valid UTF-8.
nlohmann::json trial_to_json(const TrialRecord& trial);

/// The inverse. Throws nlohmann::json::exception or InputError where the object is no trial.
TrialRecord trial_from_json(const nlohmann::json& object);

nlohmann::json known_good_to_json(const KnownGood& known_good);
KnownGood known_good_from_json(const nlohmann::json& object);

/// Parts of a trial, where a reader of the report meets them alone.
nlohmann::json judgement_to_json(const Judgement& judgement);
nlohmann::json recorder_to_json(const RecorderReading& recorder);
nlohmann::json failure_to_json(const FailureEvent& failure);

/// `text` as valid UTF-8: every byte that is none becomes U+FFFD.
std::string valid_utf8(const std::string& text);

}  // namespace mpsprobe

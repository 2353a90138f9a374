#pragma once

#include <nlohmann/json.hpp>

#include "harness/journal/journal.h"

namespace mpsprobe {

nlohmann::json header_to_json(const CampaignHeader& header);
/// The inverse. Throws nlohmann::json::exception or InputError where the object is no header.
CampaignHeader header_from_json(const nlohmann::json& object);

}  // namespace mpsprobe

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/expectations/expectations.h"

namespace mpsprobe {

/// An entry as it stands in a file. Pure.
nlohmann::ordered_json entry_json(const KnownFailure& known);

/// Where and what an entry is of, as text: two entries with the same one are one. Pure.
std::string identity_of(const KnownFailure& known);

}  // namespace mpsprobe

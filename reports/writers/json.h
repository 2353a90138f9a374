#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/analysis/analysis.h"
#include "reports/writers/atomic_file.h"

namespace mpsprobe {

/// Writes the report as JSON, in the form of json_members.h, version 2: what was
/// run, everything derived from it, and every trial raw, one a line, ASCII as json_document.
void write_report_json(const Journal& journal, const Analysis& analysis, const Sink& sink);

/// The same without the trials, whose list is empty here. Text from workers is not yet valid UTF-8:
/// write it out with `json_document`.
nlohmann::ordered_json report_json(const Journal& journal, const Analysis& analysis);

}  // namespace mpsprobe

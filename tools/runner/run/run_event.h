#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "harness/campaign/campaign.h"
#include "reports/analysis/analysis.h"

namespace mpsprobe {

// What happens in a run, in the order in which it happens. What an event refers to lives for as
// long as the call that hands it on.

struct RunBegan {
  const CampaignHeader& header;
  const std::filesystem::path& folder;
  bool goes_on;  ///< one that was cut short is resumed
};

struct TrialEnded {
  const TrialRecord& trial;
  const Progress& progress;
};

struct RunEnded {
  const CampaignEnd& end;
  const Analysis& analysis;
};

using RunEvent = std::variant<RunBegan, TrialEnded, RunEnded>;

/// An event as a line of --events, with its newline: JSON, ASCII, by
/// reports/schema/events.schema.json. Pure.
std::string event_line(const RunEvent& event);

/// The line that stands where `count` events were dropped.
std::string missed_line(size_t count);

}  // namespace mpsprobe

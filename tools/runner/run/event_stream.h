#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "harness/campaign/campaign.h"
#include "reports/analysis/analysis.h"
#include "tools/runner/run/line_writer.h"

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

/// What happens in a run, for programs, while it happens: --events. No reader holds the run up: one
/// that is too slow gets a line that counts what it missed, one that comes late gets what was kept
/// for it. A file that cannot be written to any more is told of once, and ends no run. Not thread
/// safe.
class EventStream {
 public:
  /// Without a file nothing is written. `goes_on`: of a resumed run, whose file may hold what came
  /// before. Throws InputError for a file that cannot be opened, or holds something and does not go
  /// on.
  EventStream(const std::optional<std::string>& file, bool goes_on);
  /// Waits a little for a reader who is behind, and says what nobody took.
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void on(const RunEvent& event);

 private:
  std::string name_;
  std::unique_ptr<LineWriter> writer_;
  size_t missed_ = 0;  ///< since the last line that was taken
  size_t lost_ = 0;    ///< altogether
};

}  // namespace mpsprobe

#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/campaign/campaign.h"
#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What happens in a run, for programs, while it happens: one JSON object a line, each line written
/// at once. The form is reports/schema/events.schema.json. A file that cannot be written to any
/// more is told of once, and ends no run. Not thread safe.
class EventStream {
 public:
  /// Without a file nothing is written. `goes_on`: of a resumed run, whose file may hold what came
  /// before. Throws InputError for a file that cannot be opened, or holds something and does not go
  /// on.
  EventStream(const std::optional<std::string>& file, bool goes_on);

  void start(const CampaignHeader& header, const std::filesystem::path& folder, bool goes_on);
  void trial(const TrialRecord& trial, const Progress& progress);
  void end(const CampaignEnd& end, const Analysis& analysis);

 private:
  void write(const std::string& line);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace mpsprobe

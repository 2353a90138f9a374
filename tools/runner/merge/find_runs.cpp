#include "tools/runner/merge/find_runs.h"

#include <algorithm>
#include <system_error>

namespace mpsprobe {

std::vector<NamedJournal> runs_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders{folder};
  std::error_code error;  // no folder, no run
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    folders.push_back(entry.path());
  }
  std::sort(folders.begin() + 1, folders.end());
  std::vector<NamedJournal> runs;
  for (const std::filesystem::path& each : folders) {
    const std::filesystem::path file = each / "journal.ndjson";
    // A journal without a whole first line is of a run that never began.
    if (!std::filesystem::is_regular_file(file, error) || !has_first_record(file)) continue;
    runs.push_back(named_journal(each.string(), file));
  }
  return runs;
}

}  // namespace mpsprobe

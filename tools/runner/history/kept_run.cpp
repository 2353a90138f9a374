#include "tools/runner/history/kept_run.h"

#include <filesystem>

#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/evidence.h"

namespace mpsprobe {

namespace fs = std::filesystem;

KeptRun kept_run(const std::string& name) {
  const fs::path file = folder_of_run(name) / "journal.ndjson";
  std::error_code error;
  if (!fs::exists(file, error)) {
    throw InputError(printable(name), "holds no journal.ndjson", "Name the folder of a run");
  }
  const auto [journal, analysis] = analyse_file(file);
  return kept_run(name, journal, analysis);
}

KeptRun kept_run(const std::string& name, const Journal& journal, const Analysis& analysis) {
  KeptRun run;
  run.id =
      journal.run.empty() ? journal.header.started + " " + journal.header.matrix_name : journal.run;
  run.parts.insert(journal.header.merged_from.begin(), journal.header.merged_from.end());
  if (run.parts.empty()) run.parts.insert(run.id);
  run.facts = run_facts(name, analysis);
  return run;
}

}  // namespace mpsprobe

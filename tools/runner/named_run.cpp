#include "tools/runner/named_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "harness/campaign/merge.h"
#include "harness/input/input_error.h"
#include "reports/difference/difference.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/evidence.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostReportBytes = uintmax_t{1} << 30;

/// The report alone, where its journal is elsewhere. The records of its trials are not needed.
RunFacts facts_of_report_file(const std::string& name, const fs::path& file) {
  if (fs::file_size(file) > kMostReportBytes) {
    throw InputError(printable(file.string()), "is larger than 1 GiB",
                     "Name the folder of its run");
  }
  std::ifstream stream(file, std::ios::binary);
  const auto without_trials = [](int depth, nlohmann::json::parse_event_t event,
                                 nlohmann::json& parsed) {
    return !(depth == 1 && event == nlohmann::json::parse_event_t::key && parsed == "trials");
  };
  return run_facts(name, nlohmann::json::parse(stream, without_trials, false));
}

}  // namespace

RunFacts named_facts(const std::string& name) {
  const fs::path folder = folder_of_run(name);
  const fs::path journal = folder / "journal.ndjson";
  std::error_code error;
  if (fs::exists(journal, error)) return run_facts(name, analyse_file(journal).analysis);
  const fs::path report =
      fs::is_regular_file(name, error) ? fs::path(name) : folder / "report.json";
  if (fs::is_regular_file(report, error)) return facts_of_report_file(name, report);
  if (std::vector<NamedJournal> shards = runs_below(folder); !shards.empty()) {
    return run_facts(name, analyse(merge_journals(std::move(shards))));
  }
  throw InputError(printable(name), "holds neither journal.ndjson nor report.json",
                   "Name the folder of a run, or its report.json");
}

void refuse_unlike(const RunFacts& before, const RunFacts& after,
                   const std::set<std::string>& across) {
  const Unlike found = unlike(before, after);
  const std::string both = printable(before.name) + " and " + printable(after.name);
  if (found.device_class) {
    throw InputError(both, "are of a simulated device and of a real one",
                     "Nothing follows from such a comparison");
  }
  for (const auto& [what, differs] :
       {std::pair("machine", &found.machines), std::pair("library", &found.libraries),
        std::pair("code", &found.code)}) {
    if (differs->empty() || across.contains(what)) continue;
    throw InputError(
        both, printable(fmt::format("ran with another {}: {}", what, fmt::join(*differs, "; "))),
        fmt::format("Where that is the question, ask `mpsprobe diff` with --across {}", what));
  }
}

}  // namespace mpsprobe

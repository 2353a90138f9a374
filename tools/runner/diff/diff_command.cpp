#include "tools/runner/diff/diff_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/campaign/merge.h"
#include "harness/journal/journal.h"
#include "harness/wire/input_error.h"
#include "harness/wire/near_name.h"
#include "reports/difference/difference_words.h"
#include "reports/words/text.h"
#include "reports/writers/json.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/merge/find_runs.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// Words of a list with commas, each of them known. Throws InputError.
std::set<std::string> words_of(const std::string& option, const std::string& list,
                               const std::vector<std::string>& known) {
  std::set<std::string> words;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin);
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw InputError(option + " " + shortened(printable(word), 60),
                       "is not known" + did_you_mean(word, known),
                       fmt::format("There are: {}", fmt::join(known, ", ")));
    }
    words.insert(word);
    begin = end + 1;
  }
  return words;
}

/// The report alone, where its journal is elsewhere. The records of its trials are not needed.
RunFacts facts_of_report_file(const std::string& name, const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const auto without_trials = [](int depth, nlohmann::json::parse_event_t event,
                                 nlohmann::json& parsed) {
    return !(depth == 1 && event == nlohmann::json::parse_event_t::key && parsed == "trials");
  };
  return run_facts(name, nlohmann::json::parse(stream, without_trials, false));
}

RunFacts facts_of(const std::string& name) {
  const fs::path folder = folder_of_run(name);
  const fs::path journal = folder / "journal.ndjson";
  std::error_code error;
  if (fs::exists(journal, error)) return run_facts(name, analyse(read_journal(journal)));
  const fs::path report =
      fs::is_regular_file(name, error) ? fs::path(name) : folder / "report.json";
  if (fs::exists(report, error)) return facts_of_report_file(name, report);
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
  const auto refuse = [&](const std::vector<std::string>& differs, const char* word,
                          const char* what) {
    if (differs.empty() || across.contains(word)) return;
    throw InputError(
        both, printable(fmt::format("ran with another {}: {}", what, fmt::join(differs, "; "))),
        fmt::format("Where that is the question, ask with --across {}", word));
  };
  refuse(found.machines, "machine", "machine");
  refuse(found.libraries, "library", "library");
}

bool is_worse(const CellChange& change) {
  return change.change == Change::new_failure || change.change == Change::new_signature ||
         change.change == Change::more_often;
}

bool is_new(const CellChange& change) {
  return change.change == Change::new_failure || change.change == Change::new_signature;
}

bool found_what_fails(const Difference& difference, const std::set<std::string>& fail_on) {
  const auto& changes = difference.changes;
  if (fail_on.contains("new") && std::any_of(changes.begin(), changes.end(), is_new)) return true;
  if (fail_on.contains("worse") && std::any_of(changes.begin(), changes.end(), is_worse)) {
    return true;
  }
  return fail_on.contains("unexpected") && !difference.unexpected.empty();
}

}  // namespace

void add_diff_options(CLI::App& app, DiffOptions& options) {
  app.add_option("before", options.before, "folder of a run or of shards, or a report.json")
      ->required()
      ->type_name("BEFORE");
  app.add_option("after", options.after, "the run that is compared with it")
      ->required()
      ->type_name("AFTER");
  app.add_option("--across", options.across,
                 "compare although these are unlike: machine, library [neither]")
      ->type_name("WHAT[,WHAT]");
  app.add_option("--fail-on", options.fail_on, "exit with 1 on: new, worse, unexpected [nothing]")
      ->type_name("WHAT[,WHAT]");
  app.add_flag("--json", options.json, "as JSON");
}

int diff_command_line(const DiffOptions& options) {
  const std::set<std::string> across = words_of("--across", options.across, {"machine", "library"});
  const std::set<std::string> fail_on =
      words_of("--fail-on", options.fail_on, {"new", "worse", "unexpected"});
  const RunFacts before = facts_of(options.before);
  const RunFacts after = facts_of(options.after);
  refuse_unlike(before, after, across);
  const Difference difference = compare_runs(before, after);
  if (options.json) {
    say(stdout, "{}", json_text(difference_json(before, after, difference)));
  } else {
    say(stdout, "{}", difference_text(before, after, difference));
  }
  if (found_what_fails(difference, fail_on)) return kExitFound;
  if (difference.compared == 0) {
    say(stderr, "mpsprobe: nothing to compare: no cell has results in both runs\n");
    return kExitNothingRun;
  }
  if (before.undone + after.undone == 0) return kExitOk;
  say(stderr, "mpsprobe: incomplete: a run did not do all that was planned\n");
  return kExitIncomplete;
}

}  // namespace mpsprobe

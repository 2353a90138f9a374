#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "harness/input/json_text.h"
#include "reports/difference/difference_words.h"
#include "tools/runner/command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/named_run.h"
#include "tools/runner/option_check.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

/// What `mpsprobe diff` was asked for.
struct DiffOptions {
  std::string before;
  std::string after;
  std::string across;   ///< "machine", "library", "code": unlike there, and meant to be
  std::string fail_on;  ///< "new", "worse", "unexpected", several with commas
  bool json = false;
};

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

void add_diff_options(CLI::App& app, DiffOptions& options) {
  app.add_option("before", options.before, "folder of a run or of shards, or a report.json")
      ->required()
      ->type_name("BEFORE");
  app.add_option("after", options.after, "the run that is compared with it")
      ->required()
      ->type_name("AFTER");
  app.add_option("--across", options.across,
                 "compare although these are unlike: machine, library, code of your own [none]")
      ->check(list_of({"machine", "library", "code"}))
      ->type_name("WHAT[,WHAT]");
  app.add_option("--fail-on", options.fail_on, "exit with 1 on: new, worse, unexpected [nothing]")
      ->check(list_of({"new", "worse", "unexpected"}))
      ->type_name("WHAT[,WHAT]");
  app.add_flag("--json", options.json, "as JSON");
}

/// `mpsprobe diff`. Returns the exit code; throws InputError for runs that are unlike where that
/// was not asked for, and JournalError.
int diff_command_line(const DiffOptions& options) {
  const std::set<std::string> across = words_in(options.across);
  const std::set<std::string> fail_on = words_in(options.fail_on);
  const RunFacts before = named_facts(options.before);
  const RunFacts after = named_facts(options.after);
  refuse_unlike(before, after, across);
  const Difference difference = compare_runs(before, after);
  if (options.json) {
    say(stdout, "{}", json_document(difference_json(before, after, difference)));
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

}  // namespace

RunCommand add_diff(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_diff_options, diff_command_line);
}

}  // namespace mpsprobe

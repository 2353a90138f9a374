#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "reports/expectations/expectation_words.h"
#include "reports/expectations/judge_expectations.h"
#include "reports/expectations/write_expectations.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "tools/runner/command.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/expect/fail_on.h"
#include "tools/runner/history/history_file.h"
#include "tools/runner/option_check.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

/// What `mpsprobe expect` was asked for.
struct ExpectOptions {
  std::string action;
  std::vector<std::string> runs;
  std::optional<std::string> from;  ///< of `update`: --from
  std::string file = "expectations.json";
  std::optional<std::string> history;  ///< --db
  std::string fail_on = "new,worse";
  bool json = false;
};

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the system follows

/// Where a user's own file lies: where it is a symbolic link, that stays one.
fs::path target_of(const std::string& file) {
  fs::path target = file;
  std::error_code error;
  for (int links = 0; fs::is_symlink(target, error); ++links) {
    if (links == kMostLinks) {
      throw InputError(printable(file), "is a link that leads back to itself",
                       "Name another file with --expectations");
    }
    target = target.parent_path() / fs::read_symlink(target);
  }
  return target;
}

int check(const ExpectOptions& options) {
  if (options.runs.empty()) {
    throw InputError("expect check", "nothing says which run", "Name the folders of runs");
  }
  const std::set<std::string> fail_on = words_in(options.fail_on);
  const std::vector<KnownFailure> known = find_known_failures(options.file);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  bool found = false;
  int undone = 0;
  int64_t counted_trials = 0;
  for (const std::string& name : options.runs) {
    const KeptRun run = kept_run(name);
    const Findings findings =
        judge_expectations(known, run.facts, earlier_nights(run, options.history));
    found = found || found_in(findings, fail_on);
    undone += run.facts.undone;
    for (const auto& [key, cell] : run.facts.cells) counted_trials += cell.counted;
    list.push_back(findings_json(known, run.facts, findings));
    text += (text.empty() ? "" : "\n") + findings_text(known, run.facts, findings);
  }
  say(stdout, "{}", options.json ? json_document(list) : text);
  if (found) return kExitFound;
  if (counted_trials == 0) {
    say(stderr, "mpsprobe: nothing to judge: no trial came to a result that counts\n");
    return kExitNothingRun;
  }
  if (undone == 0) return kExitOk;
  say(stderr, "mpsprobe: incomplete: a run did not do all that was planned\n");
  return kExitIncomplete;
}

int update(const ExpectOptions& options) {
  if (!options.from || !options.runs.empty()) {
    throw InputError("expect update", "takes one run", "Name its folder: --from RUN");
  }
  std::error_code error;
  const bool there = fs::exists(options.file, error);
  const std::string text = there ? read_expectations_file(options.file) : "";
  const std::string place = printable(options.file);
  const std::vector<KnownFailure> known =
      there ? parse_expectations(text, place) : std::vector<KnownFailure>();
  const KeptRun run = kept_run(*options.from);
  const Findings findings =
      judge_expectations(known, run.facts, earlier_nights(run, options.history));
  const ExpectationsUpdate updated = update_expectations(text, place, known, run.facts, findings);
  if (!there || updated.text != text) {
    write_atomically(target_of(options.file), updated.text, "it is as it was before");
  }
  for (const std::string& line : updated.changes) say(stdout, "{}\n", line);
  say(stderr, "{}: {}, {} as they were\n", place, counted(updated.changes.size(), "changes"),
      updated.unchanged);
  return kExitOk;
}

void add_expect_options(CLI::App& app, ExpectOptions& options) {
  app.add_option("action", options.action,
                 "check: judge runs by what is known; update: record what a run adds to it")
      ->required()
      ->check(one_of({"check", "update"}))
      ->type_name("ACTION");
  app.add_option("runs", options.runs, "of `check`: folders of runs")->type_name("RUN...");
  app.add_option("--from", options.from, "of `update`: the folder of a run")->type_name("RUN");
  app.add_option("--expectations", options.file, "the known failures")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--db", options.history,
                 "a history: what its earlier nights on the same machine saw is evidence as well")
      ->type_name("FILE");
  app.add_option("--fail-on", options.fail_on,
                 "of `check`: exit with 1 on: new, worse (new, or more often than known), unseen "
                 "(not for long), "
                 "expired, never")
      ->check(list_of({"new", "worse", "unseen", "expired", "never"}))
      ->type_name("WHAT[,WHAT]")
      ->capture_default_str();
  app.add_flag("--json", options.json, "of `check`: as JSON");
}

/// Judges runs by known failures, or records what a run adds to them. Returns the exit code. Throws
/// InputError, JournalError, HistoryError, ReportError.
int expect_command_line(const ExpectOptions& options) {
  if (options.action == "update") return update(options);
  if (options.from) {
    throw InputError("expect check", "takes no --from", "Name the runs: expect check RUN");
  }
  return check(options);
}

}  // namespace

RunCommand add_expect(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_expect_options, expect_command_line);
}

}  // namespace mpsprobe

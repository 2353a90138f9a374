#include "tools/runner/run/run_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/campaign/campaign.h"
#include "harness/campaign/rerun.h"
#include "harness/campaign/trial_runner.h"
#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/wire/axis.h"
#include "reports/expectations/expectation_words.h"
#include "reports/groups/failure_groups.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/write.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/expect/fail_on.h"
#include "tools/runner/interrupt.h"
#include "tools/runner/option_check.h"
#include "tools/runner/run/finish_report.h"
#include "tools/runner/run/kept_cores.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/progress_line.h"
#include "tools/runner/run/run_origin.h"
#include "tools/runner/run/trial_setup.h"
#include "tools/runner/say.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

void say_left_out(const CampaignHeader& header) {
  std::map<std::string, size_t> reasons;
  for (const LeftOut& cell : header.left_out) reasons[cell.reason] += 1 + cell.others;
  for (const auto& [reason, count] : reasons) {
    say(stderr, "left out {}: {}\n", counted(count, "cells"), reason);
  }
}

void say_start(const CampaignHeader& header, const fs::path& folder,
               const std::vector<std::string>& probes) {
  say_workers(header);
  for (const WorkerInfo& worker : header.workers) {
    if (const std::string shadowing = shadowing_of(worker); !shadowing.empty()) {
      say(stderr, "mpsprobe: warning: worker {}: {}. `mpsprobe doctor` says what to do\n",
          worker.name, shadowing);
    }
    for (const std::string& symbol : probes) {
      say(stderr, "worker {}: {} is {}\n", worker.name, symbol, probe_answer(worker, symbol));
    }
  }
  say(stderr, "matrix {}: {}, {}, seed {}, in {}\n", printable(header.matrix_name),
      counted(header.cells.size(), "cells") +
          (header.workers.size() > 1
               ? fmt::format(" on each of {}", counted(header.workers.size(), "builds"))
               : ""),
      planned_trials(header, "each"), header.seed, printable(folder.string()));
}

int dry_run(const CampaignHeader& header, bool as_json) {
  if (as_json) {
    nlohmann::json left_out = nlohmann::json::array();
    for (const LeftOut& cell : header.left_out) {
      left_out.push_back({{"cell", cell.cell}, {"reason", cell.reason}});
    }
    const std::string rest = json_text(nlohmann::json{{"matrix", header.matrix_name},
                                                      {"trials", header.trials},
                                                      {"settle_rate", header.settle_rate},
                                                      {"seed", header.seed},
                                                      {"left_out", left_out}},
                                       2);
    // A million cells are printed as they are made.
    std::string_view before = "{\n  \"cells\": [";
    for (size_t i = 0; i < header.cells.size(); ++i) {
      say(stdout, "{}\n    {}", before, json_text(nlohmann::json(to_string(header.cells.cell(i)))));
      before = ",";
    }
    say(stdout, "{},{}\n", header.cells.empty() ? "{\n  \"cells\": []" : "\n  ]", rest.substr(1));
  } else {
    for (const PlannedCell& planned : header.cells) say(stdout, "{}\n", to_string(planned.cell));
    say(stderr, "{}, {}: nothing was run\n", counted(header.cells.size(), "cells"),
        planned_trials(header, "each"));
  }
  // A shard without cells has nothing to do, and does it.
  return header.cells.empty() && header.whole.empty() ? kExitNothingRun : kExitOk;
}

/// A first record that was cut off is no run: there is nothing to go on with, and nothing to lose.
void put_aside_torn_journal(const fs::path& file) {
  if (has_first_record(file)) return;
  const fs::path aside = file.string() + ".torn";
  std::error_code error;
  fs::rename(file, aside, error);
  if (error) return;  // what comes next says why
  say(stderr, "mpsprobe: {} held the beginning of a first record and no run: it is {} now\n",
      printable(file.string()), printable(aside.string()));
}

fs::path new_folder(const RunOptions& options, const CampaignHeader& header) {
  if (!options.out.has_value()) return make_default_run_folder(header.started, header.matrix_name);
  const fs::path folder = *options.out;
  const fs::path file = folder / "journal.ndjson";
  std::error_code error;
  if (fs::exists(file, error)) put_aside_torn_journal(file);
  make_named_folder(folder, "journal.ndjson");
  // Known now, and not after hours of trials.
  refuse_foreign_reports(folder, formats_named(options.format));
  return folder;
}

KnownGoodPolicy known_good_policy(const std::string& text) {
  if (text == "always") return KnownGoodPolicy::always;
  return text == "never" ? KnownGoodPolicy::never : KnownGoodPolicy::real_devices;
}

std::optional<KeptCores> cores_of(const RunOptions& options, const CampaignHeader& header) {
  return options.keep_cores ? std::optional<KeptCores>(std::in_place, header.jobs) : std::nullopt;
}

CampaignEnd run_trials(const RunOptions& options, const fs::path& folder, JournalWriter& journal,
                       std::optional<KeptCores> cores) {
  const std::atomic<bool>& interrupted = watch_for_interrupt();
  const Journal& known = journal.existing();
  TrialRunner trial_runner(known, folder, interrupted);
  ProgressLine line(known.header);
  CampaignEnd end = run_campaign(
      known, journal,
      DeviceCare(std::ref(trial_runner), known_good_policy(options.known_good), interrupted),
      [&](const TrialRecord& trial, const Progress& progress) {
        if (cores) cores->take(trial, folder);
        line.on_trial(trial, progress);
      },
      interrupted);
  line.finish();
  if (cores) cores->say_kept();
  return end;
}

/// Says what was planned and not done; a run that left something undone is never green.
int incomplete(const Analysis& analysis) {
  say(stderr, "mpsprobe: incomplete: {} of {} planned trials came to a result\n",
      analysis.planned - analysis.undone, analysis.planned);
  return kExitIncomplete;
}

std::vector<KnownFailure> known_failures(const RunOptions& options) {
  if (!options.expectations) return {};
  return find_known_failures(*options.expectations);
}

void refuse_fail_on_without_expectations(const RunOptions& options) {
  if (options.expectations) return;
  const std::set<std::string> fail_on = words_in(options.fail_on);
  for (const char* word : {"new", "worse", "unseen", "expired"}) {
    if (!fail_on.contains(word)) continue;
    throw InputError(fmt::format("--fail-on {}", word), "is of known failures, and none are named",
                     "Name a file of them: --expectations FILE");
  }
}

bool found_what_fails(const RunOptions& options, const std::vector<KnownFailure>& known,
                      const Analysis& analysis, const fs::path& folder) {
  std::set<std::string> fail_on = words_in(options.fail_on);
  if (fail_on.empty()) fail_on = {"unexpected", "new", "worse"};
  const bool unexpected =
      std::any_of(analysis.cells.begin(), analysis.cells.end(),
                  [](const CellSummary& cell) { return cell.expected == Expected::unmet; });
  bool found = (fail_on.contains("any") && analysis.failures > 0) ||
               (fail_on.contains("refused") && analysis.refused > 0) ||
               (fail_on.contains("unexpected") && unexpected);
  if (options.expectations) {
    const RunFacts run = run_facts(folder.string(), analysis);
    const Findings findings = judge_expectations(known, run, {});
    say(stdout, "\n{}", findings_text(known, run, findings));
    found = found || found_in(findings, fail_on);
  }
  return found && !options.part && !fail_on.contains("never");
}

/// What most trials came to, where none of them counts: ": setup_failed: ... (3 trials)".
std::string why_nothing_counts(const Analysis& analysis) {
  std::map<std::pair<Outcome, std::string>, int64_t> reasons;
  for (const CellSummary& cell : analysis.cells) {
    for (const OutcomeCount& count : cell.outcomes) {
      reasons[{count.outcome, count.detail}] += count.trials;
    }
  }
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  if (most == reasons.end() || most->second == 0) return "";
  const auto& [outcome, detail] = most->first;
  return fmt::format(": {}{}{} ({})", name_of(outcome), detail.empty() ? "" : ": ",
                     shortened(printable(detail), 300), counted(most->second, "trials"));
}

void say_how_it_goes_on(const char* why, const RunOptions& options, const fs::path& folder) {
  if (options.part) return;
  say(stderr, "{}; ", why);
  say_goes_on({"run"}, folder, options);
}

int exit_code(const RunOptions& options, const std::vector<KnownFailure>& known,
              const CampaignEnd& end, const Analysis& analysis, const fs::path& folder) {
  if (end.reason == "interrupted") {
    say_how_it_goes_on("interrupted", options, folder);
    return kExitInterrupted;
  }
  if (end.reason == "device_lost") {
    say(stderr,
        "mpsprobe: the device was lost: {}. Restart the machine, then go on with --resume\n",
        printable(end.note));
    return kExitMachine;
  }
  if (end.reason == "budget") {
    say_how_it_goes_on("the time budget was used up", options, folder);
  }
  if (!analysis.has_evidence()) {
    say(stderr, "mpsprobe: nothing could run: no trial came to a result that counts{}\n",
        why_nothing_counts(analysis));
    return kExitNothingRun;
  }
  if (found_what_fails(options, known, analysis, folder)) return kExitFound;
  return analysis.undone > 0 ? incomplete(analysis) : kExitOk;
}

/// Runs what the journal does not hold yet, and writes the report. Returns the exit code.
int run_in(const fs::path& folder, std::unique_ptr<JournalWriter> journal,
           const RunOptions& options, const std::vector<KnownFailure>& known,
           std::optional<KeptCores> cores) {
  say_start(journal->existing().header, folder, options.probes);
  const CampaignEnd end = run_trials(options, folder, *journal, std::move(cores));
  journal.reset();  // whoever reads it now is told that it ended
  const Analysis analysis =
      finish_report(folder, formats_named(options.format), {}, options.part ? stderr : stdout);
  return exit_code(options, known, end, analysis, folder);
}

/// The folder below mpsprobe-out whose journal was written last.
fs::path newest_run() {
  fs::path newest;
  fs::file_time_type written;
  std::error_code error;  // no folder, no run
  for (const fs::directory_entry& entry : fs::directory_iterator("mpsprobe-out", error)) {
    const fs::file_time_type time = fs::last_write_time(entry.path() / "journal.ndjson", error);
    if (error || (!newest.empty() && time <= written)) continue;
    newest = entry.path();
    written = time;
  }
  if (!newest.empty()) return newest;
  throw InputError("--resume", "names no run, and mpsprobe-out in this folder holds none",
                   "Name the folder of a run that was cut short");
}

int resume(const RunOptions& options, const std::vector<KnownFailure>& known) {
  const fs::path folder = options.resume->empty() ? newest_run() : fs::path(*options.resume);
  if (!fs::exists(folder / "journal.ndjson")) {
    throw InputError("--resume " + folder.string(), "holds no journal.ndjson",
                     "Name the folder of a run that was cut short");
  }
  auto journal = go_on_with(folder, "--resume " + folder.string(), options.trust_run);
  say_going_on(folder, journal->existing());
  std::optional<KeptCores> cores = cores_of(options, journal->existing().header);
  return run_in(folder, std::move(journal), options, known, std::move(cores));
}

// Names the backends, which a run that names none chose by itself.
std::string all_left_out(const CampaignHeader& header) {
  std::set<std::string> backends;
  for (const LeftOut& item : header.left_out) {
    backends.insert(item.cell.substr(0, item.cell.find('/')));
  }
  return printable(fmt::format(
      "every cell was left out, for the reasons above (backend {}; --backend names another)",
      fmt::join(backends, ", ")));
}

/// The planned cells of an earlier run, with its blocks and expectations, that are `planned` now.
PlannedCells as_planned_before(const PlannedCells& earlier, const PlannedCells& planned) {
  std::set<std::string> wanted;
  for (const PlannedCell& each : planned) wanted.insert(to_string(each.cell));
  PlannedCells cells;
  for (PlannedCell each : earlier) {
    if (wanted.contains(to_string(each.cell))) cells.push_back(std::move(each));
  }
  return cells;
}

/// What `run --failed` or `run --more` runs: the cells that failed in the run that it names, with
/// the blocks and expectations that they had there; or those that tell which failures need the same
/// conditions, and so many trials as that takes. With that run's workers, environment, limits,
/// trials and seed where the options name no others. Nothing where nothing failed, or all is known.
/// Throws InputError for what does not go together with it, JournalError.
std::optional<CampaignHeader> plan_of_earlier(const RunOptions& options) {
  const std::string name = options.failed ? "--failed" : "--more";
  const std::string run = options.failed ? *options.failed : *options.more;
  if (options.matrix || !options.cells.empty() || !options.axes.empty()) {
    throw InputError(name, "says what to run already",
                     "Leave out --matrix, --cell and the axes; --filter takes some of its cells");
  }
  const std::filesystem::path folder = folder_of_run(run);
  const Journal journal = read_journal(folder / "journal.ndjson");
  RunOptions again = as_in(journal.header, folder, options, name + " " + run);
  const Analysis analysis = analyse(journal);
  if (options.more) {
    const FailureGroups groups = find_groups(analysis);
    again.cells = cells_that_tell(analysis, groups);
    again.settle_rate.reset();
    if (!options.trials) again.trials = trials_that_tell(analysis, groups, kMostTrialsThatTell);
    if (again.cells.empty()) return std::nullopt;
    return plan_campaign(again);
  }
  std::set<std::string> failed;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.failures > 0 && failed.insert(cell.id).second) again.cells.push_back(cell.id);
  }
  if (failed.empty()) return std::nullopt;
  CampaignHeader header = plan_campaign(again);
  header.cells = as_planned_before(journal.header.cells, header.cells);
  header.matrix_name = "failed";
  header.matrix_description = "What failed in " + run;
  return header;
}

}  // namespace

int run_command_line(const RunOptions& options) {
  formats_named(options.format);  // known now, and not after hours of trials
  refuse_fail_on_without_expectations(options);
  const std::vector<KnownFailure> known = known_failures(options);
  if (options.resume.has_value()) return resume(options, known);
  if (options.json && !options.dry_run) {
    throw InputError("--json", "is for --dry-run", "A run writes report.json into its folder");
  }
  CampaignHeader header;
  if (options.failed.has_value() || options.more.has_value()) {
    std::optional<CampaignHeader> again = plan_of_earlier(options);
    if (!again.has_value()) {
      say(stderr, "mpsprobe: {}: nothing to run\n",
          options.failed ? "nothing failed in " + printable(*options.failed)
                         : "what the failures of " + printable(*options.more) + " need is known");
      return kExitNothingRun;
    }
    header = std::move(*again);
  } else {
    header = plan_campaign(options);
  }
  say_left_out(header);
  if (options.dry_run) return dry_run(header, options.json);
  if (header.cells.empty() && !header.whole.empty()) {
    say(stderr, "nothing to run: there are fewer boundaries than shards, and none for this one\n");
    return kExitOk;
  }
  if (header.cells.empty()) {
    say(stderr, "mpsprobe: nothing to run: {}\n",
        header.left_out.empty() ? "no cell matches the filter" : all_left_out(header));
    return kExitNothingRun;
  }
  std::optional<KeptCores> cores = cores_of(options, header);
  const fs::path folder = new_folder(options, header);
  header.origin = origin_of(folder);
  return run_in(folder, std::make_unique<JournalWriter>(folder / "journal.ndjson", header), options,
                known, std::move(cores));
}

}  // namespace mpsprobe

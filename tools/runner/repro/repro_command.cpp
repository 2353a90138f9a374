#include "tools/runner/repro/repro_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/campaign/rerun.h"
#include "harness/campaign/trial_bench.h"
#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "harness/journal/trial_json.h"
#include "reports/analysis/devices.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "reports/writers/json.h"
#include "reproducers/minimise/minimise.h"
#include "reproducers/minimise/minimum_report.h"
#include "reproducers/minimise/slug.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/interrupt.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/repro/repro_programs.h"
#include "tools/runner/repro/repro_source.h"
#include "tools/runner/request_file.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/recorded_trials.h"
#include "tools/runner/run/run_origin.h"
#include "tools/runner/run/trial_setup.h"
#include "tools/runner/run/variables_check.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// Trials in the command that runs the minimal cell again.
constexpr int kFewestTrialsAgain = 10;
constexpr int kMostTrialsAgain = 1000;

/// The signature and the limits. Not the start cell and the operations, which the journal's header
/// holds. Throws ReportError where it cannot be written.
void write_request(const fs::path& folder, const MinimiseRequest& request) {
  write_request_file(folder, {{"mpsprobe_repro", 1},
                              {"signature", valid_utf8(request.signature)},
                              {"most_trials", request.most_trials},
                              {"patience", request.patience},
                              {"condition_trials", request.most_condition_trials},
                              {"conditions", request.conditions}});
}

/// Throws InputError where it is not of this form.
MinimiseRequest read_request(const fs::path& folder, const std::string& where) {
  MinimiseRequest request;
  read_request_file(folder, "mpsprobe_repro", where, "minimisation",
                    [&](const nlohmann::json& object) {
                      request.signature = object.at("signature");
                      request.most_trials = object.at("most_trials");
                      request.patience = object.at("patience");
                      request.most_condition_trials = object.at("condition_trials");
                      request.conditions = object.at("conditions");
                    });
  if (request.most_trials < 2 || request.patience < 1 || request.most_condition_trials < 1) {
    throw InputError(where, "its request.json makes no sense", "Begin a new one");
  }
  return request;
}

/// What is shown while it runs, on standard error: each step when it is decided, and on a terminal
/// one line that updates itself.
class ReproProgress {
 public:
  MinimiseObserver observer() {
    MinimiseObserver observer;
    observer.on_trial = [this](const std::string& asked, const Cell&, const Tally& tally) {
      if (terminal_) {
        say(stderr, "\r\x1b[K{} {}/{}", shortened(printable(asked), 60), tally.failures,
            tally.trials);
        std::fflush(stderr);
      }
    };
    observer.on_baseline = [this](const Minimum& minimum) {
      clear();
      say(stderr, "start cell: {}\nsignature: {}\n", rate_in_words(minimum.baseline),
          shortened(printable(minimum.signature), 300));
    };
    observer.on_step = [this](const Reduction& step) {
      clear();
      say(stderr, "{}\n", step_line(step));
    };
    return observer;
  }
  void clear() const {
    if (terminal_) say(stderr, "\r\x1b[K");
  }

 private:
  bool terminal_ = is_screen(STDERR_FILENO);
};

CampaignHeader planned_as_run(const RunOptions& run) {
  try {
    return plan_campaign(run);
  } catch (const UnreadVariable& unread) {  // here nothing forces it
    throw InputError(unread.place(), unread.problem(),
                     "Look for the name in the library's release");
  }
}

CampaignHeader plan_repro(const ReproOptions& options, const ReproSource& source) {
  CampaignHeader header = planned_as_run(source.run);
  const Backend backend = source.start.backend;
  if (const std::string reason = why_unavailable(header.workers, backend); !reason.empty()) {
    throw MachineError(
        fmt::format("the backend {} cannot be used here: {}", name_of(backend), reason));
  }
  if (header.cells.empty()) {
    throw InputError(to_string(source.start),
                     "cannot be run: " + (header.left_out.empty() ? "no worker takes it"
                                                                  : header.left_out.front().reason),
                     "Name another cell");
  }
  std::erase_if(header.workers,
                [backend](const WorkerInfo& worker) { return !names_backend(worker, backend); });
  header.workers.resize(1);
  // A worker that the run named is started as it was there.
  header.start_process =
      chosen_start(source.run.start_process, header.workers, options.worker.has_value());
  header.matrix_name = "repro";
  header.matrix_description = "trials of a minimisation; the cells follow from their results";
  header.cells = {};
  header.cells.push_back(PlannedCell{source.start, "start cell", std::nullopt});
  return header;
}

/// Where the folder's name depends on a signature that is not known yet, the cell's name serves.
fs::path folder_for(const ReproOptions& options, const ReproSource& source) {
  fs::path folder = source.folder;
  if (options.out.has_value()) {
    folder = *options.out;
  } else if (source.folder.empty()) {
    folder =
        fs::path("mpsprobe-out") /
        ("repro-" + slug(source.signature.empty() ? to_string(source.start) : source.signature));
  } else {
    folder = Folder(folder).make_below("repro-" + slug(source.signature)).path();
  }
  if (fs::exists(folder / "journal.ndjson")) {
    throw InputError("--out " + printable(folder.string()), "holds a journal already",
                     "Go on with it by --resume, or name another folder");
  }
  make_named_folder(folder);
  return folder;
}

int exit_code(const Minimum& minimum, const std::string& stop_reason) {
  switch (minimum.state) {
    case MinimumState::complete:
      return kExitOk;
    case MinimumState::not_failing:
    case MinimumState::not_run:
      return kExitNothingRun;
    case MinimumState::stopped:
      break;
  }
  if (stop_reason == "interrupted") return kExitInterrupted;
  return stop_reason == "budget" ? kExitOk : kExitMachine;
}

/// What was measured first: the programs take minutes, and may be interrupted.
void write_result(const fs::path& folder, const Minimum& minimum, const WorkerInfo& worker,
                  bool with_programs, const std::atomic<bool>& interrupted) {
  write_minimum(folder / "minimum.json", minimum);
  const std::string measured = minimum_markdown(minimum);
  const std::string again = "`mpsprobe repro --resume` writes it again";
  write_atomically(folder / "repro.md", measured, again);
  if (!with_programs || minimum.state != MinimumState::complete) return;
  write_atomically(folder / "repro.md",
                   measured + write_programs(folder, minimum, worker.describe, interrupted), again);
}

void say_result(const fs::path& folder, const Minimum& minimum, bool as_json) {
  if (as_json) {
    say(stdout, "{}", json_text(to_json(minimum)));
  } else {
    say(stdout, "{}result: {}\n        {}\n", minimum_terminal(minimum),
        (folder / "repro.md").string(), (folder / "minimum.json").string());
  }
  std::fflush(stdout);
}

/// Runs what the journal does not hold yet, and writes the result.
int run_repro(const CampaignHeader& header, const MinimiseRequest& request, const fs::path& folder,
              JournalWriter& journal, const std::vector<TrialRecord>& existing,
              const ReproOptions& options) {
  const WorkerInfo& worker = header.workers.front();
  const bool simulated = is_simulated(header);
  say_workers(header);
  say(stderr, "reducing {} in {}\n", to_string(request.start), printable(folder.string()));
  const std::atomic<bool>& interrupted = watch_for_interrupt();
  TrialBench bench(header, folder, existing, interrupted);
  RecordedTrials trials(
      header, existing, journal, [&bench](const TrialRequest& trial) { return bench.run(trial); },
      interrupted);
  ReproProgress progress;
  Minimum minimum = minimise(
      request, [&trials](const Cell& cell, int index) { return trials(cell, index); },
      progress.observer());
  progress.clear();
  if (minimum.state == MinimumState::stopped) {
    minimum.note = trials.stop_note() + "; `repro --resume` of its folder goes on";
  }
  minimum.simulated = simulated;
  minimum.worker = worker.name;
  minimum.worker_path = worker.path;
  minimum.build = build_identity(worker.describe.value("provenance", nlohmann::json::object()));
  minimum.mpsprobe_version = header.mpsprobe_version;
  minimum.started = header.started;
  minimum.environment = header.environment;
  minimum.seed = header.seed;
  CampaignHeader again = header;
  again.trials = std::clamp(minimum.reliability.trials, kFewestTrialsAgain, kMostTrialsAgain);
  minimum.rerun = rerun_arguments(again, worker.name, worker.path, to_string(minimum.cell));
  journal.append(CampaignEnd{trials.stop_reason().empty() ? "complete" : trials.stop_reason(),
                             utc_now(), trials.stop_note()});
  write_result(folder, minimum, worker, !options.no_programs, interrupted);
  if (minimum.state == MinimumState::stopped) {
    std::vector<std::string> words{program_of(header), "repro", "--resume", folder.string()};
    if (options.trust_run) words.emplace_back("--trust-run");
    say_goes_on(words);
  }
  say_result(folder, minimum, options.json);
  return exit_code(minimum, trials.stop_reason());
}

int resume(const ReproOptions& options) {
  const fs::path folder = *options.resume;
  const std::string where = "--resume " + printable(folder.string());
  if (!fs::exists(folder / "journal.ndjson") || !fs::exists(folder / kRequestFile)) {
    throw InputError(where, "holds no minimisation", "Name the folder of one that was cut short");
  }
  const CampaignHeader header = read_header(folder / "journal.ndjson");
  if (header.workers.size() != 1 || header.cells.size() != 1) {
    throw InputError(where, "holds the journal of a run, not of a minimisation",
                     "Go on with it by `mpsprobe run --resume`");
  }
  if (!options.trust_run) {
    refuse_foreign(header.origin, folder, would_start(header), where,
                   "Add --trust-run if you trust whoever made it, or begin a new one");
  }
  watch_for_interrupt();
  JournalWriter writer(folder / "journal.ndjson");
  const Journal& journal = writer.existing();
  check_same_libraries(journal.header);
  MinimiseRequest request = read_request(folder, where);
  request.start = journal.header.cells.front().cell;
  request.operations = operations_of(journal.header.workers);
  say(stderr, "going on after {} trials{}\n", journal.trials.size(),
      journal.torn ? " (a record that was cut off is dropped, its trial runs again)" : "");
  return run_repro(journal.header, request, folder, writer, journal.trials, options);
}

}  // namespace

int repro_command_line(const ReproOptions& options) {
  if (options.resume.has_value()) return resume(options);
  const ReproSource source = repro_source(options);
  CampaignHeader header = plan_repro(options, source);
  const WorkerInfo& worker = header.workers.front();
  const std::string other =
      source.describe.is_null() ? "" : other_library(source.describe, worker.describe);
  if (!other.empty()) {
    say(stderr,
        "mpsprobe: warning: worker {} {}: what follows is about the one that it loads now\n",
        worker.name, printable(other));
  }
  MinimiseRequest request;
  request.start = source.start;
  request.signature = source.signature;
  request.operations = operations_of(header.workers);
  request.most_trials = options.most_trials.value_or(request.most_trials);
  request.patience = options.patience.value_or(request.patience);
  request.most_condition_trials = options.condition_trials.value_or(request.most_condition_trials);
  request.conditions = !options.no_conditions;
  watch_for_interrupt();  // from here on there is something to leave in order
  const fs::path folder = folder_for(options, source);
  header.origin = origin_of(folder);
  write_request(folder, request);
  JournalWriter journal(folder / "journal.ndjson", header);
  return run_repro(header, request, folder, journal, {}, options);
}

}  // namespace mpsprobe

#include "tools/runner/repro/repro_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "harness/campaign/rerun.h"
#include "harness/campaign/trial_runner.h"
#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "reports/analysis/devices.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
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
#include "tools/runner/say.h"
#include "tools/runner/screen.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// Trials in the command that runs the minimal cell again.
constexpr int kFewestTrialsAgain = 10;
constexpr int kMostTrialsAgain = 1000;

/// The signature and the limits, with their keys in request.json. Not the start cell and the
/// operations, which the journal's header holds.
void each_limit_kept(auto& request, const auto& take) {
  take("signature", request.signature);
  take("most_trials", request.most_trials);
  take("patience", request.patience);
  take("condition_trials", request.most_condition_trials);
  take("conditions", request.conditions);
}

/// Throws InputError where it is not of this form.
MinimiseRequest read_request(const fs::path& folder, const std::string& where) {
  MinimiseRequest request;
  read_request_file(
      folder, "mpsprobe_repro", where, "minimisation",
      [&](const nlohmann::json& object) { each_limit_kept(request, out_of_request(object)); });
  if (request.most_trials < 2 || request.patience < 1 || request.most_condition_trials < 1) {
    throw InputError(where, "its request.json makes no sense", "Begin a new one");
  }
  return request;
}

/// What is shown while it runs, on standard error: each step when it is decided, and on a terminal
/// one line that updates itself.
MinimiseObserver shown_progress() {
  MinimiseObserver observer;
  observer.on_trial = [](const std::string& asked, const Cell&, const Tally& tally) {
    rewrite_line(
        fmt::format("{} {}/{}", shortened(printable(asked), 60), tally.failures, tally.trials));
  };
  observer.on_baseline = [](const Minimum& minimum) {
    rewrite_line("");
    say(stderr, "start cell: {}\nsignature: {}\n", rate_in_words(minimum.baseline),
        shortened(printable(minimum.signature), 300));
  };
  observer.on_step = [](const Reduction& step) {
    rewrite_line("");
    say(stderr, "{}\n", step_line(step));
  };
  return observer;
}

CampaignHeader plan_repro(const ReproSource& source) {
  CampaignHeader header = plan_campaign(source.run);
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
  make_named_folder(folder, "journal.ndjson");
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
    say(stdout, "{}", json_document(to_json(minimum)));
  } else {
    say(stdout, "{}result: {}\n        {}\n", minimum_terminal(minimum),
        (folder / "repro.md").string(), (folder / "minimum.json").string());
  }
  std::fflush(stdout);
}

/// Runs what the journal does not hold yet, and writes the result.
int run_repro(const MinimiseRequest& request, const fs::path& folder, JournalWriter& journal,
              const ReproOptions& options) {
  const Journal& known = journal.existing();
  const CampaignHeader& header = known.header;
  const WorkerInfo& worker = header.workers.front();
  say_workers(header);
  say(stderr, "reducing {} in {}\n", to_string(request.start), printable(folder.string()));
  const std::atomic<bool>& interrupted = watch_for_interrupt();
  TrialRunner trial_runner(known, folder, interrupted);
  RecordedTrials trials(
      known, journal,
      DeviceCare(std::ref(trial_runner), KnownGoodPolicy::real_devices, interrupted), interrupted);
  Minimum minimum = minimise(request, std::ref(trials), shown_progress());
  rewrite_line("");
  if (minimum.state == MinimumState::stopped) {
    minimum.note = trials.stop_note() + "; `repro --resume` of its folder goes on";
  }
  minimum.simulated = is_simulated(header);
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
    say_goes_on({"repro"}, folder, options);
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
  watch_for_interrupt();
  const auto journal = go_on_with(folder, where, options.trust_run);
  MinimiseRequest request = read_request(folder, where);
  request.start = header.cells.front().cell;
  request.operations = operations_of(header.workers);
  say_going_on(folder, journal->existing());
  return run_repro(request, folder, *journal, options);
}

}  // namespace

int repro_command_line(const ReproOptions& options) {
  if (options.resume.has_value()) return resume(options);
  const ReproSource source = repro_source(options);
  CampaignHeader header = plan_repro(source);
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
  nlohmann::json kept{{"mpsprobe_repro", 1}};
  each_limit_kept(request, into_request(kept));
  write_request_file(folder, kept);
  JournalWriter journal(folder / "journal.ndjson", header);
  return run_repro(request, folder, journal, options);
}

}  // namespace mpsprobe

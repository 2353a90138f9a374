#include "tools/runner/verify/verify_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/executor/executor.h"
#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/platform/machine.h"
#include "harness/wire/own_command.h"
#include "harness/wire/variables.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "reproducers/bundle/bundle_record.h"
#include "reproducers/bundle/redaction/redactor.h"
#include "reproducers/reverify/verdict.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/run_command.h"
#include "tools/runner/run/trial_setup.h"
#include "tools/runner/run/variables_check.h"
#include "tools/runner/say.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// Refuses a cell whose operation or variable has no name but the bundle's own for it.
void check_names(const BundleRecord& record) {
  for (size_t i = 0; i < record.cells.size(); ++i) {
    const Cell& cell = record.cells[i].cell;
    std::string hidden = is_stand_in(cell.op) ? cell.op : "";
    for (const auto& [name, value] : parse_variables(cell.env)) {
      if (is_stand_in(name) || is_stand_in(value)) hidden = name;
    }
    if (hidden.empty()) continue;
    throw InputError(
        fmt::format("{}.cells[{}].cell", kBundleRecordFile, i),
        hidden +
            " stands for a name of somebody's own, which was kept out of the bundle: no "
            "worker can run the cell",
        "Verify a bundle made with `mpsprobe feedback --no-redact`, which whoever has the run can "
        "make, and name the code with --env as bundle.json has it: "
        "MPSPROBE_PYTHON_CODE=FILE::NAME, "
        "MPSPROBE_PYTEST=FILE, or MPSPROBE_COMMAND");
  }
}

/// Says whether the workers can lead to `none_seen`, as far as their answers tell beforehand.
void check_workers(const VerifyOptions& options, const BundleRecord& record) {
  const std::string system = system_of(machine_facts());
  std::set<Backend> backends;
  for (const BundleCell& entry : record.cells) backends.insert(entry.cell.backend);
  const auto workers = find_workers(options.workers, options.environment, backends);
  if (std::any_of(workers.begin(), workers.end(), [&](const WorkerInfo& worker) {
        return loads_the_bundles_build(record, worker.describe, system);
      })) {
    return;
  }
  if (workers.size() > 1) {
    throw InputError("--worker", "neither loads the build that the bundle is of",
                     "Name a worker that was built against it; bundle.json says which it is");
  }
  const bool told = std::any_of(record.cells.begin(), record.cells.end(),
                                [](const BundleCell& entry) { return entry.build.is_known(); });
  say(stderr,
      "{}: without --worker old=PATH of the bundle's build it cannot be told whether it is rarer\n",
      told ? "the worker is not shown to load the bundle's build"
           : "the bundle does not say of which build it is");
}

/// Each once, in the order of the bundle.
std::vector<std::string> cells_to_run(const BundleRecord& record) {
  std::vector<std::string> cells;
  for (const BundleCell& entry : record.cells) {
    const std::string cell = to_string(entry.cell);
    if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(cell);
  }
  return cells;
}

/// The worker of the code that --env names, as `run` finds it for --python, --pytest and a command.
std::optional<std::string> own_code_worker(const std::vector<std::string>& environment) {
  if (own_command_in(environment).has_value()) return "command=" + command_worker();
  if (own_code_in(environment).empty()) return std::nullopt;
  return "python=" + python_worker();
}

RunOptions run_options(const VerifyOptions& options, const BundleRecord& record) {
  RunOptions run = options;
  run.json = false;
  run.part = true;
  if (run.resume.has_value()) return run;
  run.cells = cells_to_run(record);
  if (!run.trials.has_value()) run.trials = default_trials(record.cells);
  if (!run.seed.has_value()) run.seed = record.seed;
  TrialLimits of_bundle;
  of_bundle.timeout_seconds = record.timeout_seconds;
  of_bundle.stall_seconds = record.stall_seconds;
  of_bundle.memory_limit_bytes = record.memory_limit_mib << 20;
  run.limits = run.limits.or_else(like(of_bundle));
  if (!run.out.has_value()) {
    run.out = make_default_run_folder(utc_now(), "verify").string();
  }
  return run;
}

/// A run that is gone on with has to be one of this bundle, with the arms that are asked for now.
void check_journal(const VerifyOptions& options, const BundleRecord& record,
                   const CampaignHeader& header) {
  const std::vector<std::string> known = cells_to_run(record);
  for (const PlannedCell& planned : header.cells) {
    if (std::find(known.begin(), known.end(), to_string(planned.cell)) != known.end()) continue;
    throw InputError("--resume " + printable(*options.resume),
                     "ran " + to_string(planned.cell) + ", which is no cell of the bundle",
                     "Name the folder of a verification of this bundle");
  }
}

std::vector<std::string> not_set(const BundleRecord& record, const CampaignHeader& header) {
  std::vector<std::string> entries = record.environment;
  std::erase_if(entries, [&header](const std::string& entry) {
    return std::find(header.environment.begin(), header.environment.end(), entry) !=
           header.environment.end();
  });
  return entries;
}

void write(const fs::path& folder, const fs::path& bundle, const std::string& started,
           const std::string& json) {
  write_atomically(folder / "verify.json", json, "`mpsprobe verify --resume` writes it again");
  say(stderr, "verdict: {}\n", (folder / "verify.json").string());
  try {
    say(stderr, "         {}\n", keep_verdict(bundle, started, json).string());
  } catch (const ReportError& error) {
    say(stderr, "mpsprobe: warning: not kept in the bundle: {}\n", error.what());
  }
}

bool found(const std::string& fail_on, RecheckFinding finding) {
  const bool fails =
      finding == RecheckFinding::still_fails || finding == RecheckFinding::fails_otherwise;
  return (fail_on == "fails" && fails) ||
         (fail_on == "unfixed" && finding != RecheckFinding::none_seen);
}

/// The folder of the bundle, which may have been named by its record.
fs::path folder_of(const std::string& bundle) {
  fs::path path = bundle;
  if (path.filename() != kBundleRecordFile) return path;
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

int verify_command_line(const VerifyOptions& given) {
  VerifyOptions options = given;
  if (const auto worker = own_code_worker(options.environment);
      worker.has_value() && options.workers.empty()) {
    options.workers = {*worker};
    options.command_line.insert(options.command_line.end(), {"--worker", *worker});
  }
  const fs::path bundle = folder_of(options.bundle);
  if (fs::exists(bundle / kBundleRecordFile)) check_bundle(bundle);
  const BundleRecord record = read_bundle_record(options.bundle);
  if (options.workers.size() > 2) {
    throw InputError("--worker", "more than two are given",
                     "Name the bundle's build and the one to compare with it");
  }
  const RunOptions run = run_options(options, record);
  if (run.resume.has_value()) {
    check_journal(options, record, read_journal(fs::path(*run.resume) / "journal.ndjson").header);
  } else {
    check_names(record);
    refuse_foreign_variables(run, chosen_matrix(run));
    check_workers(options, record);
  }
  const int code = run_command_line(run);
  const fs::path folder = run.resume.value_or(run.out.value_or(""));
  const fs::path journal = folder / "journal.ndjson";
  if (!fs::exists(journal)) return code;
  const Analysis analysis = analyse_file(journal).analysis;
  const BundleVerdict verdict = verdict_of(record, analysis, could_be_shown_as);
  const std::vector<std::string> missing = not_set(record, analysis.header);
  const std::string json = json_document(verdict_json(verdict, record, analysis, missing));
  write(folder, bundle, analysis.header.started, json);
  say(stdout, "{}", options.json ? json : verdict_text(verdict, record, analysis, missing));
  // One that is incomplete for trials without a result has run all that were planned.
  if (code == kExitInterrupted || (code == kExitIncomplete && !analysis.complete)) {
    say_goes_on({"verify", options.bundle}, folder, options);
  }
  if (code != kExitOk) return code;
  return found(options.fail_on, verdict.finding) ? kExitFound : kExitOk;
}

}  // namespace mpsprobe

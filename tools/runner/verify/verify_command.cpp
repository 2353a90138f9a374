#include "tools/runner/verify/verify_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/executor/executor.h"
#include "harness/input/input_error.h"
#include "harness/platform/machine.h"
#include "harness/wire/library_under_test.h"
#include "harness/wire/variables.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "reproducers/bundle/check_bundle.h"
#include "reproducers/bundle/redaction/redactor.h"
#include "reproducers/reverify/filing.h"
#include "reproducers/reverify/recheck.h"
#include "reproducers/reverify/verification.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/run_command.h"
#include "tools/runner/run/trial_setup.h"
#include "tools/runner/run/variables_check.h"
#include "tools/runner/say.h"
#include "tools/runner/standard_output_aside.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// A variable of the cell that has no name or value but the bundle's own for it; "" for none.
std::string hidden_variable(const Cell& cell) {
  std::string hidden;
  for (const auto& [name, value] : parse_variables(cell.env)) {
    if (is_stand_in(name) || is_stand_in(value)) hidden = name;
  }
  return hidden;
}

/// Refuses a cell whose operation or variable has no name but the bundle's own for it.
void check_names(const BundleRecord& record, const Operations& operations) {
  for (size_t i = 0; i < record.cells.size(); ++i) {
    const Cell& cell = record.cells[i].cell;
    std::string hidden = hidden_variable(cell);
    if (is_stand_in(cell.op) && !operations.contains(cell.op)) hidden = cell.op;
    if (hidden.empty()) continue;
    throw InputError(
        fmt::format("{}.cells[{}].cell", kBundleRecordFile, i),
        hidden +
            " stands for a name of somebody's own, which was kept out of the bundle: no "
            "worker can run the cell",
        "Verify a bundle made with `mpsprobe feedback --no-redact`, which whoever has the run can "
        "make, and name own Python code with --env MPSPROBE_PYTHON_CODE=FILE::NAME");
  }
}

std::string why_no_old_arm(const BundleRecord& record, const std::vector<WorkerInfo>& workers) {
  if (std::none_of(record.cells.begin(), record.cells.end(),
                   [](const BundleCell& entry) { return is_known(entry.build); })) {
    return "the bundle does not say of which build it is";
  }
  const nlohmann::json provenance =
      workers.at(0).describe.value("/provenance"_json_pointer, nlohmann::json());
  const LibraryUnderTest library = library_under_test(provenance);
  return is_known({library.version, library.git_hash, library.build_id})
             ? "the worker loads another build than the bundle's"
             : "the worker loads no library, or does not say which";
}

/// The arms that a run needs for a verdict, as far as the workers' answers tell beforehand.
void check_workers(const VerifyOptions& options, const BundleRecord& record) {
  const BundleMachine machine = machine_of(machine_facts());
  size_t old_arms = 0;
  std::set<Backend> backends;
  for (const BundleCell& entry : record.cells) backends.insert(entry.cell.backend);
  std::vector<WorkerInfo> workers;
  try {
    workers = find_workers(options.run.workers, options.run.environment, backends);
  } catch (const MachineError&) {
    check_names(record, {});  // one for own code may not start without it
    throw;
  }
  check_names(record, operations_of(workers));
  for (const WorkerInfo& worker : workers) {
    old_arms += loads_the_bundles_build(record, worker.describe, machine) ? 1U : 0U;
  }
  if (old_arms == 0 && workers.size() > 1) {
    throw InputError("--worker", "neither loads the build that the bundle is of",
                     "Name a worker that was built against it; bundle.json says which it is");
  }
  if (old_arms == 0) {
    say(stderr, "{}: without --worker old=PATH of the bundle's build nothing can be called fixed\n",
        why_no_old_arm(record, workers));
  } else if (old_arms == workers.size() && workers.size() > 1) {
    say(stderr, "both workers load a build of the bundle: what passes now was not fixed by it\n");
  }
}

RunOptions run_options(const VerifyOptions& options, const BundleRecord& record) {
  RunOptions run = options.run;
  run.fail_on = "never";
  run.part = true;
  if (run.resume.has_value()) return run;
  for (const Cell& cell : cells_to_run(record)) run.cells.push_back(to_string(cell));
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
  std::set<std::string> known;
  for (const Cell& cell : cells_to_run(record)) known.insert(to_string(cell));
  for (const PlannedCell& planned : header.cells) {
    if (known.contains(to_string(planned.cell))) continue;
    throw InputError("--resume " + printable(*options.run.resume),
                     "ran " + to_string(planned.cell) + ", which is no cell of the bundle",
                     "Name the folder of a verification of this bundle");
  }
}

std::vector<std::string> not_set(const BundleRecord& record, const CampaignHeader& header) {
  std::vector<std::string> names;
  for (const std::string& entry : record.environment) {
    const std::string name = entry.substr(0, entry.find('='));
    const auto same_name = [&name](const std::string& given) {
      return given.substr(0, given.find('=')) == name;
    };
    if (std::none_of(header.environment.begin(), header.environment.end(), same_name)) {
      names.push_back(name);
    }
  }
  return names;
}

Verification verification_of(const BundleRecord& record, const Analysis& analysis) {
  Verification verification;
  verification.mpsprobe_version = MPSPROBE_VERSION;
  verification.started = analysis.header.started;
  verification.complete = analysis.complete;
  verification.trials = analysis.header.trials;
  verification.seed = analysis.header.seed;
  verification.simulated = record.simulated || analysis.simulated;
  verification.paravirtual = record.paravirtual || analysis.paravirtual;
  verification.machine = machine_of(analysis.header.machine);
  verification.not_set = not_set(record, analysis.header);
  verification.record = record;
  verification.cells = before_and_now(record, analysis, could_be_shown_as);
  verification.conclusion = conclude(verification.cells, verification.sampling());
  return verification;
}

void write(const fs::path& folder, const fs::path& bundle, const Verification& verification) {
  const std::string again = "`mpsprobe verify --resume` writes it again";
  write_atomically(folder / "verify.json", verification_json(verification), again);
  write_atomically(folder / "verify.md", verification_markdown(verification), again);
  try {
    const fs::path kept = keep_verification(bundle, verification);
    say(stderr, "verdict: {}\n         {}\n", (folder / "verify.md").string(), kept.string());
  } catch (const ReportError& error) {
    say(stderr, "verdict: {}\nmpsprobe: warning: not kept in the bundle: {}\n",
        (folder / "verify.md").string(), error.what());
  }
}

bool found(const std::string& fail_on, RecheckFinding finding) {
  const bool fails =
      finding == RecheckFinding::still_fails || finding == RecheckFinding::fails_otherwise;
  return (fail_on == "fails" && fails) ||
         (fail_on == "unfixed" && finding != RecheckFinding::fixed);
}

int note(const VerifyOptions& options, const fs::path& bundle) {
  note_filing(bundle, *options.filing);
  say(stdout, "{} is noted in {}\n", *options.filing, (bundle / kFilingFile).string());
  return kExitOk;
}

/// The folder of the bundle, which may have been named by its record.
fs::path folder_of(const std::string& bundle) {
  fs::path path = bundle;
  if (path.filename() != kBundleRecordFile) return path;
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

int verify_command_line(const VerifyOptions& options) {
  const fs::path bundle = folder_of(options.bundle);
  if (fs::exists(bundle / kBundleRecordFile)) check_bundle(bundle);
  const BundleRecord record = read_bundle_record(options.bundle);
  if (options.filing.has_value()) return note(options, bundle);
  if (options.run.workers.size() > 2) {
    throw InputError("--worker", "more than two are given",
                     "Name the bundle's build and the one to compare with it");
  }
  const RunOptions run = run_options(options, record);
  if (run.resume.has_value()) {
    check_journal(options, record, read_journal(fs::path(*run.resume) / "journal.ndjson").header);
  } else {
    const bool hidden =
        std::any_of(record.cells.begin(), record.cells.end(),
                    [](const BundleCell& entry) { return !hidden_variable(entry.cell).empty(); });
    if (hidden) check_names(record, {});
    refuse_foreign_variables(run, chosen_matrix(run));
    check_workers(options, record);
  }
  int code = kExitOk;
  {
    const StandardOutputAside aside;
    code = run_command_line(run);
  }
  const fs::path folder = run.resume.value_or(run.out.value_or(""));
  const fs::path journal = folder / "journal.ndjson";
  if (!fs::exists(journal)) return code;
  const Verification verification = verification_of(record, analyse(read_journal(journal)));
  write(folder, bundle, verification);
  say(stdout, "{}",
      options.json ? verification_json(verification) : verification_terminal(verification));
  // One that is incomplete for trials without a result has run all that were planned.
  if (code == kExitInterrupted || (code == kExitIncomplete && !verification.complete)) {
    std::vector<std::string> words{options.run.command_line.front(), "verify", options.bundle,
                                   "--resume", folder.string()};
    if (options.run.trust_run) words.emplace_back("--trust-run");
    say_goes_on(words);
  }
  if (code != kExitOk) return code;
  return found(options.fail_on, verification.conclusion.finding) ? kExitFound : kExitOk;
}

int list_filed_command_line(const std::string& folder, bool json) {
  std::vector<fs::path> folders{folder};
  if (folder.empty()) folders = {"mpsprobe-out", "."};
  if (!folder.empty() && !fs::is_directory(folder)) {
    throw InputError("--filed " + printable(folder), "is no folder", "Name one that holds bundles");
  }
  const FoundBundles found = find_bundles(folders);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FoundBundle& bundle : found.bundles) {
    const std::string verdict = bundle.verdict ? bundle.verdict->words : "";
    const std::string verified = bundle.verdict ? bundle.verdict->verified : "";
    list.push_back({{"bundle", bundle.folder.lexically_normal().string()},
                    {"signature", bundle.signature},
                    {"filing", bundle.filing},
                    {"measured", bundle.measured},
                    {"simulated", bundle.simulated},
                    {"paravirtual", bundle.paravirtual},
                    {"verdict", verdict},
                    {"verified", verified}});
    if (json) continue;
    const char* kind = bundle.simulated     ? "SIMULATED: "
                       : bundle.paravirtual ? "PARAVIRTUAL GPU: "
                                            : "";
    say(stdout, "{}  {}{}\n", bundle.filing.empty() ? "not filed" : bundle.filing, kind,
        printable(bundle.signature));
    say(stdout, "    {}, measured {}\n", printable(bundle.folder.lexically_normal().string()),
        printable(bundle.measured));
    say(stdout, "    {}\n",
        verdict.empty() ? "not verified again" : fmt::format("{}: {}", verified, verdict));
  }
  if (json)
    say(stdout, "{}\n", list.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
  for (const std::string& skipped : found.skipped) {
    say(stderr, "mpsprobe: left out: {}\n", printable(skipped));
  }
  if (found.bounded) {
    say(stderr,
        "mpsprobe: there is more below than is looked at: name a folder nearer to the bundles\n");
  }
  if (found.bundles.empty() && !json)
    say(stderr, "no bundle found; `mpsprobe feedback` makes one\n");
  return kExitOk;
}

}  // namespace mpsprobe

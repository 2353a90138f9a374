#include "tools/runner/repro/repro_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "harness/campaign/rerun.h"
#include "harness/executor/executor.h"
#include "harness/input/input_error.h"
#include "harness/wire/axis.h"
#include "reports/analysis/analysis.h"
#include "reports/words/safe_text.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/run_origin.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostListed = 8;

std::string listed(const std::vector<const SignatureGroup*>& groups) {
  std::string text;
  for (size_t i = 0; i < std::min(groups.size(), kMostListed); ++i) {
    text +=
        fmt::format("{}\"{}\"", i == 0 ? "" : ", ", shortened(printable(groups[i]->title), 120));
  }
  if (groups.size() > kMostListed) text += fmt::format(" and {} more", groups.size() - kMostListed);
  return text;
}

const SignatureGroup& chosen_signature(const Analysis& analysis, const ReproOptions& options) {
  std::vector<const SignatureGroup*> all;
  for (const SignatureGroup& group : analysis.signatures) all.push_back(&group);
  if (all.empty()) {
    throw InputError(printable(options.what), "nothing failed in this run",
                     "Name a run with a failure, or a cell");
  }
  if (!options.signature.has_value()) return *all.front();
  std::vector<const SignatureGroup*> matching;
  for (const SignatureGroup* group : all) {
    if (group->title == *options.signature) return *group;
    if (group->title.find(*options.signature) != std::string::npos) matching.push_back(group);
  }
  if (matching.size() == 1) return *matching.front();
  if (matching.empty()) {
    throw InputError("--signature", "no failure of this run has it", "It has: " + listed(all));
  }
  throw InputError("--signature", "several failures of this run have it",
                   "Write more of one: " + listed(matching));
}

const SignatureGroup::Where& simplest(const SignatureGroup& group) {
  const auto rate = [](const SignatureGroup::Where& where) {
    return where.counted == 0 ? 0 : static_cast<double>(where.failures) / where.counted;
  };
  double most = 0;
  for (const auto& where : group.cells) most = std::max(most, rate(where));
  const auto form = [](const SignatureGroup::Where& where) {
    const Cell cell = parse_cell(where.cell);
    int off_default = 0;
    for (const Axis& axis : axes()) off_default += axis.read(cell) != axis.default_value;
    return std::tuple(cell.threads, cell.processes, off_default, cell.iterations);
  };
  const SignatureGroup::Where* best = nullptr;
  for (const auto& where : group.cells) {
    if (rate(where) * 2 < most) continue;
    if (best == nullptr || form(where) < form(*best)) best = &where;
  }
  return *best;
}

ReproSource from_run(const fs::path& folder, const ReproOptions& options) {
  const Journal journal = read_journal(folder / "journal.ndjson");
  const Analysis analysis = analyse(journal);
  const SignatureGroup& group = chosen_signature(analysis, options);
  const SignatureGroup::Where& where = simplest(group);
  const bool trusted = options.trust_run || made_here(journal.header.origin, folder);
  if (!trusted && !options.worker.has_value()) {
    refuse_foreign(journal.header.origin, folder, would_start(journal.header), options.what,
                   "Name the worker to run with --worker NAME=PATH, or add --trust-run if you "
                   "trust whoever made the run");
  }
  ReproSource source;
  source.start = parse_cell(where.cell);
  source.signature = group.title;
  source.folder = folder;
  const std::string& name = analysis.arms.at(where.arm).worker;
  for (const WorkerInfo& worker : journal.header.workers) {
    if (worker.name != name) continue;
    source.run.workers = {worker.name + "=" + worker.path};
    source.describe = worker.describe;
  }
  source.run = as_in(journal.header, source.run);
  // Its first trial is then the one that failed.
  if (group.first.seed != 0) source.run.seed = group.first.seed;
  // What a run did not choose was the share of one of its jobs. It is a condition of a failure for
  // want of memory alone: of others it would be printed as if somebody had asked for it.
  if (!own_memory_limit_mib(journal.header).has_value() &&
      group.first.judgement.outcome != Outcome::out_of_memory) {
    source.run.limits.memory_limit_bytes.reset();
  }
  // As if it had been written there: what is printed of this run has to name it as well.
  std::vector<std::string>& taken_over = source.run.command_line;
  if (names_workers(journal.header) && !options.worker.has_value()) {
    taken_over = {"--worker", source.run.workers.front()};
  }
  const std::vector<std::string>& words = journal.header.command_line;
  if (std::find(words.begin(), words.end(), "--force-env") != words.end()) {
    taken_over.emplace_back("--force-env");
  }
  const std::optional<StartProcess> start = journal.header.start_process;
  if (start.has_value() && !options.start_process.has_value() && !options.worker.has_value()) {
    taken_over.insert(taken_over.end(), {"--start-process", std::string(name_of(*start))});
  }
  source.run.own_cells = made_here(journal.header.origin, folder);
  source.run.force_env = true;  // that was the run's own to say
  if (trusted) {
    source.run.environment = journal.header.environment;
  } else if (options.environment.empty()) {
    say_left_out_variables(journal.header.environment);
  }
  return source;
}

}  // namespace

ReproSource repro_source(const ReproOptions& options) {
  if (options.what.empty()) {
    throw InputError("repro", "nothing says what to reduce",
                     "Name a failing cell, or the report.json or the folder of a run");
  }
  std::error_code error;
  const fs::path path = options.what;
  ReproSource source;
  if (fs::is_directory(path, error)) {
    source = from_run(path, options);
  } else if (fs::exists(path, error)) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (!fs::exists(folder / "journal.ndjson", error)) {
      throw InputError(printable(options.what), "has no journal.ndjson beside it",
                       "Name the report.json in the folder of its run, where the journal lies");
    }
    source = from_run(folder, options);
  } else {
    try {
      source.start = parse_cell(options.what);
    } catch (const InputError& problem) {
      throw InputError(printable(options.what),
                       fmt::format("is no file or folder, and as a cell: {}: {}", problem.place(),
                                   problem.problem()),
                       problem.remedy());
    }
    source.signature = options.signature.value_or("");
  }
  RunOptions& run = source.run;
  if (options.worker.has_value()) {
    run.workers = {*options.worker};
    source.describe = nullptr;
    run.start_process.reset();  // of another program it is not known
  }
  if (options.start_process.has_value()) run.start_process = options.start_process;
  if (options.seed.has_value()) run.seed = options.seed;
  if (!options.environment.empty()) run.environment = options.environment;
  run.limits = options.limits.or_else(run.limits);
  run.cells = {to_string(source.start)};
  run.trust_run = options.trust_run;
  run.trials = 1;  // how many there will be follows from what they come to
  run.jobs = 1;
  run.crash_reports = options.crash_reports;
  run.command_line.insert(run.command_line.begin(), options.command_line.begin(),
                          options.command_line.end());
  return source;
}

}  // namespace mpsprobe

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

/// `run`: what the options say of how trials are run.
ReproSource from_run(const fs::path& folder, const ReproOptions& options, const RunOptions& run) {
  const Journal journal = read_journal(folder / "journal.ndjson");
  const Analysis analysis = analyse(journal);
  const SignatureGroup& group = chosen_signature(analysis, options);
  const SignatureGroup::Where& where = simplest(group);
  CampaignHeader earlier = journal.header;
  const std::string& name = analysis.arms.at(where.arm).worker;
  std::erase_if(earlier.workers, [&](const WorkerInfo& worker) { return worker.name != name; });
  // Its first trial is then the one that failed.
  if (group.first.seed != 0) earlier.seed = group.first.seed;
  // What a run did not choose was the share of one of its jobs. It is a condition of a failure for
  // want of memory alone: of others it would be printed as if somebody had asked for it.
  if (!own_memory_limit_mib(earlier).has_value() &&
      group.first.judgement.outcome != Outcome::out_of_memory) {
    earlier.memory_limit_bytes = 0;
  }
  ReproSource source;
  source.start = parse_cell(where.cell);
  source.signature = group.title;
  source.folder = folder;
  if (run.workers.empty() && !earlier.workers.empty()) {
    source.describe = earlier.workers.front().describe;
  }
  source.run = as_in(earlier, folder, run, options.what);
  const std::vector<std::string>& words = earlier.command_line;
  if (std::find(words.begin(), words.end(), "--force-env") != words.end()) {
    source.run.command_line.emplace_back("--force-env");
  }
  source.run.force_env = true;  // that was the run's own to say
  return source;
}

}  // namespace

ReproSource repro_source(const ReproOptions& options) {
  if (options.what.empty()) {
    throw InputError("repro", "nothing says what to reduce",
                     "Name a failing cell, or the report.json or the folder of a run");
  }
  RunOptions run = options;
  run.part = true;
  if (options.worker.has_value()) run.workers = {*options.worker};
  ReproSource source;
  std::error_code error;
  const fs::path path = options.what;
  if (fs::is_directory(path, error)) {
    source = from_run(path, options, run);
  } else if (fs::exists(path, error)) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (!fs::exists(folder / "journal.ndjson", error)) {
      throw InputError(printable(options.what), "has no journal.ndjson beside it",
                       "Name the report.json in the folder of its run, where the journal lies");
    }
    source = from_run(folder, options, run);
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
    source.run = run;
  }
  source.run.cells = {to_string(source.start)};
  source.run.trials = 1;  // how many there will be follows from what they come to
  source.run.jobs = 1;
  return source;
}

}  // namespace mpsprobe

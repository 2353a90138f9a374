#include "tools/runner/bisect/build_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "harness/executor/environment.h"
#include "harness/executor/worker_starts.h"
#include "harness/folder/folder.h"
#include "harness/matrix/expand.h"
#include "harness/process/command.h"
#include "reports/analysis/devices.h"
#include "reports/words/safe_text.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/run/run_origin.h"
#include "tools/runner/run/trial_setup.h"
#include "tools/runner/run/variables_check.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr double kMakeSeconds = 4 * 3600;  // a nightly of torch is downloaded, and its worker built
constexpr int kMostTrialsWithoutEvidence = 5;

std::string how_it_failed(const CommandResult& result) {
  if (result.timed_out) return "took longer than 4 hours";
  const auto* exited = std::get_if<Exited>(&result.termination);
  return exited == nullptr ? "did not end by itself" : fmt::format("exited with {}", exited->code);
}

}  // namespace

std::string make_worker(const std::string& command, const std::string& name) {
  std::string text = command;
  const std::string quoted = shell_quoted(name);
  size_t at = text.find("{}");
  if (at == std::string::npos) text += " " + quoted;
  for (; at != std::string::npos; at = text.find("{}", at + quoted.size())) {
    text.replace(at, 2, quoted);
  }
  say(stderr, "making {}: {}\n", name, printable(text));
  const CommandResult result =
      run_command({"/bin/sh", "-c", text}, kMakeSeconds, inherited_environment());
  if (result.timed_out || result.termination != Termination(Exited{0})) {
    const std::string said = last_lines(result.err, 3, 300);
    throw UnusableBuild(fmt::format("--make: {}: {}{}", printable(text), how_it_failed(result),
                                    said.empty() ? ", and printed no reason. Run it by hand, "
                                                   "with -x where it is a script"
                                                 : ": " + said));
  }
  const size_t end = result.out.find_last_not_of("\r\n");
  const std::string out = result.out.substr(0, end == std::string::npos ? 0 : end + 1);
  const std::string path = out.substr(out.find_last_of('\n') + 1);
  if (path.empty() || !fs::exists(path)) {
    throw UnusableBuild(
        fmt::format("--make: {}: its last line, \"{}\", is no path of a file. It "
                    "has to print the worker that it made",
                    printable(text), shortened(printable(path), 200)));
  }
  return fs::absolute(path).lexically_normal().string();
}

BuildTrials::BuildTrials(const BisectOptions& options, Build& build, fs::path folder,
                         const std::atomic<bool>& interrupted)
    : options_(options), build_(build), folder_(std::move(folder)), interrupted_(interrupted) {
  const fs::path file = folder_ / "journal.ndjson";
  std::error_code error;
  if (!fs::exists(file, error)) return;
  const Journal journal = read_journal(file);
  if (!journal.header.workers.empty()) build_.path = journal.header.workers.front().path;
  build_.simulated = is_simulated(journal.header);
  for (const TrialRecord& trial : journal.trials) {
    if (is_unsettled(trial)) continue;
    index_ = std::max(index_, trial.trial + 1);
    count(result_of(trial));
  }
}

void BuildTrials::count(const TrialResult& result) {
  const int before = build_.seen.failures;
  if (!count_result(result, options_.signature, build_.seen)) {
    ++without_evidence_;
    last_ = std::string(name_of(result.outcome));
    if (!result.signature.empty()) last_ += ": " + result.signature;
    return;
  }
  ++build_.here;
  last_ = "pass";
  if (is_failure(result.outcome)) {
    last_ = result.signature + (build_.seen.failures > before ? "" : " (another failure)");
  }
}

void BuildTrials::begin() {
  const fs::path file = folder_ / "journal.ndjson";
  const fs::path builds = folder_.parent_path();
  std::error_code error;
  try {  // of the bisection's own folder, and over no link
    Folder(builds.parent_path()).make_below((builds.filename() / folder_.filename()).string());
  } catch (const fs::filesystem_error& failed) {
    throw MachineError(fmt::format("{}: {}. Name a folder with --out", printable(folder_.string()),
                                   failed.code().message()));
  }
  journal_ = fs::exists(file, error) ? go_on_with(folder_, folder_.string(), options_.trust_run)
                                     : std::make_unique<JournalWriter>(file, plan());
  const Journal& known = journal_->existing();
  trial_runner_.emplace(known, folder_, interrupted_);
  trials_.emplace(known, *journal_,
                  DeviceCare(std::ref(*trial_runner_), KnownGoodPolicy::real_devices, interrupted_),
                  interrupted_);
}

CampaignHeader BuildTrials::plan() {
  if (build_.path.empty()) build_.path = make_worker(options_.make, build_.name);
  RunOptions options = options_;
  options.cells = {options_.cell};
  options.workers = {build_.name + "=" + build_.path};
  options.trials = 1;                     // how many there will be follows from what they come to
  options.limits.budget_seconds.reset();  // that is of all builds together
  options.jobs = 1;
  options.start_process = StartProcess::exec;
  CampaignHeader header;
  try {
    header = plan_campaign(options);
  } catch (const UnreadVariable& unread) {
    throw UnusableBuild(unread.place() + ": no library that it loads has a variable of this name");
  } catch (const UnknownOperation& unknown) {
    throw UnusableBuild(unknown.problem());
  } catch (const MachineError& failed) {
    throw UnusableBuild(failed.what());
  }
  if (header.cells.empty()) {
    throw UnusableBuild(header.left_out.empty() ? "it cannot run the cell"
                                                : header.left_out.front().reason);
  }
  header.start_process = options_.start_process;
  const StartProcess start = *header.start_process;
  if (const std::string why = why_not_started_by(start, header.workers.front()); !why.empty()) {
    throw UnusableBuild(fmt::format("--start-process {}: {}", name_of(start), why));
  }
  build_.simulated = is_simulated(header);
  header.matrix_name = "bisect";
  header.origin = origin_of(folder_);
  return header;
}

const RecordedTrials* BuildTrials::run_one() {
  // A device that refuses the cell now and then is asked again, one that never takes it is not.
  const auto useless = [this] {
    return build_.here == 0 && without_evidence_ >= kMostTrialsWithoutEvidence;
  };
  const auto problem = [this] {
    return UnusableBuild("no trial came to a result that is a pass or a failure: " + last_);
  };
  if (useless()) throw problem();
  if (!trials_) begin();
  const std::optional<TrialResult> result =
      (*trials_)(journal_->existing().header.cells.front().cell, index_);
  if (!result.has_value()) return &*trials_;
  ++index_;
  count(*result);
  if (useless()) throw problem();
  return nullptr;
}

}  // namespace mpsprobe

#include "tools/runner/bisect/bisect_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/campaign/rerun.h"
#include "harness/executor/executor.h"
#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "reports/claims/change_claim.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "tools/runner/bisect/bisect_result.h"
#include "tools/runner/bisect/build_trials.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/interrupt.h"
#include "tools/runner/request_file.h"
#include "tools/runner/run/run_command.h"
#include "tools/runner/run/trial_setup.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfirmFolder = "confirm";

fs::path new_bisect_folder(const BisectOptions& options) {
  if (!options.out.has_value()) return make_default_run_folder(utc_now(), "bisect");
  make_named_folder(*options.out, kRequestFile);
  return *options.out;
}

/// A bisection as it runs: what to do next follows from the counts of its builds alone.
class Bisection {
 public:
  Bisection(const BisectRequest& request, const fs::path& folder,
            const std::atomic<bool>& interrupted)
      : request_(request), folder_(folder), interrupted_(interrupted) {
    result_.cell = request.options.cell;
    result_.signature = request.options.signature;
    result_.confidence = request.options.confidence;
    result_.builds = request.builds;
    for (Build& build : result_.builds) {
      trials_.emplace_back(request.options, build, folder / "builds" / build.name, interrupted);
    }
    look();
  }

  /// Runs until it is settled or has to end. Returns the exit code.
  int search() {
    const auto start = std::chrono::steady_clock::now();
    while (result_.usable.size() > 1 && !result_.settled()) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (interrupted_.load()) return stop("it was interrupted", kExitInterrupted);
      if (request_.options.limits.budget_seconds.value_or(1e11) < spent.count()) {
        return stop("the time was used up", kExitIncomplete);
      }
      if (!can_go_on()) {
        return stop(fmt::format("the most trials, {}, were run", request_.options.most_trials),
                    kExitIncomplete);
      }
      const size_t next = result_.usable[result_.change.build_to_try()];
      Build& build = result_.builds[next];
      try {
        if (const RecordedTrials* const ended = trials_[next].run_one()) {
          const bool lost = ended->stop_reason() == "device_lost";
          return stop(ended->stop_note(), lost ? kExitMachine : kExitInterrupted);
        }
      } catch (const UnusableBuild& unusable) {
        build.unusable = unusable.what();
        say(stderr, "mpsprobe: {} is left out: {}\n", build.name, printable(build.unusable));
        look();
        continue;
      }
      look();
      tell(build, trials_[next].last());
    }
    return result_.usable.size() > 1 ? kExitOk : kExitNothingRun;
  }

  /// Trials of both sides that chose nothing, in a run of their own. Returns the exit code.
  int confirm() {
    const size_t place = result_.change.likeliest();
    if (request_.options.confirm == 0 || place == 0) return kExitOk;
    const fs::path folder = Folder(folder_).make_below(kConfirmFolder).path();
    RunOptions run = request_.options;
    run.part = true;
    run.json = false;
    run.out = folder.string();
    run.resume.reset();
    if (has_journal(folder)) run.resume = run.out;
    run.cells = {result_.cell};
    run.own_cells = true;  // its builds ran it
    run.trials = request_.options.confirm;
    run.limits.budget_seconds.reset();
    for (const size_t side : {place - 1, place}) {
      const Build& build = result_.builds[result_.usable[side]];
      run.workers.push_back(build.name + "=" + build.path);
    }
    const int code = run_command_line(run);
    count_confirmed(folder, place);
    return code;
  }

  const BisectResult& result() const { return result_; }

  /// Whether more would be run if it went on.
  bool can_go_on() const {
    return result_.settled() || result_.trials_here() < request_.options.most_trials;
  }

 private:
  static bool has_journal(const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder / "journal.ndjson", error) &&
           has_first_record(folder / "journal.ndjson");
  }

  void look() {
    result_.usable.clear();
    std::vector<Proportion> seen;
    for (size_t i = 0; i < result_.builds.size(); ++i) {
      const Build& build = result_.builds[i];
      if (build.simulated && !result_.simulated) say_simulated();
      result_.simulated = result_.simulated || build.simulated;
      if (!build.unusable.empty()) continue;
      result_.usable.push_back(i);
      seen.push_back(build.seen);
    }
    if (seen.size() > 1) result_.change = find_change(seen);
  }

  // One line that is rewritten on a terminal; else one of each build, when it is tried first.
  void tell(const Build& build, const std::string& last) {
    const bool screen = is_screen(STDERR_FILENO);
    if (!screen && !told_.insert(build.name).second) return;
    const std::string line = fmt::format(
        "{} {}: {}, {} of {} failed", counted(result_.trials_here(), "trials"), build.name,
        shortened(printable(last), 60), build.seen.failures, build.seen.trials);
    if (!screen) say(stderr, "{}\n", line);
    rewrite_line(shortened(line, screen_width(STDERR_FILENO) - 1));
  }

  int stop(const std::string& why, int code) {
    result_.stopped = why;
    return code;
  }

  void count_confirmed(const fs::path& folder, size_t place) {
    ConfirmedSides sides;
    const std::string& before = result_.builds[result_.usable[place - 1]].name;
    for (const TrialRecord& trial : read_journal(folder / "journal.ndjson").trials) {
      if (is_unsettled(trial)) continue;
      count_result(result_of(trial), result_.signature,
                   trial.worker == before ? sides.before : sides.after);
    }
    sides.p = fisher_exact(sides.before, sides.after);
    result_.confirmed = sides;
  }

  const BisectRequest& request_;
  fs::path folder_;
  const std::atomic<bool>& interrupted_;
  std::deque<BuildTrials> trials_;  // each keeps its place
  std::set<std::string> told_;
  BisectResult result_;
};

}  // namespace

int bisect_command_line(const BisectOptions& options) {
  BisectRequest request;
  fs::path folder;
  if (options.resume.has_value()) {
    folder = *options.resume;
    request = read_bisect_request(folder, options);
  } else {
    request = bisect_request(options);
    folder = new_bisect_folder(options);
    write_bisect_request(folder, request);
  }
  const std::atomic<bool>& interrupted = watch_for_interrupt();
  say(stderr, "bisecting {} over {} builds, in {}\n", request.options.cell, request.builds.size(),
      printable(folder.string()));
  Bisection bisection(request, folder, interrupted);
  int code = bisection.search();
  rewrite_line("");
  if (code == kExitOk) code = bisection.confirm();
  const BisectResult& result = bisection.result();
  const std::string again = "`mpsprobe bisect --resume` writes it again";
  write_atomically(folder / "bisect.json", json_document(to_json(result)), again);
  write_atomically(folder / "bisect.md", bisect_markdown(result), again);
  if (options.json) {
    say(stdout, "{}", json_document(to_json(result)));
  } else {
    say(stdout, "{}result: {}\n", bisect_terminal(result),
        printable((folder / "bisect.md").string()));
  }
  // A confirmation that is incomplete for trials without a result has run all that were planned.
  if ((code == kExitInterrupted || (code == kExitIncomplete && !result.settled())) &&
      bisection.can_go_on()) {
    say_goes_on({"bisect"}, folder, options);
  }
  return code;
}

}  // namespace mpsprobe

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
#include "reports/claims/change_claim.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "reports/writers/json.h"
#include "tools/runner/bisect/bisect_result.h"
#include "tools/runner/bisect/build_trials.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/interrupt.h"
#include "tools/runner/request_file.h"
#include "tools/runner/run/run_command.h"
#include "tools/runner/run/trial_setup.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"
#include "tools/runner/standard_output_aside.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfirmFolder = "confirm";

fs::path new_bisect_folder(const BisectOptions& options) {
  if (!options.out.has_value()) return make_default_run_folder(utc_now(), "bisect");
  const fs::path folder = *options.out;
  std::error_code error;
  if (fs::exists(folder / kRequestFile, error)) {
    throw InputError("--out " + printable(folder.string()), "holds a bisection already",
                     "Go on with it by --resume, or name another folder");
  }
  make_named_folder(folder);
  return folder;
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
    for (const NamedBuild& build : request.builds) {
      trials_.emplace_back(request, build, folder / "builds" / build.name, interrupted);
      result_.builds.push_back({build.name});
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
      BuildTrials& build = trials_[next];
      try {
        if (const RecordedTrials* const ended = build.run_one()) {
          const bool lost = ended->stop_reason() == "device_lost";
          return stop(ended->stop_note(), lost ? kExitMachine : kExitInterrupted);
        }
      } catch (const UnusableBuild& unusable) {
        result_.builds[next].unusable = unusable.what();
        say(stderr, "mpsprobe: {} is left out: {}\n", build.seen().name,
            printable(unusable.what()));
        look();
        continue;
      }
      look();
      tell(build);
    }
    return result_.usable.size() > 1 ? kExitOk : kExitNothingRun;
  }

  /// Trials of both sides that chose nothing, in a run of their own. Returns the exit code.
  int confirm() {
    const size_t place = result_.change.likeliest();
    if (request_.options.confirm == 0 || place == 0) return kExitOk;
    const fs::path folder = Folder(folder_).make_below(kConfirmFolder).path();
    RunOptions run;
    run.command_line = request_.options.command_line;
    if (has_journal(folder)) {
      run.resume = folder.string();
      run.trust_run = request_.options.trust_run;
    } else {
      run.out = folder.string();
      run.cells = {result_.cell};
      run.own_cells = true;  // its builds ran it
      run.trials = request_.options.confirm;
      run.limits = request_.options.limits;
      run.limits.budget_seconds.reset();
      run.seed = request_.options.seed;
      run.environment = request_.options.environment;
      run.start_process = request_.options.start_process;
      for (const size_t side : {place - 1, place}) {
        const BuildSeen& build = result_.builds[result_.usable[side]];
        run.workers.push_back(build.name + "=" + build.path);
      }
    }
    run.fail_on = "never";
    run.part = true;
    const StandardOutputAside aside;
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
    for (size_t i = 0; i < trials_.size(); ++i) {
      const std::string unusable = result_.builds[i].unusable;
      BuildSeen& build = result_.builds[i] = trials_[i].seen();
      build.unusable = unusable;
      if (build.simulated && !result_.simulated) say_simulated();
      result_.simulated = result_.simulated || build.simulated;
      if (!unusable.empty()) continue;
      result_.usable.push_back(i);
      seen.push_back(build.seen);
    }
    if (seen.size() > 1) result_.change = find_change(seen);
  }

  // One line that is rewritten on a terminal; else one of each build, when it is tried first.
  void tell(const BuildTrials& build) {
    const bool screen = is_screen(STDERR_FILENO);
    if (!screen && !told_.insert(build.seen().name).second) return;
    const Proportion& seen = build.seen().seen;
    const std::string line = fmt::format(
        "{} {}: {}, {} of {} failed", counted(result_.trials_here(), "trials"), build.seen().name,
        shortened(printable(build.last()), 60), seen.failures, seen.trials);
    say(stderr, "{}{}{}", screen ? "\r\x1b[K" : "",
        screen ? shortened(line, screen_width(STDERR_FILENO) - 1) : line, screen ? "" : "\n");
    std::fflush(stderr);
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
  if (is_screen(STDERR_FILENO)) say(stderr, "\r\x1b[K");
  if (code == kExitOk) code = bisection.confirm();
  const BisectResult& result = bisection.result();
  const std::string again = "`mpsprobe bisect --resume` writes it again";
  write_atomically(folder / "bisect.json", json_text(to_json(result)), again);
  write_atomically(folder / "bisect.md", bisect_markdown(result), again);
  if (options.json) {
    say(stdout, "{}", json_text(to_json(result)));
  } else {
    say(stdout, "{}result: {}\n", bisect_terminal(result),
        printable((folder / "bisect.md").string()));
  }
  // A confirmation that is incomplete for trials without a result has run all that were planned.
  if ((code == kExitInterrupted || (code == kExitIncomplete && !result.settled())) &&
      bisection.can_go_on()) {
    std::vector<std::string> words{options.command_line.front(), "bisect", "--resume",
                                   folder.string()};
    if (options.trust_run) words.emplace_back("--trust-run");
    say_goes_on(words);
  }
  return code;
}

}  // namespace mpsprobe

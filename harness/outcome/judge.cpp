#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "harness/outcome/diagnosis.h"
#include "harness/outcome/outcome.h"
#include "harness/trial.h"

namespace mpsprobe {
namespace {

// Exit codes of a shell or a loader that never got to the program.
bool is_loader_exit(int code) {
  return code == 126 || code == 127;
}
// A worker that ended with one of these before it said hello was started wrongly, or is broken.
bool is_worker_start_error(int code) {
  return code == 2 || code == 3;
}

const Finding* first_of(const std::vector<Finding>& findings,
                        std::initializer_list<TextClass> classes) {
  for (const Finding& finding : findings) {
    if (std::find(classes.begin(), classes.end(), finding.text_class) != classes.end()) {
      return &finding;
    }
  }
  return nullptr;
}

/// How much a step says about what went wrong; 0: nothing.
int telling(Step step) {
  switch (step) {
    case Step::launching:
      return 3;
    case Step::synchronising:
      return 2;
    case Step::locking:
      return 1;
    default:
      return 0;
  }
}

/// The thread that a failure is about: the crashed one, else the one that was deepest in something.
const ThreadPlace* telling_thread(const RecorderReading& recorder) {
  const ThreadPlace* best = nullptr;
  for (const ThreadPlace& place : recorder.threads) {
    if (recorder.crash.signal != 0 && static_cast<int32_t>(place.thread) == recorder.crash.thread) {
      return &place;
    }
    if (telling(place.step) > (best == nullptr ? 0 : telling(best->step))) best = &place;
  }
  return best;
}

/// "launching linear", "in tear-down": where it happened, in words that are the same in every run.
std::string whereabouts(const ProcessRecord& process) {
  switch (process.recorder.phase) {
    case Phase::startup:
      return "in start-up";
    case Phase::warmup:
      return "in warm-up";
    case Phase::check:
      return "while results were checked";
    case Phase::teardown:
      return "in tear-down";
    case Phase::run:
      break;
  }
  const ThreadPlace* place = telling_thread(process.recorder);
  if (place == nullptr || place->thread == recorder_layout::kMainThread) return "in the run";
  return fmt::format("{} {}", name_of(place->step), normalise_title(place->operation));
}

class Judge {
 public:
  explicit Judge(const ProcessRecord& process)
      : process_(process), findings_(find_failures(process.err.text())) {}

  Judgement judge() {
    judgement_.phase = process_.recorder.phase;
    if (const auto* missing = std::get_if<NotSpawned>(&process_.termination)) {
      return as(Outcome::infrastructure, missing->what, "not started: " + missing->what);
    }
    if (!process_.setup_problem.empty()) {
      return as(Outcome::setup_failed, process_.setup_problem,
                normalise_title(process_.setup_problem));
    }
    if (process_.ended_by != EndedBy::nobody) return ended_by_runner();
    if (std::holds_alternative<NotReaped>(process_.termination)) {
      return as(Outcome::infrastructure, "not reaped", "stuck in the kernel");
    }
    if (const auto* signaled = std::get_if<Signaled>(&process_.termination)) {
      return died(signaled->signal);
    }
    const int code = std::get<Exited>(process_.termination).code;
    return code == 0 ? left_cleanly() : left_with(code);
  }

 private:
  Judgement as(Outcome outcome, std::string detail, std::string signature, bool known = true) {
    judgement_.outcome = outcome;
    judgement_.detail = std::move(detail);
    judgement_.signature = std::move(signature);
    judgement_.known = known;
    return judgement_;
  }
  Judgement as(Outcome outcome, const Finding& finding) {
    return as(outcome, finding.title, finding.title, finding.known);
  }

  Judgement ended_by_runner() {
    switch (process_.ended_by) {
      case EndedBy::user:
        return as(Outcome::not_run, "interrupted", "");
      case EndedBy::cancelled:
        return as(Outcome::not_run, "another process failed first", "");
      case EndedBy::memory_limit:
        return as(Outcome::out_of_memory, "memory limit", "memory limit " + whereabouts(process_));
      default:
        break;
    }
    // A crash whose handler did not get to its end shows as a process that has to be killed.
    const int crash = process_.recorder.intact ? process_.recorder.crash.signal : 0;
    if (crash > 0 && crash < 65) return died(crash);
    if (process_.ended_by == EndedBy::deadline && process_.idle_seconds < process_.seconds / 2) {
      return as(Outcome::infrastructure, "time limit, while it was getting on: raise --timeout",
                "time limit, while it was getting on");
    }
    const char* how = process_.ended_by == EndedBy::deadline ? "deadline" : "no progress";
    return as(Outcome::hang, how, "hang " + whereabouts(process_));
  }

  Judgement died(int signal) {
    const std::string name = signal_name(signal);
    if (signal == SIGKILL && process_.kernel_memory_kill) {
      return as(Outcome::out_of_memory, "killed for memory",
                "killed for memory " + whereabouts(process_));
    }
    // Nothing inside a worker sends these to itself: somebody else ended it.
    if (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP) {
      return as(Outcome::infrastructure, "killed from outside: " + name,
                "killed from outside: " + name);
    }
    // Only before the worker was up: later such a text is one that the process survived.
    const Finding* loader = first_of(findings_, {TextClass::setup_failed});
    if (loader != nullptr && !process_.hello.has_value()) {
      return as(Outcome::setup_failed, *loader);
    }
    if (signal == SIGABRT || signal == SIGTRAP) {
      // What ends a process by itself, before what only may have.
      const Finding* cause =
          first_of(findings_,
                   {TextClass::assertion, TextClass::memory_corruption, TextClass::abort_message});
      if (cause == nullptr) {
        cause = first_of(findings_,
                         {TextClass::exception, TextClass::out_of_memory, TextClass::unsupported});
      }
      if (cause != nullptr) return as(outcome_of(cause->text_class), *cause);
    }
    // An abort comes out of the C library whoever called it; for the rest the image tells.
    const std::string place = signal == SIGABRT ? "" : crash_place();
    return as(Outcome::signal, name, name + place + " " + whereabouts(process_));
  }

  static Outcome outcome_of(TextClass text_class) {
    switch (text_class) {
      case TextClass::exception:
        return Outcome::exception;
      case TextClass::out_of_memory:
        return Outcome::out_of_memory;
      case TextClass::unsupported:
        return Outcome::unsupported;
      case TextClass::setup_failed:
        return Outcome::setup_failed;
      case TextClass::gpu_error:
        return Outcome::gpu_error;
      default:
        return Outcome::assertion;
    }
  }

  /// " in libtorch_cpu.so": the image of the faulting instruction, where the handler noted it.
  std::string crash_place() const {
    const CrashSeen& crash = process_.recorder.crash;
    if (crash.frames.empty() || crash.frames.front().path.empty()) return "";
    return " in " + normalise_title(crash.frames.front().image());
  }

  Judgement left_with(int code) {
    const Finding* loader = first_of(findings_, {TextClass::setup_failed});
    if (loader != nullptr && !process_.hello.has_value()) {
      return as(Outcome::setup_failed, *loader);
    }
    const bool never_up = !process_.hello.has_value();
    if (never_up && (is_loader_exit(code) || is_worker_start_error(code))) {
      return as(Outcome::setup_failed, fmt::format("exit code {} before the worker was up", code),
                fmt::format("worker does not start: exit code {}", code));
    }
    return as(Outcome::exit, std::to_string(code),
              fmt::format("exit code {} {}", code, whereabouts(process_)));
  }

  Judgement left_cleanly() {
    // The first cause titles it: a GPU error explains the wrong numbers that follow from it.
    if (const Finding* gpu = first_of(findings_, {TextClass::gpu_error})) {
      return as(Outcome::gpu_error, *gpu);
    }
    const FailureEvent* first = nullptr;
    for (const FailureEvent& failure : process_.failures) {
      // A failure of the product says more than what it may have caused.
      const bool better =
          first == nullptr || (!is_failure(kind_of(*first)) && is_failure(kind_of(failure)));
      if (better) first = &failure;
    }
    if (first != nullptr) return reported(*first);
    if (!process_.result.has_value()) {
      return as(Outcome::missing, "left with 0 and no result",
                "left with 0 and no result, " + whereabouts(process_));
    }
    return as(Outcome::pass, "", "");
  }

  static Outcome kind_of(const FailureEvent& failure) {
    const std::optional<Outcome> kind = outcome_named(failure.kind);
    if (!kind.has_value() || *kind == Outcome::pass) return Outcome::infrastructure;
    if (*kind != Outcome::exception) return *kind;
    const std::optional<TextClass> text_class = class_of_message(failure.text);
    return text_class.has_value() && *text_class != TextClass::assertion &&
                   *text_class != TextClass::abort_message
               ? outcome_of(*text_class)
               : Outcome::exception;
  }

  Judgement reported(const FailureEvent& failure) {
    const Outcome kind = kind_of(failure);
    // The process went on after it: where it is now is not where it happened.
    if (const auto phase = phase_named(failure.phase)) judgement_.phase = *phase;
    if (kind == Outcome::wrong_result) {
      return as(kind, failure.text.substr(0, 400),
                "wrong result: " + normalise_title(failure.operation));
    }
    const std::vector<Finding> known = find_failures(failure.text);
    const bool named = !known.empty() && known.front().known;
    const std::string title =
        named ? known.front().title
              : fmt::format("{}: {}", name_of(kind), normalise_title(failure.text));
    return as(kind, normalise_title(failure.text), title, named || !is_failure(kind));
  }

  const ProcessRecord& process_;
  std::vector<Finding> findings_;
  Judgement judgement_;
};

/// Among processes without a failure, which one speaks for the trial.
int weight(Outcome outcome) {
  switch (outcome) {
    case Outcome::infrastructure:
      return 4;
    case Outcome::setup_failed:
      return 3;
    case Outcome::unsupported:
      return 2;
    case Outcome::not_run:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Judgement judge(const ProcessRecord& process) {
  return Judge(process).judge();
}

void judge_trial(TrialRecord& trial) {
  bool chosen = false;
  for (size_t i = 0; i < trial.processes.size(); ++i) {
    const ProcessRecord& process = trial.processes[i];
    Judgement judgement = judge(process);
    bool better = !chosen;
    if (chosen) {
      const bool fails = is_failure(judgement.outcome);
      const bool failed = is_failure(trial.judgement.outcome);
      if (fails && failed) {
        better =
            process.ended_at < trial.processes[static_cast<size_t>(trial.judged_process)].ended_at;
      } else {
        better = fails || (!failed && weight(judgement.outcome) > weight(trial.judgement.outcome));
      }
    }
    if (!better) continue;
    trial.judgement = std::move(judgement);
    trial.judged_process = static_cast<int>(i);
    chosen = true;
  }
}

}  // namespace mpsprobe

#include "harness/outcome/judge.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "harness/outcome/crash_title.h"
#include "harness/outcome/diagnosis.h"
#include "harness/outcome/patterns.h"
#include "harness/outcome/reported.h"
#include "harness/outcome/told.h"
#include "harness/outcome/whereabouts.h"

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
// Ends a process by itself and is not raised by the hardware: a text explains it.
bool is_deliberate(int signal) {
  return signal == SIGABRT || signal == SIGTRAP || signal == SIGILL;
}

using Classes = std::initializer_list<TextClass>;
// What ends a process, as opposed to what it may have survived.
constexpr Classes kEnding{TextClass::assertion, TextClass::memory_corruption,
                          TextClass::abort_message};
// What an uncaught exception may say.
constexpr Classes kThrown{TextClass::exception, TextClass::out_of_memory, TextClass::unsupported,
                          TextClass::gpu_error};

const Finding* first_of(const std::vector<Finding>& findings, Classes classes) {
  for (const Finding& finding : findings) {
    if (std::find(classes.begin(), classes.end(), finding.text_class) != classes.end()) {
      return &finding;
    }
  }
  return nullptr;
}

class Judge {
 public:
  Judge(const ProcessRecord& process, std::string_view path)
      : process_(process), path_(path), findings_(told_by(process)) {}

  Judgement judge() {
    judgement_.phase = process_.recorder.phase;
    decide();
    if (judgement_.outcome != Outcome::pass && judgement_.outcome != Outcome::not_run) add_also();
    return judgement_;
  }

 private:
  void decide() {
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
    code == 0 ? left_cleanly() : left_with(code);
  }

  void as(Outcome outcome, std::string detail, std::string signature, Basis basis = Basis::none,
          bool known = true) {
    judgement_.outcome = outcome;
    judgement_.detail = std::move(detail);
    judgement_.signature = std::move(signature);
    judgement_.basis = basis;
    judgement_.known = known;
  }
  void as(Outcome outcome, const Finding& finding) {
    as(outcome, finding.title, finding.title, Basis::text, finding.known);
  }
  void as_bystander() {
    as(Outcome::infrastructure, "bystander of a GPU restart", std::string(kInnocentVictim),
       Basis::text);
    judgement_.bystander = true;
  }

  // Whether all that it told of is that another process made the GPU restart.
  bool only_a_victim() const {
    return !findings_.empty() &&
           std::all_of(findings_.begin(), findings_.end(),
                       [](const Finding& finding) { return finding.title == kInnocentVictim; });
  }

  void ended_by_runner() {
    switch (process_.ended_by) {
      case EndedBy::user:
        return as(Outcome::not_run, "interrupted", "");
      case EndedBy::cancelled:
        return as(Outcome::not_run, "another process failed first", "");
      case EndedBy::memory_limit:
        return as(Outcome::out_of_memory, "memory limit",
                  "memory limit " + whereabouts(process_.recorder), Basis::place);
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
    hung();
  }

  void hung() {
    const char* how = process_.ended_by == EndedBy::deadline ? "deadline" : "no progress";
    const std::string where = whereabouts_of_hang(process_.recorder, path_);
    // How many threads wait differs from run to run: it is not part of the title.
    if (!process_.stacks.lock_cycle.empty()) {
      return as(Outcome::hang, how, "hang: lock cycle, " + where, Basis::frames);
    }
    const auto& threads = process_.stacks.threads;
    if (std::any_of(threads.begin(), threads.end(),
                    [](const ThreadStack& stack) { return stack.wait.owner_gone; })) {
      return as(Outcome::hang, how, "hang: lock held by a thread that ended, " + where,
                Basis::frames);
    }
    as(Outcome::hang, how, "hang " + where, Basis::place);
  }

  void died(int signal) {
    const std::string name = signal_name(signal);
    if (signal == SIGKILL && process_.kernel_memory_kill) {
      return as(Outcome::out_of_memory, "killed for memory",
                "killed for memory " + whereabouts(process_.recorder), Basis::place);
    }
    // Nothing inside a worker sends these to itself: somebody else ended it.
    if (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP) {
      return as(Outcome::infrastructure, "killed from outside: " + name,
                "killed from outside: " + name);
    }
    if (never_started()) return;
    const Finding* ending = first_of(findings_, kEnding);
    if (is_deliberate(signal)) {
      // What ends a process by itself, before what only may have.
      if (ending != nullptr) return as(outcome_of(ending->text_class), *ending);
      if (only_a_victim()) return as_bystander();
      if (const Finding* thrown = first_of(findings_, kThrown)) {
        return as(outcome_of(thrown->text_class), *thrown);
      }
      if (signal == SIGABRT && uncaught_object()) return;
    } else if (ending != nullptr) {
      // Another thread was about to abort: that came first, and the status stays what it was.
      return as(Outcome::signal, name, ending->title, Basis::text, ending->known);
    }
    CrashTitle crash = crash_title(process_, signal);
    as(Outcome::signal, name, std::move(crash.title), crash.basis);
  }

  // Titles what the loader could not start. `hello` is enough to know that it could, unless the
  // system itself says otherwise: a library can be missing later as well.
  bool never_started() {
    const Finding* loader = first_of(findings_, {TextClass::setup_failed});
    if (loader_failed(process_)) {
      if (loader != nullptr) {
        as(Outcome::setup_failed, *loader);
      } else {
        as(Outcome::setup_failed, "the loader ended the process", "the loader ended the process",
           Basis::text);
      }
      return true;
    }
    if (loader == nullptr || process_.hello.has_value()) return false;
    as(Outcome::setup_failed, *loader);
    return true;
  }

  // An Objective-C exception that only the crash report tells of.
  bool uncaught_object() {
    if (!process_.crash_report) return false;
    if (const std::string reason = uncaught_object_reason(process_); !reason.empty()) {
      const std::string title = exception_title(reason);
      as(Outcome::exception, title, title, Basis::text, false);
      return true;
    }
    const StackTitle thrower = title_of_stack(process_.crash_report->last_exception);
    if (thrower.kind != StackTitle::Kind::function) return false;
    const std::string title = "exception: uncaught NSException in " + thrower.function;
    as(Outcome::exception, title, title, Basis::frames, false);
    return true;
  }

  void left_with(int code) {
    if (never_started()) return;
    const bool never_up = !process_.hello.has_value();
    if (never_up && (is_loader_exit(code) || is_worker_start_error(code))) {
      return as(Outcome::setup_failed, fmt::format("exit code {} before the worker was up", code),
                fmt::format("worker does not start: exit code {}", code));
    }
    const Finding* cause = first_of(findings_, kEnding);
    if (cause == nullptr) {
      if (only_a_victim()) return as_bystander();
      cause = first_of(findings_,
                       {TextClass::exception, TextClass::out_of_memory, TextClass::gpu_error});
    }
    // Its last words title it; that it left with a code of its own stays true.
    if (cause != nullptr) {
      return as(Outcome::exit, std::to_string(code), cause->title, Basis::text, cause->known);
    }
    const Finding* unsupported = first_of(findings_, {TextClass::unsupported});
    if (unsupported != nullptr && !process_.ready) return as(Outcome::unsupported, *unsupported);
    if (const std::string python = uncaught_python_exception(process_); !python.empty()) {
      return as(Outcome::exit, std::to_string(code), exception_title(python), Basis::text, false);
    }
    as(Outcome::exit, std::to_string(code),
       fmt::format("exit code {} {}", code, whereabouts(process_.recorder)), Basis::place);
  }

  void left_cleanly() {
    // The first cause titles it: a GPU error explains the wrong numbers that follow from it.
    if (only_a_victim()) return as_bystander();
    for (const Finding& finding : findings_) {
      const bool gpu = finding.text_class == TextClass::gpu_error;
      if (gpu && finding.title != kInnocentVictim) return as(Outcome::gpu_error, finding);
    }
    if (const FailureEvent* failure = first_failure(process_.failures)) return reported(*failure);
    if (!process_.result.has_value()) {
      return as(Outcome::missing, "left with 0 and no result",
                "left with 0 and no result, " + whereabouts(process_.recorder), Basis::place);
    }
    as(Outcome::pass, "", "");
  }

  void reported(const FailureEvent& failure) {
    const ReportedFailure told = read_failure(failure);
    // The process went on after it: where it is now is not where it happened.
    if (const auto phase = phase_named(failure.phase)) judgement_.phase = *phase;
    if (told.title == kInnocentVictim) return as_bystander();
    as(told.outcome, told.detail, told.title, Basis::text, told.known);
  }

  void add_also() {
    const auto add = [&](const std::string& title, bool known) {
      std::vector<OtherFinding>& also = judgement_.also;
      const bool there = title.empty() || title == judgement_.signature ||
                         std::any_of(also.begin(), also.end(), [&](const OtherFinding& other) {
                           return other.title == title;
                         });
      if (!there && also.size() < kMostFindings) also.push_back({title, known});
    };
    for (const Finding& finding : findings_) add(finding.title, finding.known);
    for (const FailureEvent& failure : process_.failures) {
      const ReportedFailure told = read_failure(failure);
      if (is_failure(told.outcome)) add(told.title, told.known);
    }
    const auto* signaled = std::get_if<Signaled>(&process_.termination);
    if (judgement_.outcome == Outcome::signal && judgement_.basis == Basis::text &&
        signaled != nullptr) {
      const CrashTitle crash = crash_title(process_, signaled->signal);
      if (crash.basis == Basis::frames) add(crash.title, true);
    }
  }

  const ProcessRecord& process_;
  std::string_view path_;
  std::vector<Finding> findings_;
  Judgement judgement_;
};

}  // namespace

Judgement judge_on_path(const ProcessRecord& process, std::string_view path) {
  return Judge(process, path).judge();
}

Judgement judge(const ProcessRecord& process) {
  return judge_on_path(process, "");
}

}  // namespace mpsprobe

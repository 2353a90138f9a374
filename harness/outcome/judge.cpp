#include "harness/outcome/judge.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <optional>

#include "harness/outcome/bystander.h"
#include "harness/outcome/crash_title.h"
#include "harness/outcome/hang_title.h"
#include "harness/outcome/reported.h"
#include "harness/outcome/told.h"
#include "harness/outcome/whereabouts.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/title.h"

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

template <typename Fits>
const Finding* first_that(const std::vector<Finding>& findings, Fits fits) {
  const auto found = std::find_if(findings.begin(), findings.end(), fits);
  return found == findings.end() ? nullptr : &*found;
}

const Finding* first_of(const std::vector<Finding>& findings, Classes classes) {
  return first_that(findings, [&](const Finding& finding) {
    return std::find(classes.begin(), classes.end(), finding.text_class) != classes.end();
  });
}

// What ends a process, as opposed to what it may have survived.
const Finding* first_ending(const std::vector<Finding>& findings) {
  return first_that(findings,
                    [](const Finding& finding) { return ends_the_process(finding.text_class); });
}

// What a program that does not look at results dies of, where no function is known. Not what it may
// have caught and survived.
bool explains_bad_access(const Finding& finding) {
  return finding.title.starts_with("malloc: can't allocate") ||
         finding.title.starts_with("MPSGraph: ");
}

class Judge {
 public:
  Judge(const ProcessRecord& process, std::string_view path)
      : process_(process), path_(path), printed_(process.err.text()), findings_(told_by(process)) {}

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
  void as(Outcome outcome, const Finding& finding) { as(outcome, finding.title, finding); }
  void as(Outcome outcome, std::string detail, const Finding& finding) {
    as(outcome, std::move(detail), finding.title, Basis::text, finding.known);
    judgement_.why.assign(finding.why.begin(), finding.why.end());
  }
  void as(Outcome outcome, std::string detail, const Titled& words) {
    as(outcome, std::move(detail), words.title, Basis::text, false);
    judgement_.why.assign(words.why.begin(), words.why.end());
  }
  void as(Outcome outcome, std::string detail, const CrashTitle& crash) {
    as(outcome, std::move(detail), crash.title, crash.basis);
    judgement_.why = crash.why;
  }
  void as_bystander() {
    as(Outcome::infrastructure, "bystander of a GPU restart", std::string(kInnocentVictim),
       Basis::text);
    judgement_.bystander = true;
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
    const bool own = process_.recorder.intact && !process_.crashed_in_inquest;
    const int crash = own ? process_.recorder.crash.signal : 0;
    if (crash > 0 && crash < 65) return died(crash);
    if (process_.ended_by == EndedBy::deadline && process_.idle_seconds < process_.seconds / 2) {
      return as(Outcome::infrastructure, "time limit, while it was getting on: raise --timeout",
                "time limit, while it was getting on");
    }
    hung();
  }

  void hung() {
    const char* how = process_.ended_by == EndedBy::deadline ? "deadline" : "no progress";
    const HangTitle hang = hang_title(process_, path_);
    as(Outcome::hang, how, hang.title, hang.basis);
    judgement_.why = hang.why;
  }

  void died(int signal) {
    const std::string name = signal_name(signal);
    if (signal == SIGKILL && process_.kernel_memory_kill) {
      return as(Outcome::out_of_memory, "killed for memory",
                "killed for memory " + whereabouts(process_.recorder), Basis::place);
    }
    // Nothing inside a worker sends these to itself: somebody else ended it. But for the kernel,
    // which kills for the misuse of a guarded port or descriptor and says so.
    const bool guarded = signal == SIGKILL && broke_a_guard(process_);
    if (!guarded &&
        (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP)) {
      return as(Outcome::infrastructure, "killed from outside: " + name,
                "killed from outside: " + name);
    }
    if (never_started()) return;
    crash_ = crash_title(process_, signal);
    const Finding* ending = first_ending(findings_);
    if (ending != nullptr && is_deliberate(signal)) {
      return as(outcome_of(ending->text_class), *ending);
    }
    // Another thread was about to abort: that came first, and the status stays what it was. Not an
    // interpreter, which tells of a bad access in the same words.
    if (ending != nullptr && !ending->title.starts_with(kPythonFatal)) {
      return as(Outcome::signal, name, *ending);
    }
    if (!is_deliberate(signal) && crash_->basis != Basis::frames) {
      const Finding* explains = first_that(findings_, explains_bad_access);
      if (explains != nullptr) return as(Outcome::signal, name, *explains);
    }
    // An exception that nobody catches ends in abort. A trap is raised where it happens, whatever
    // was caught and printed before.
    if (signal == SIGABRT) {
      if (const Finding* thrown = what_was_thrown()) {
        if (is_victim(*thrown) && only_a_victim(process_, findings_)) return as_bystander();
        const Titled words = thrown->mute ? last_words(printed_) : Titled();
        if (!words.title.empty()) return as(Outcome::exception, words.title, words);
        // Who threw says more than a type without a message.
        if (thrown->mute && crash_->basis == Basis::frames) {
          return as(Outcome::exception, crash_->title, *crash_);
        }
        return as(outcome_of(thrown->text_class), *thrown);
      }
      if (uncaught_object()) return;
      // A library that it loaded later than at its start.
      if (const Finding* loader = first_of(findings_, {TextClass::setup_failed})) {
        return as(Outcome::signal, name, *loader);
      }
      // It ended itself, and most likely said why, in words that nobody knows.
      if (crash_->basis != Basis::frames) {
        if (const Titled words = last_words(printed_); !words.title.empty()) {
          return as(Outcome::signal, name, words);
        }
      }
    }
    as(Outcome::signal, name, *crash_);
  }

  // The text that an abort is titled by, where none says that it ends the process. What is no
  // failure of the product decides only as the last words of an uncaught exception, or where
  // nothing else is known: it may have been caught and printed long before.
  const Finding* what_was_thrown() const {
    const auto clears = [](const Finding& finding) {
      return is_victim(finding) || finding.text_class == TextClass::unsupported;
    };
    const Finding* caught = nullptr;
    for (const Finding& finding : findings_) {
      // Programs also catch what an uncaught exception may say, print it and go on.
      if (ends_the_process(finding.text_class) || finding.text_class == TextClass::setup_failed) {
        continue;
      }
      if (finding.uncaught || !clears(finding)) return &finding;
      if (caught == nullptr) caught = &finding;
    }
    if (caught == nullptr || crash_->basis == Basis::frames) return nullptr;
    // What it reported as its own failure speaks against the excuse.
    return is_victim(*caught) && !reported_as_a_victim(process_) ? nullptr : caught;
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
      const Titled titled = title_of_message(reason);
      as(Outcome::exception, titled.title, titled);
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
    const Finding* cause = first_ending(findings_);
    if (cause == nullptr) {
      if (only_a_victim(process_, findings_)) return as_bystander();
      cause = first_of(findings_,
                       {TextClass::exception, TextClass::out_of_memory, TextClass::gpu_error});
    }
    if (cause != nullptr && is_victim(*cause) && !reported_as_a_victim(process_)) {
      const ReportedFailure told = read_failure(*first_failure(process_.failures));
      as(Outcome::exit, std::to_string(code), told.title, Basis::text, told.known);
      judgement_.why = told.why;
      return;
    }
    // Its last words title it; that it left with a code of its own stays true.
    if (cause != nullptr) return as(Outcome::exit, std::to_string(code), *cause);
    const Finding* unsupported = first_of(findings_, {TextClass::unsupported});
    if (unsupported != nullptr && !process_.ready) return as(Outcome::unsupported, *unsupported);
    const Titled story = told_story(printed_);
    if (!story.title.empty()) return as(Outcome::exit, std::to_string(code), story);
    // The loader looks for some symbols when they are first called.
    const Finding* loader = first_of(findings_, {TextClass::setup_failed});
    if (loader != nullptr && is_loader_exit(code)) {
      return as(Outcome::exit, std::to_string(code), *loader);
    }
    const Titled words = last_words(printed_);
    if (!words.title.empty()) return as(Outcome::exit, std::to_string(code), words);
    as(Outcome::exit, std::to_string(code),
       fmt::format("exit code {} {}", code, whereabouts(process_.recorder)), Basis::place);
  }

  void left_cleanly() {
    // The first cause titles it: a GPU error explains the wrong numbers that follow from it. Other
    // texts of exhausted memory are what a program may survive; a command buffer that ended with an
    // error has lost its work.
    for (const Finding& finding : findings_) {
      if (tells_of_command_buffer(finding) && !is_victim(finding)) {
        return as(outcome_of(finding.text_class), finding);
      }
    }
    const FailureEvent* failure = first_failure(process_.failures);
    if (saw_itself_as_a_victim(process_, findings_) && reported_as_a_victim(process_)) {
      if (failure != nullptr) take_phase(*failure);
      return as_bystander();
    }
    if (failure != nullptr) return reported(*failure);
    if (!process_.result.has_value()) {
      // An interpreter that reads its program from a terminal leaves with 0 whatever it told.
      if (const Titled told = told_story(printed_); !told.title.empty()) {
        return as(Outcome::missing, "left with 0 and no result", told);
      }
      return as(Outcome::missing, "left with 0 and no result",
                "left with 0 and no result, " + whereabouts(process_.recorder), Basis::place);
    }
    as(Outcome::pass, "", "");
  }

  void reported(const FailureEvent& failure) {
    const ReportedFailure told = read_failure(failure);
    take_phase(failure);
    as(told.outcome, told.detail, told.title, Basis::text, told.known);
    judgement_.why = told.why;
  }

  // The process went on after it: where it is now is not where it happened.
  void take_phase(const FailureEvent& failure) {
    if (const auto phase = phase_named(failure.phase)) judgement_.phase = *phase;
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
    if (!crash_.has_value() || crash_->basis != Basis::frames) return;
    // Whatever was told: where it died stays among them.
    if (judgement_.also.size() == kMostFindings) judgement_.also.pop_back();
    add(crash_->title, true);
  }

  const ProcessRecord& process_;
  std::string_view path_;
  const std::string printed_;
  std::vector<Finding> findings_;
  std::optional<CrashTitle> crash_;  // where a signal of its own ended it
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

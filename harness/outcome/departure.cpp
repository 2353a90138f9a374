#include "harness/outcome/departure.h"

#include <fmt/format.h>

#include <string>

#include "harness/outcome/bystander.h"
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

Judgement as_reported(const Case& told, Outcome outcome, std::string detail,
                      const ReportedFailure& failure) {
  Judgement judgement =
      told.as(outcome, std::move(detail), failure.title, Basis::text, failure.known);
  judgement.why = failure.why;
  return judgement;
}

// The process went on after it: where it is now is not where it happened.
void take_phase(Judgement& judgement, const FailureEvent& failure) {
  if (const auto phase = named<Phase>(failure.phase)) judgement.phase = *phase;
}

Judgement left_with(const Case& told, int code) {
  if (std::optional<Judgement> failed = told.never_started()) return *failed;
  const bool never_up = !told.process.hello.has_value();
  if (never_up && (is_loader_exit(code) || is_worker_start_error(code))) {
    return told.as(Outcome::setup_failed,
                   fmt::format("exit code {} before the worker was up", code),
                   fmt::format("worker does not start: exit code {}", code));
  }
  const Finding* cause = told.first_ending();
  if (cause == nullptr) {
    if (only_a_victim(told.process, told.findings)) return told.as_bystander();
    cause = told.first_of({TextClass::exception, TextClass::out_of_memory, TextClass::gpu_error});
  }
  if (cause != nullptr && is_victim(*cause) && !reported_as_a_victim(told.process)) {
    const ReportedFailure reported = read_failure(*first_failure(told.process.failures));
    return as_reported(told, Outcome::exit, std::to_string(code), reported);
  }
  // Its last words title it; that it left with a code of its own stays true.
  if (cause != nullptr) return told.as(Outcome::exit, std::to_string(code), *cause);
  const Finding* unsupported = told.first_of({TextClass::unsupported});
  if (unsupported != nullptr && !told.process.ready)
    return told.as(Outcome::unsupported, *unsupported);
  const Titled story = told_story(told.printed);
  if (!story.title.empty()) return told.as(Outcome::exit, std::to_string(code), story);
  // The loader looks for some symbols when they are first called.
  const Finding* loader = told.first_of({TextClass::setup_failed});
  if (loader != nullptr && is_loader_exit(code)) {
    return told.as(Outcome::exit, std::to_string(code), *loader);
  }
  const Titled words = last_words(told.printed);
  if (!words.title.empty()) return told.as(Outcome::exit, std::to_string(code), words);
  return told.as(Outcome::exit, std::to_string(code),
                 fmt::format("exit code {} {}", code, whereabouts(told.process.recorder)),
                 Basis::place);
}

Judgement left_cleanly(const Case& told) {
  // The first cause titles it: a GPU error explains the wrong numbers that follow from it. Other
  // texts of exhausted memory are what a program may survive; a command buffer that ended with an
  // error has lost its work.
  for (const Finding& finding : told.findings) {
    if (tells_of_command_buffer(finding) && !is_victim(finding)) {
      return told.as(outcome_of(finding.text_class), finding);
    }
  }
  const FailureEvent* failure = first_failure(told.process.failures);
  if (saw_itself_as_a_victim(told.process, told.findings) && reported_as_a_victim(told.process)) {
    Judgement judgement = told.as_bystander();
    if (failure != nullptr) take_phase(judgement, *failure);
    return judgement;
  }
  if (failure != nullptr) {
    const ReportedFailure reported = read_failure(*failure);
    Judgement judgement = as_reported(told, reported.outcome, reported.detail, reported);
    take_phase(judgement, *failure);
    return judgement;
  }
  // The process went on without the thread.
  if (const Finding* died = told.first_uncaught()) {
    return told.as(outcome_of(died->text_class), *died);
  }
  if (!told.process.result.has_value()) {
    // An interpreter that reads its program from a terminal leaves with 0 whatever it told.
    if (const Titled story = told_story(told.printed); !story.title.empty()) {
      return told.as(Outcome::missing, "left with 0 and no result", story);
    }
    return told.as(Outcome::missing, "left with 0 and no result",
                   "left with 0 and no result, " + whereabouts(told.process.recorder),
                   Basis::place);
  }
  return told.as(Outcome::pass, "", "");
}

}  // namespace

Judgement judge_departure(const Case& told, int code) {
  return code == 0 ? left_cleanly(told) : left_with(told, code);
}

}  // namespace mpsprobe

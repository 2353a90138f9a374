#include <fmt/format.h>

#include <string>

#include "harness/outcome/judged_process.h"
#include "harness/outcome/printed_failures.h"
#include "harness/outcome/race_evidence.h"
#include "harness/outcome/refusals.h"
#include "harness/outcome/reported.h"
#include "harness/outcome/whereabouts.h"
#include "harness/signature/race_report.h"

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

// What ThreadSanitizer makes of any code once it has reported something, where nobody asks for
// another.
constexpr int kRaceExit = 66;

/// Whether that is the words of a library which refused somebody's own command something. What a
/// worker was refused it tells of by itself.
bool is_refusal(const JudgedProcess& judged, const Finding& said) {
  return judged.process.own_command && refusal_in(said.excerpt) != nullptr;
}

Judgement left_with(const JudgedProcess& judged, int code) {
  if (std::optional<Judgement> failed = judged.never_started()) return *failed;
  const bool never_up = !judged.process.hello.has_value();
  if (never_up && (is_loader_exit(code) || is_worker_start_error(code))) {
    return judged.as(Outcome::setup_failed,
                     fmt::format("exit code {} before the worker was up", code),
                     fmt::format("worker does not start: exit code {}", code));
  }
  const Finding* cause = judged.first_ending();
  if (cause == nullptr) {
    if (judged.only_a_victim()) return judged.as_bystander();
    cause = judged.first([](const Finding& finding) {
      return finding.text_class == TextClass::exception ||
             finding.text_class == TextClass::out_of_memory ||
             finding.text_class == TextClass::gpu_error;
    });
  }
  const Finding* const race = titling_race(judged.findings);
  if (race != nullptr && code == kRaceExit && cause == nullptr) return judged.as_race(*race);
  if (cause == nullptr) cause = race;
  if (cause != nullptr && is_victim(*cause) && !judged.reported_as_a_victim()) {
    return judged.as(Outcome::exit, std::to_string(code), *judged.told);
  }
  // What an own command was refused ends it by an exception that nobody catches.
  if (cause != nullptr && cause->uncaught && is_refusal(judged, *cause)) {
    return judged.as(Outcome::refused, *cause);
  }
  // Its last words title it; that it left with a code of its own stays true.
  if (cause != nullptr) return judged.as(Outcome::exit, std::to_string(code), *cause);
  const Finding* unsupported = judged.first_of(TextClass::unsupported);
  if (unsupported != nullptr && !judged.process.ready)
    return judged.as(Outcome::unsupported, *unsupported);
  const Titled story = told_story(judged.printed);
  if (!story.title.empty()) return judged.as(Outcome::exit, std::to_string(code), story);
  // The loader looks for some symbols when they are first called.
  const Finding* loader = judged.first_of(TextClass::setup_failed);
  if (loader != nullptr && is_loader_exit(code)) {
    return judged.as(Outcome::exit, std::to_string(code), *loader);
  }
  const Titled words = last_words(judged.printed);
  if (!words.title.empty()) return judged.as(Outcome::exit, std::to_string(code), words);
  return judged.as(Outcome::exit, std::to_string(code),
                   fmt::format("exit code {} {}", code, whereabouts(judged.process.recorder)),
                   Basis::place);
}

}  // namespace

std::optional<Judgement> judge_told(const JudgedProcess& judged) {
  // The first cause titles it: a GPU error explains the wrong numbers that follow from it. Other
  // texts of exhausted memory are what a program may survive; a command buffer that ended with an
  // error has lost its work.
  const Finding* const gpu = judged.first([](const Finding& finding) {
    return is_command_buffer_error(finding) && !is_victim(finding);
  });
  if (gpu != nullptr) return judged.as(outcome_of(gpu->text_class), *gpu);
  if (judged.saw_itself_as_a_victim()) {
    Judgement judgement = judged.as_bystander();
    // The process went on after it: where it is now is not where it happened.
    if (judged.told != nullptr) judgement.phase = judged.told->phase;
    return judgement;
  }
  return judged.told != nullptr ? std::optional(*judged.told) : std::nullopt;
}

namespace {

Judgement left_cleanly(const JudgedProcess& judged) {
  // What it went on to compute, throw or report may come of it.
  const Finding* const race = titling_race(judged.findings);
  if (race != nullptr && !race->title.ends_with(kInOwnCode)) return judged.as_race(*race);
  if (std::optional<Judgement> told = judge_told(judged)) return *told;
  // The process went on without the thread.
  if (const Finding* died = judged.first_uncaught()) {
    const bool refused = is_refusal(judged, *died);
    return judged.as(refused ? Outcome::refused : outcome_of(died->text_class), *died);
  }
  if (!judged.process.result.has_value() && !judged.process.own_command) {
    // An interpreter that reads its program from a terminal leaves with 0 whatever it told.
    if (const Titled story = told_story(judged.printed); !story.title.empty()) {
      return judged.as(Outcome::missing, "left with 0 and no result", story);
    }
    return judged.as(Outcome::missing, "left with 0 and no result",
                     "left with 0 and no result, " + whereabouts(judged.process.recorder),
                     Basis::place);
  }
  return race != nullptr ? judged.as_race(*race) : judged.as(Outcome::pass, "", "");
}

}  // namespace

Judgement judge_departure(const JudgedProcess& judged, int code) {
  return code == 0 ? left_cleanly(judged) : left_with(judged, code);
}

}  // namespace mpsprobe

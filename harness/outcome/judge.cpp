#include "harness/outcome/judge.h"

#include <algorithm>

#include "harness/outcome/case.h"
#include "harness/outcome/death.h"
#include "harness/outcome/departure.h"
#include "harness/outcome/hang_title.h"
#include "harness/outcome/reported.h"
#include "harness/outcome/whereabouts.h"

namespace mpsprobe {
namespace {

Judgement judge_hang(const Case& told, std::string_view path) {
  const char* how = told.process.ended_by == EndedBy::deadline ? "deadline" : "no progress";
  // Whoever waits for a thread that died waits for ever: what it died of titles the hang.
  if (const Finding* died = told.first_uncaught()) {
    Judgement judgement = told.as(Outcome::hang, how, *died);
    constexpr std::string_view kException = "exception: ";
    const bool named = judgement.signature.starts_with(kException);
    judgement.signature.insert(0, named ? "hang after " : "hang after exception: ");
    return judgement;
  }
  const HangTitle hang = hang_title(told.process, path);
  Judgement judgement = told.as(Outcome::hang, how, hang.title, hang.basis);
  judgement.why = hang.why;
  return judgement;
}

Judgement judge_ended_by_runner(Case& told, std::string_view path) {
  const ProcessRecord& process = told.process;
  switch (process.ended_by) {
    case EndedBy::user:
      return told.as(Outcome::not_run, "interrupted", "");
    case EndedBy::cancelled:
      return told.as(Outcome::not_run, "another process failed first", "");
    case EndedBy::memory_limit:
      return told.as(Outcome::out_of_memory, "memory limit",
                     "memory limit " + whereabouts(process.recorder), Basis::place);
    default:
      break;
  }
  // A crash whose handler did not get to its end shows as a process that has to be killed.
  const bool own = process.recorder.intact && !process.crashed_in_inquest;
  const int crash = own ? process.recorder.crash.signal : 0;
  if (crash > 0 && crash < 65) return judge_death(told, crash);
  if (process.ended_by == EndedBy::deadline && process.idle_seconds < process.seconds / 2) {
    return told.as(Outcome::infrastructure, "time limit, while it was getting on: raise --timeout",
                   "time limit, while it was getting on");
  }
  return judge_hang(told, path);
}

// How it ended decides; each way is judged in a place of its own.
Judgement decide(Case& told, std::string_view path) {
  const ProcessRecord& process = told.process;
  if (const auto* missing = std::get_if<NotSpawned>(&process.termination)) {
    return told.as(Outcome::infrastructure, missing->what, "not started: " + missing->what);
  }
  if (!process.setup_problem.empty()) {
    return told.as(Outcome::setup_failed, process.setup_problem,
                   normalise_title(process.setup_problem));
  }
  if (process.ended_by != EndedBy::nobody) return judge_ended_by_runner(told, path);
  if (std::holds_alternative<NotReaped>(process.termination)) {
    return told.as(Outcome::infrastructure, "not reaped", "stuck in the kernel");
  }
  if (const auto* signaled = std::get_if<Signaled>(&process.termination)) {
    return judge_death(told, signaled->signal);
  }
  return judge_departure(told, std::get<Exited>(process.termination).code);
}

// A rule that was broken voids what else the process came to: that is the caller's, and no
// framework's.
void judge_misuse(Judgement& judgement, const Case& told) {
  if (judgement.outcome == Outcome::infrastructure || judgement.outcome == Outcome::setup_failed ||
      judgement.outcome == Outcome::not_run) {
    return;
  }
  const FailureEvent* const first = first_failure(told.process.failures);
  if (first == nullptr || first->kind != name_of(Outcome::misuse)) return;
  const ReportedFailure misuse = read_failure(*first);
  Judgement broken = told.as(Outcome::misuse, misuse.detail, misuse.title, Basis::text);
  if (const auto phase = named<Phase>(first->phase)) broken.phase = *phase;
  if (!judgement.signature.empty() && judgement.signature != misuse.title)
    broken.also.push_back({judgement.signature, judgement.known});
  judgement = std::move(broken);
}

// What else it told of, beside what titles it.
void add_also(Judgement& judgement, const Case& told) {
  std::vector<OtherFinding>& also = judgement.also;
  const auto add = [&](const std::string& title, bool known) {
    const bool there = title.empty() || title == judgement.signature ||
                       std::any_of(also.begin(), also.end(),
                                   [&](const OtherFinding& other) { return other.title == title; });
    if (!there && also.size() < kMostFindings) also.push_back({title, known});
  };
  for (const Finding& finding : told.findings) add(finding.title, finding.known);
  for (const FailureEvent& failure : told.process.failures) {
    const ReportedFailure reported = read_failure(failure);
    const bool tells = is_failure(reported.outcome) || reported.outcome == Outcome::refused;
    if (tells) add(reported.title, reported.known);
  }
  if (!told.crash.has_value() || told.crash->basis != Basis::frames) return;
  // Whatever was told: where it died stays among them.
  if (also.size() == kMostFindings) also.pop_back();
  add(told.crash->title, true);
}

}  // namespace

Judgement judge_on_path(const ProcessRecord& process, std::string_view path) {
  Case told(process);
  Judgement judgement = decide(told, path);
  judge_misuse(judgement, told);
  if (judgement.outcome != Outcome::pass && judgement.outcome != Outcome::not_run) {
    add_also(judgement, told);
  }
  return judgement;
}

Judgement judge(const ProcessRecord& process) {
  return judge_on_path(process, "");
}

}  // namespace mpsprobe

#include "harness/outcome/judge.h"

#include <algorithm>

#include "harness/outcome/hang_title.h"
#include "harness/outcome/judged_process.h"
#include "harness/outcome/whereabouts.h"
#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

Judgement judge_hang(const JudgedProcess& judged, std::string_view path) {
  const char* how = judged.process.ended_by == EndedBy::deadline ? "deadline" : "no progress";
  // Whoever waits for a thread that died waits for ever: what it died of titles the hang.
  if (const Finding* died = judged.first_uncaught()) {
    Judgement judgement = judged.as(Outcome::hang, how, *died);
    constexpr std::string_view kException = "exception: ";
    const bool named = judgement.signature.starts_with(kException);
    judgement.signature.insert(0, named ? "hang after " : "hang after exception: ");
    return judgement;
  }
  return judged.as(Outcome::hang, how, hang_title(judged.process, path));
}

Judgement judge_slow(const JudgedProcess& judged, std::string_view path) {
  PlaceTitle where = hang_title(judged.process, path);
  where.title.replace(0, std::string_view("hang").size(), "still computing");
  return judged.as(Outcome::timeout, "still computing at the time limit", where);
}

Judgement judge_ended_by_runner(JudgedProcess& judged, std::string_view path) {
  const ProcessRecord& process = judged.process;
  switch (process.ended_by) {
    case EndedBy::user:
      return judged.as(Outcome::not_run, "interrupted", "");
    case EndedBy::cancelled:
      return judged.as(Outcome::not_run, "another process failed first", "");
    case EndedBy::memory_limit:
      return judged.as(Outcome::out_of_memory, "memory limit",
                       "memory limit " + whereabouts(process.recorder), Basis::place);
    default:
      break;
  }
  // A crash whose handler did not get to its end shows as a process that has to be killed.
  const bool own = process.recorder.intact && !process.crashed_in_inquest;
  const int crash = own ? process.recorder.crash.signal : 0;
  if (crash > 0 && crash < 65) return judge_death(judged, crash);
  if (still_computed(process)) return judge_slow(judged, path);
  return judge_hang(judged, path);
}

// How it ended decides; each way is judged in a place of its own.
Judgement decide(JudgedProcess& judged, std::string_view path) {
  const ProcessRecord& process = judged.process;
  if (const auto* missing = std::get_if<NotSpawned>(&process.termination)) {
    return judged.as(Outcome::infrastructure, missing->what, "not started: " + missing->what);
  }
  if (!process.setup_problem.empty()) {
    return judged.as(Outcome::setup_failed, process.setup_problem,
                     title_of(process.setup_problem).title);
  }
  if (process.ended_by != EndedBy::nobody) return judge_ended_by_runner(judged, path);
  if (std::holds_alternative<NotReaped>(process.termination)) {
    return judged.as(Outcome::infrastructure, "not reaped", "stuck in the kernel");
  }
  if (const auto* signaled = std::get_if<Signaled>(&process.termination)) {
    return judge_death(judged, signaled->signal);
  }
  return judge_departure(judged, std::get<Exited>(process.termination).code);
}

// Whether a failure that it reported says anything of the product.
bool tells(const Judgement& reported) {
  return is_failure(reported.outcome) || reported.outcome == Outcome::refused;
}

// What it told of while it ran came before its end, whatever that was, and is what it came to.
void judge_first(Judgement& judgement, const JudgedProcess& judged) {
  const bool ended = is_failure(judgement.outcome) || judgement.outcome == Outcome::timeout ||
                     judgement.outcome == Outcome::infrastructure;
  const Judgement* const first = judged.told;
  if (!ended || first == nullptr || judgement.bystander) return;
  if (judgement.outcome == Outcome::data_race) return;  // what was told may come of it
  if (first->signature == kInnocentVictim || !tells(*first)) return;
  std::optional<Judgement> told = judge_told(judged);
  if (!told.has_value() || told->signature == judgement.signature) return;
  told->also.push_back({judgement.signature, judgement.known});
  judgement = std::move(*told);
}

// A rule that was broken voids what else the process came to: that is the caller's, and no
// framework's.
void judge_misuse(Judgement& judgement, const JudgedProcess& judged) {
  if (judgement.outcome == Outcome::infrastructure || judgement.outcome == Outcome::setup_failed ||
      judgement.outcome == Outcome::not_run) {
    return;
  }
  if (judged.told == nullptr || judged.told->outcome != Outcome::misuse) return;
  Judgement broken = *judged.told;
  if (!judgement.signature.empty() && judgement.signature != broken.signature)
    broken.also.push_back({judgement.signature, judgement.known});
  judgement = std::move(broken);
}

// What a command was left by, or waits for, died: that titles what the command came to of it. So
// does a signal that its own handler made an exit of, in words of signals or none. Virtual machines
// go on after one: what they say then titles it.
void judge_noted(Judgement& judgement, JudgedProcess& judged) {
  static const Shape kOfSignals(
      R"((?is).*(?:\bsig(?:nal|segv|bus|ill|fpe|abrt|trap)|segmentation|bus error))");
  const ProcessRecord& process = judged.process;
  const int own = process.crashed_in_inquest ? 0 : process.recorder.crash.signal;
  const bool caught =
      judgement.outcome == Outcome::exit &&
      (judgement.basis == Basis::place || kOfSignals.match(judgement.signature, 0).has_value());
  const int signal = own == 0 ? process.child_signal : caught ? own : 0;
  if (signal == 0 || !is_failure(judgement.outcome)) return;
  Judgement died = judge_death(judged, signal);
  judgement.also.push_back({judgement.signature, judgement.known});
  judgement.signature = died.signature + (own == 0 ? ", in a process that it started" : "");
  judgement.known = died.known;
  judgement.basis = died.basis;
  judgement.why = std::move(died.why);
}

// What else it told of, beside what titles it.
void add_also(Judgement& judgement, const JudgedProcess& judged) {
  std::vector<OtherFinding>& also = judgement.also;
  const auto add = [&](const std::string& title, bool known) {
    const bool there = title.empty() || title == judgement.signature ||
                       std::any_of(also.begin(), also.end(),
                                   [&](const OtherFinding& other) { return other.title == title; });
    if (!there && also.size() < kMostFindings) also.push_back({title, known});
  };
  for (const Finding& finding : judged.findings) add(finding.title, finding.known);
  for (const Judgement& failure : judged.reported) {
    if (tells(failure)) add(failure.signature, failure.known);
  }
  if (!judged.crash.has_value() || judged.crash->basis != Basis::frames) return;
  // Whatever was told: where it died stays among them.
  if (also.size() == kMostFindings) also.pop_back();
  add(judged.crash->title, true);
}

}  // namespace

Judgement judge(const ProcessRecord& process, std::string_view path) {
  JudgedProcess judged(process);
  Judgement judgement = decide(judged, path);
  judge_first(judgement, judged);
  judge_misuse(judgement, judged);
  judge_noted(judgement, judged);
  if (judgement.outcome != Outcome::pass && judgement.outcome != Outcome::not_run) {
    add_also(judgement, judged);
  }
  return judgement;
}

namespace {

/// Among processes without a failure, which one speaks for the trial.
int weight(const Judgement& judgement) {
  switch (judgement.outcome) {
    case Outcome::infrastructure:
      // A trial is run again as a bystander's only where nothing else went wrong in it.
      return judgement.bystander ? 5 : 6;
    case Outcome::setup_failed:
    case Outcome::timeout:
      return 4;
    case Outcome::unsupported:
      return 3;
    case Outcome::refused:
      return 2;
    case Outcome::not_run:
      return 1;
    default:
      return 0;
  }
}

/// When what a process came to happened, as far as that is known.
double time_of(const ProcessRecord& process) {
  return process.failures.empty() ? process.ended_at : process.failed_at;
}

}  // namespace

void judge_trial(TrialRecord& trial) {
  const std::string_view path =
      trial.cell.path == Path::automatic ? std::string_view() : name_of(trial.cell.path);
  bool chosen = false;
  for (size_t i = 0; i < trial.processes.size(); ++i) {
    const ProcessRecord& process = trial.processes[i];
    Judgement judgement = judge(process, path);
    bool better = !chosen;
    if (chosen) {
      const bool fails = is_failure(judgement.outcome);
      const bool failed = is_failure(trial.judgement.outcome);
      if (fails && failed) {
        better =
            time_of(process) < time_of(trial.processes[static_cast<size_t>(trial.judged_process)]);
      } else {
        better = fails || (!failed && weight(judgement) > weight(trial.judgement));
      }
    }
    if (!better) continue;
    trial.judgement = std::move(judgement);
    trial.judged_process = static_cast<int>(i);
    chosen = true;
  }
}

void judge_bystander_alone(Judgement& judgement) {
  if (!judgement.bystander) return;
  judgement.bystander = false;
  judgement.outcome = Outcome::gpu_error;
  judgement.detail = kVictimAlone;
  judgement.signature = kVictimAlone;
  judgement.basis = Basis::place;
  judgement.also.insert(judgement.also.begin(), {std::string(kInnocentVictim), true});
}

}  // namespace mpsprobe

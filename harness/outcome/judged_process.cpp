#include "harness/outcome/judged_process.h"

#include <algorithm>
#include <utility>

#include "harness/outcome/printed_failures.h"
#include "harness/outcome/race_evidence.h"
#include "harness/signature/race_report.h"

namespace mpsprobe {

JudgedProcess::JudgedProcess(const ProcessRecord& record)
    : process(record), printed(record.err.text()), findings(printed_failures(record)) {}

Judgement JudgedProcess::as(Outcome outcome, std::string detail, std::string signature, Basis basis,
                            bool known) const {
  Judgement judgement;
  judgement.outcome = outcome;
  judgement.detail = std::move(detail);
  judgement.signature = std::move(signature);
  judgement.basis = basis;
  judgement.known = known;
  judgement.phase = process.recorder.phase;
  return judgement;
}

Judgement JudgedProcess::as(Outcome outcome, const Finding& finding) const {
  return as(outcome, finding.title, finding);
}

Judgement JudgedProcess::as(Outcome outcome, std::string detail, const Finding& finding) const {
  Judgement judgement = as(outcome, std::move(detail), finding.title, Basis::text, finding.known);
  judgement.why.assign(finding.why.begin(), finding.why.end());
  return judgement;
}

Judgement JudgedProcess::as(Outcome outcome, std::string detail, const Titled& words) const {
  Judgement judgement = as(outcome, std::move(detail), words.title, Basis::text, false);
  judgement.why.assign(words.why.begin(), words.why.end());
  return judgement;
}

Judgement JudgedProcess::as(Outcome outcome, std::string detail, const CrashTitle& where) const {
  Judgement judgement = as(outcome, std::move(detail), where.title, where.basis);
  judgement.why = where.why;
  return judgement;
}

Judgement JudgedProcess::as_bystander() const {
  Judgement judgement = as(Outcome::infrastructure, "bystander of a GPU restart",
                           std::string(kInnocentVictim), Basis::text);
  judgement.bystander = true;
  return judgement;
}

Judgement JudgedProcess::as_race(const Finding& race) const {
  const bool own = race.title.ends_with(kInOwnCode);
  Judgement judgement = as(own ? Outcome::infrastructure : Outcome::data_race, race);
  judgement.basis = Basis::frames;
  // It was printed at once, and the process went on.
  judgement.phase = race.title.ends_with(kInTeardown) ? Phase::teardown : Phase::run;
  return judgement;
}

const Finding* JudgedProcess::race() const {
  return titling_race(findings);
}

const Finding* JudgedProcess::first_of(std::initializer_list<TextClass> classes) const {
  const auto found =
      std::find_first_of(findings.begin(), findings.end(), classes.begin(), classes.end(),
                         [](const Finding& finding, TextClass text_class) {
                           return finding.text_class == text_class;
                         });
  return found == findings.end() ? nullptr : &*found;
}

const Finding* JudgedProcess::first_uncaught() const {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.uncaught; });
  return found == findings.end() ? nullptr : &*found;
}

const Finding* JudgedProcess::first_ending() const {
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return ends_the_process(finding.text_class);
  });
  return found == findings.end() ? nullptr : &*found;
}

// `hello` is enough to know that it could be started, unless the system itself says otherwise: a
// library can be missing later as well.
std::optional<Judgement> JudgedProcess::never_started() const {
  const Finding* loader = first_of({TextClass::setup_failed});
  if (loader_failed(process)) {
    if (loader != nullptr) return as(Outcome::setup_failed, *loader);
    return as(Outcome::setup_failed, "the loader ended the process", "the loader ended the process",
              Basis::text);
  }
  // What an own command says of itself, it says before it begins.
  const bool was_up = process.hello.has_value() && !process.own_command;
  if (loader == nullptr || was_up) return std::nullopt;
  return as(Outcome::setup_failed, *loader);
}

}  // namespace mpsprobe

#include "harness/outcome/judged_process.h"

#include <algorithm>
#include <utility>

#include "harness/outcome/printed_failures.h"
#include "harness/outcome/race_evidence.h"
#include "harness/outcome/reported.h"
#include "harness/signature/race_report.h"

namespace mpsprobe {

JudgedProcess::JudgedProcess(const ProcessRecord& record)
    : process(record), printed(printed_by(record)), findings(printed_failures(record)) {
  for (const FailureEvent& failure : record.failures) {
    Judgement& now = reported.emplace_back(read_failure(failure));
    now.phase = named<Phase>(failure.phase).value_or(record.recorder.phase);
  }
  const auto first = std::ranges::max_element(reported, {}, telling);
  if (first != reported.end()) told = &*first;
}

Judgement JudgedProcess::as(Outcome outcome, std::string detail, std::string signature, Basis basis,
                            bool known) const {
  Judgement judgement;
  judgement.signature = std::move(signature);
  judgement.basis = basis;
  judgement.known = known;
  return as(outcome, std::move(detail), std::move(judgement));
}

Judgement JudgedProcess::as(Outcome outcome, std::string detail, Judgement failure) const {
  failure.outcome = outcome;
  failure.detail = std::move(detail);
  failure.phase = process.recorder.phase;
  return failure;
}

Judgement JudgedProcess::as(Outcome outcome, std::string detail, const Titled& text) const {
  Judgement judgement = as(outcome, std::move(detail), text.title, Basis::text, text.known);
  judgement.why.assign(text.why.begin(), text.why.end());
  return judgement;
}

Judgement JudgedProcess::as(Outcome outcome, std::string detail, const PlaceTitle& where) const {
  Judgement judgement = as(outcome, std::move(detail), where.title, where.basis);
  judgement.why = where.why;
  return judgement;
}

Judgement JudgedProcess::as(Outcome outcome, const Finding& finding) const {
  return as(outcome, finding.title, finding);
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

const Finding* JudgedProcess::first_of(TextClass text_class) const {
  return first([&](const Finding& finding) { return finding.text_class == text_class; });
}

const Finding* JudgedProcess::first_uncaught() const {
  return first([](const Finding& finding) { return finding.uncaught; });
}

const Finding* JudgedProcess::first_ending() const {
  return first([](const Finding& finding) { return ends_the_process(finding.text_class); });
}

bool is_victim(const Finding& finding) {
  return finding.title == kInnocentVictim;
}

bool JudgedProcess::reported_as_a_victim() const {
  return std::ranges::all_of(reported, [](const Judgement& failure) {
    return !is_failure(failure.outcome) || failure.signature == kInnocentVictim ||
           failure.outcome == Outcome::wrong_result;
  });
}

bool JudgedProcess::saw_itself_as_a_victim() const {
  const bool saw =
      std::ranges::any_of(findings, is_victim) ||
      std::ranges::find(reported, kInnocentVictim, &Judgement::signature) != reported.end();
  return saw && reported_as_a_victim();
}

bool JudgedProcess::only_a_victim() const {
  return !findings.empty() && std::ranges::all_of(findings, is_victim) && reported_as_a_victim();
}

// `hello` is enough to know that it could be started, unless the system itself says otherwise: a
// library can be missing later as well.
std::optional<Judgement> JudgedProcess::never_started() const {
  const Finding* loader = first_of(TextClass::setup_failed);
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

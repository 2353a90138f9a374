#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "harness/outcome/crash_title.h"
#include "harness/record/process_record.h"
#include "harness/record/trial.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/title.h"

namespace mpsprobe {

/// A process that is judged: what it told, read once, and the ways to word its judgement. Outlived
/// by the record. All throw only for lack of memory.
struct JudgedProcess {
  explicit JudgedProcess(const ProcessRecord& process);

  const ProcessRecord& process;
  const std::string printed;
  const std::vector<Finding> findings;
  std::optional<CrashTitle> crash;  ///< where a signal of its own ended it

  /// Judgements in the phase that the process ended in.
  Judgement as(Outcome outcome, std::string detail, std::string signature,
               Basis basis = Basis::none, bool known = true) const;
  /// Titled by a text that it told, by words that no rule knows, by where it died.
  Judgement as(Outcome outcome, const Finding& finding) const;
  Judgement as(Outcome outcome, std::string detail, const Finding& finding) const;
  Judgement as(Outcome outcome, std::string detail, const Titled& words) const;
  Judgement as(Outcome outcome, std::string detail, const CrashTitle& where) const;
  /// Of what ThreadSanitizer reported: of the run, or of the tear-down where both sides lie there;
  /// infrastructure where nothing but this project's own code is on the stacks.
  Judgement as_race(const Finding& race) const;
  /// Of a restart of the GPU that another process caused.
  Judgement as_bystander() const;

  /// The first finding of one of these classes; nullptr where there is none.
  const Finding* first_of(std::initializer_list<TextClass> classes) const;
  /// The first that nobody caught: it ended a thread, whatever became of the process.
  const Finding* first_uncaught() const;
  /// The first of those that end a process, as opposed to what it may have survived.
  const Finding* first_ending() const;

  /// The report of ThreadSanitizer's that titles it; nullptr where there is none.
  const Finding* race() const;

  /// The judgement where a loader could not start the program.
  std::optional<Judgement> never_started() const;
};

}  // namespace mpsprobe

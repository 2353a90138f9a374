#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "harness/outcome/crash_title.h"
#include "harness/record/process_record.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {

/// A process that is judged: what it told, read once, and the ways to word its judgement. Outlived
/// by the record. All throw only for lack of memory.
struct JudgedProcess {
  explicit JudgedProcess(const ProcessRecord& process);
  JudgedProcess(const JudgedProcess&) = delete;
  JudgedProcess& operator=(const JudgedProcess&) = delete;

  const ProcessRecord& process;
  const std::string printed;
  const std::vector<Finding> findings;
  std::vector<Judgement> reported;  ///< what each failure that it reported itself comes to
  const Judgement* told = nullptr;  ///< the one of them that speaks for it
  std::optional<PlaceTitle> crash;  ///< where a signal of its own ended it

  /// Judgements in the phase that the process ended in.
  Judgement as(Outcome outcome, std::string detail, std::string signature,
               Basis basis = Basis::none, bool known = true) const;
  /// Titled as that failure, by a text that it told or by words that no rule knows, by a place.
  Judgement as(Outcome outcome, std::string detail, Judgement failure) const;
  Judgement as(Outcome outcome, std::string detail, const Titled& text) const;
  Judgement as(Outcome outcome, std::string detail, const PlaceTitle& where) const;
  Judgement as(Outcome outcome, const Finding& finding) const;
  /// Of what ThreadSanitizer reported: of the run, or of the tear-down where both sides lie there;
  /// infrastructure where nothing but this project's own code is on the stacks.
  Judgement as_race(const Finding& race) const;
  /// Of a restart of the GPU that another process caused.
  Judgement as_bystander() const;

  /// The first finding of which that is true; nullptr where there is none.
  template <typename Is>
  const Finding* first(Is is) const {
    const auto found = std::find_if(findings.begin(), findings.end(), is);
    return found == findings.end() ? nullptr : &*found;
  }
  const Finding* first_of(TextClass text_class) const;
  /// The first that nobody caught: it ended a thread, whatever became of the process.
  const Finding* first_uncaught() const;
  /// The first of those that end a process, as opposed to what it may have survived.
  const Finding* first_ending() const;

  // Another process's fault may have hit it: the GPU restarts, and everybody's work is discarded.
  /// Whether whatever it reported comes of that: the restart itself, and wrong numbers, which the
  /// discarded command buffer explains.
  bool reported_as_a_victim() const;
  /// Whether it told of that, and of nothing else that this does not explain.
  bool saw_itself_as_a_victim() const;
  /// Whether that is all that it told of.
  bool only_a_victim() const;

  /// The judgement where a loader could not start the program.
  std::optional<Judgement> never_started() const;
};

/// Whether a text tells of a restart of the GPU that another process caused.
bool is_victim(const Finding& finding);

/// The judgement of a process that a signal ended: by the text that says why, else by where it
/// died. Notes where in `judged`.
Judgement judge_death(JudgedProcess& judged, int signal);

/// The judgement of what a process told of and survived, in the phase where that happened; nothing
/// where it told of nothing.
std::optional<Judgement> judge_told(const JudgedProcess& judged);

/// The judgement of a process that left by itself with this code: one other than 0 is titled by its
/// last words, and after 0 what it printed and reported comes before its result.
Judgement judge_departure(const JudgedProcess& judged, int code);

}  // namespace mpsprobe

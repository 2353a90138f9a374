#include "harness/outcome/death.h"

#include <signal.h>

#include <algorithm>
#include <string>

#include "harness/outcome/bystander.h"
#include "harness/outcome/reported.h"
#include "harness/outcome/told.h"
#include "harness/outcome/whereabouts.h"
#include "harness/signature/frames.h"

namespace mpsprobe {
namespace {

// Ends a process by itself and is not raised by the hardware: a text explains it.
bool is_deliberate(int signal) {
  return signal == SIGABRT || signal == SIGTRAP || signal == SIGILL;
}

// What a program that does not look at results dies of, where no function is known. Not what it may
// have caught and survived.
bool explains_bad_access(const Finding& finding) {
  return finding.title.starts_with("malloc: can't allocate") ||
         finding.title.starts_with("MPSGraph: ");
}

// The text that an abort is titled by, where none says that it ends the process. What is no
// failure of the product decides only as the last words of an uncaught exception, or where
// nothing else is known: it may have been caught and printed long before.
const Finding* what_was_thrown(const Case& told) {
  const auto clears = [](const Finding& finding) {
    return is_victim(finding) || finding.text_class == TextClass::unsupported;
  };
  const Finding* caught = nullptr;
  for (const Finding& finding : told.findings) {
    // Programs also catch what an uncaught exception may say, print it and go on.
    if (ends_the_process(finding.text_class) || finding.text_class == TextClass::setup_failed) {
      continue;
    }
    if (finding.uncaught || !clears(finding)) return &finding;
    if (caught == nullptr) caught = &finding;
  }
  if (caught == nullptr || told.crash->basis == Basis::frames) return nullptr;
  // What it reported as its own failure speaks against the excuse.
  return is_victim(*caught) && !reported_as_a_victim(told.process) ? nullptr : caught;
}

// An Objective-C exception that only the crash report tells of.
std::optional<Judgement> uncaught_object(const Case& told) {
  if (!told.process.crash_report) return std::nullopt;
  if (const std::string reason = uncaught_object_reason(told.process); !reason.empty()) {
    const Titled titled = title_of_message(reason);
    return told.as(Outcome::exception, titled.title, titled);
  }
  const StackTitle thrower = title_of_stack(told.process.crash_report->last_exception);
  if (thrower.kind != StackTitle::Kind::function) return std::nullopt;
  const std::string title = "exception: uncaught NSException in " + thrower.function;
  return told.as(Outcome::exception, title, title, Basis::frames, false);
}

}  // namespace

Judgement judge_death(Case& told, int signal) {
  const std::string name = signal_name(signal);
  if (signal == SIGKILL && told.process.kernel_memory_kill) {
    return told.as(Outcome::out_of_memory, "killed for memory",
                   "killed for memory " + whereabouts(told.process.recorder), Basis::place);
  }
  // Nothing inside a worker sends these to itself: somebody else ended it. But for the kernel,
  // which kills for the misuse of a guarded port or descriptor and says so.
  const bool guarded = signal == SIGKILL && broke_a_guard(told.process);
  if (!guarded &&
      (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP)) {
    return told.as(Outcome::infrastructure, "killed from outside: " + name,
                   "killed from outside: " + name);
  }
  if (std::optional<Judgement> failed = told.never_started()) return *failed;
  told.crash = crash_title(told.process, signal);
  const Finding* ending = told.first_ending();
  if (ending != nullptr && is_deliberate(signal)) {
    return told.as(outcome_of(ending->text_class), *ending);
  }
  // Another thread was about to abort: that came first, and the status stays what it was. Not an
  // interpreter, which tells of a bad access in the same words.
  if (ending != nullptr && !ending->title.starts_with(kPythonFatal)) {
    return told.as(Outcome::signal, name, *ending);
  }
  if (!is_deliberate(signal) && told.crash->basis != Basis::frames) {
    const auto explains =
        std::find_if(told.findings.begin(), told.findings.end(), explains_bad_access);
    if (explains != told.findings.end()) return told.as(Outcome::signal, name, *explains);
  }
  // An exception that nobody catches ends in abort, Swift's fatal error in a trap. Any other trap
  // is raised where it happens, whatever was caught and printed before.
  if (const Finding* died = told.first_uncaught(); died != nullptr && is_deliberate(signal)) {
    if (signal != SIGABRT) return told.as(outcome_of(died->text_class), *died);
  }
  if (signal == SIGABRT) {
    if (const Finding* thrown = what_was_thrown(told)) {
      if (is_victim(*thrown) && only_a_victim(told.process, told.findings))
        return told.as_bystander();
      const Titled words = thrown->mute ? last_words_of(told.process) : Titled();
      if (!words.title.empty()) return told.as(Outcome::exception, words.title, words);
      // Who threw says more than a type without a message.
      if (thrown->mute && told.crash->basis == Basis::frames) {
        return told.as(Outcome::exception, told.crash->title, *told.crash);
      }
      return told.as(outcome_of(thrown->text_class), *thrown);
    }
    if (std::optional<Judgement> object = uncaught_object(told)) return *object;
    // A library that it loaded later than at its start.
    if (const Finding* loader = told.first_of({TextClass::setup_failed})) {
      return told.as(Outcome::signal, name, *loader);
    }
    // It ended itself, and most likely said why, in words that nobody knows.
    if (told.crash->basis != Basis::frames || told.crash->python) {
      const Titled words = last_words_of(told.process);
      if (!words.title.empty() && !(words.vague && told.crash->python)) {
        return told.as(Outcome::signal, name, words);
      }
    }
  }
  return told.as(Outcome::signal, name, *told.crash);
}

}  // namespace mpsprobe

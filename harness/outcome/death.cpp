#include <signal.h>

#include <string>

#include "harness/outcome/judged_process.h"
#include "harness/outcome/printed_failures.h"
#include "harness/outcome/reported.h"
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
const Finding* what_was_thrown(const JudgedProcess& judged) {
  const auto clears = [](const Finding& finding) {
    return is_victim(finding) || finding.text_class == TextClass::unsupported;
  };
  const Finding* caught = nullptr;
  for (const Finding& finding : judged.findings) {
    // Programs also catch what an uncaught exception may say, print it and go on.
    if (ends_the_process(finding.text_class) || finding.text_class == TextClass::setup_failed) {
      continue;
    }
    if (finding.uncaught || !clears(finding)) return &finding;
    if (caught == nullptr) caught = &finding;
  }
  if (caught == nullptr || judged.crash->basis == Basis::frames) return nullptr;
  // What it reported as its own failure speaks against the excuse.
  return is_victim(*caught) && !judged.reported_as_a_victim() ? nullptr : caught;
}

// An Objective-C exception that only the crash report tells of.
std::optional<Judgement> uncaught_object(const JudgedProcess& judged) {
  if (!judged.process.crash_report) return std::nullopt;
  if (const std::string reason = uncaught_object_reason(judged.process); !reason.empty()) {
    const Titled titled = title_of_message(reason);
    return judged.as(Outcome::exception, titled.title, titled);
  }
  const StackTitle thrower = title_of_stack(judged.process.crash_report->last_exception);
  if (thrower.kind != StackTitle::Kind::function) return std::nullopt;
  const std::string title = "exception: uncaught NSException in " + thrower.function;
  return judged.as(Outcome::exception, title, title, Basis::frames, false);
}

/// By what was said of the end. A check that says nothing but that it failed comes of the GPU's
/// error that was told before. Words that say nothing more than that it ended so, or of which type
/// an exception was, say less than the function that ended it or threw.
Judgement ended_so(JudgedProcess& judged, const Finding& said) {
  const Outcome outcome = outcome_of(said.text_class);
  const bool bare = said.mute && said.text_class == TextClass::assertion;
  const Finding* const gpu = judged.first(is_command_buffer_error);
  if (bare && gpu != nullptr) return judged.as(outcome_of(gpu->text_class), *gpu);
  if (said.mute && !bare && judged.crash->basis == Basis::frames) {
    return judged.as(outcome, judged.crash->title, *judged.crash);
  }
  return judged.as(outcome, said);
}

}  // namespace

Judgement judge_death(JudgedProcess& judged, int signal) {
  const std::string name = signal_name(signal);
  if (signal == SIGKILL && judged.process.kernel_memory_kill) {
    return judged.as(Outcome::out_of_memory, "killed for memory",
                     "killed for memory " + whereabouts(judged.process.recorder), Basis::place);
  }
  // Nothing inside a worker sends these to itself: somebody else ended it. But for the kernel,
  // which kills for the misuse of a guarded port or descriptor and says so.
  const bool guarded = signal == SIGKILL && broke_a_guard(judged.process);
  if (!guarded &&
      (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP)) {
    return judged.as(Outcome::infrastructure, "killed from outside: " + name,
                     "killed from outside: " + name);
  }
  if (std::optional<Judgement> failed = judged.never_started()) return *failed;
  judged.crash = crash_title(judged.process, signal);
  const Finding* ending = judged.first_ending();
  if (ending != nullptr && is_deliberate(signal)) {
    return ended_so(judged, *ending);
  }
  // Another thread was about to abort: that came first, and the status stays what it was. Not an
  // interpreter, which tells of a bad access in the same words.
  if (ending != nullptr && !ending->title.starts_with(kPythonFatal)) {
    return judged.as(Outcome::signal, name, *ending);
  }
  if (!is_deliberate(signal) && judged.crash->basis != Basis::frames) {
    const Finding* const explains = judged.first(explains_bad_access);
    if (explains != nullptr) return judged.as(Outcome::signal, name, *explains);
  }
  // An exception that nobody catches ends in abort, Swift's fatal error in a trap. Any other trap
  // is raised where it happens, whatever was caught and printed before.
  if (const Finding* died = judged.first_uncaught(); died != nullptr && is_deliberate(signal)) {
    if (signal != SIGABRT) return judged.as(outcome_of(died->text_class), *died);
  }
  if (signal == SIGABRT) {
    if (const Finding* thrown = what_was_thrown(judged)) {
      if (is_victim(*thrown) && judged.only_a_victim()) return judged.as_bystander();
      const Titled words = thrown->mute ? last_words_of(judged.process) : Titled();
      if (!words.title.empty()) return judged.as(Outcome::exception, words.title, words);
      return ended_so(judged, *thrown);
    }
    if (std::optional<Judgement> object = uncaught_object(judged)) return *object;
    // A library that it loaded later than at its start.
    if (const Finding* loader = judged.first_of(TextClass::setup_failed)) {
      return judged.as(Outcome::signal, name, *loader);
    }
    // It ended itself, and most likely said why, in words that nobody knows.
    if (judged.crash->basis != Basis::frames || judged.crash->python) {
      const Titled words = last_words_of(judged.process);
      if (!words.title.empty() && !(words.vague && judged.crash->python)) {
        return judged.as(Outcome::signal, name, words);
      }
    }
  }
  return judged.as(Outcome::signal, name, *judged.crash);
}

}  // namespace mpsprobe

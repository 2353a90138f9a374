#include "harness/pasted_text/pasted_process.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "harness/crash_report/ips.h"
#include "harness/outcome/race_evidence.h"
#include "harness/outcome/telling_stack.h"
#include "harness/pasted_text/pasted_text.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/frames.h"
#include "harness/signature/shape.h"
#include "harness/signature/written_stacks.h"
#include "harness/wire/ascii.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

// Where a report in text form begins; the process printed what stands above it.
size_t report_begin(std::string_view text) {
  static const Shape kHead(
      "-------------------------------------|Process:|Path:|Identifier:|Date/Time:|OS Version:|"
      "Hardware Model:|Incident Identifier:|Crashed Thread:|Exception Type:");
  for (const std::string_view line : split(text, '\n')) {
    const size_t words = std::min(line.find_first_not_of("> \t"), line.size());
    if (kHead.match(line, words)) return static_cast<size_t>(line.data() - text.data());
  }
  return text.size();
}

// An `.ips` within a text: two JSON documents, one after the other.
bool take_json_report(ProcessRecord& process, std::string& text) {
  const size_t begin = text.find("{\"app_name\"");
  if (process.crash_report || begin == std::string::npos || (begin > 0 && text[begin - 1] != '\n'))
    return false;
  const size_t end = text.rfind('}');
  if (end == std::string::npos || end < begin) return false;
  ParsedReport parsed = parse_crash_report(text.substr(begin, end + 1 - begin));
  auto* report = std::get_if<CrashReport>(&parsed);
  if (report == nullptr) return false;
  process.crash_report = std::move(*report);
  text.resize(begin);
  return true;
}

// Who pastes a report cuts it, and one is whole only with its list of images.
void take_text_report(ProcessRecord& process, std::string& text) {
  if (process.crash_report) return;
  ParsedReport parsed = parse_crash_text(text + "\nBinary Images:\n");
  auto* report = std::get_if<CrashReport>(&parsed);
  if (report == nullptr || report->exception.empty()) return;
  process.crash_report = std::move(*report);
  text.resize(report_begin(text));
}

// Whether the report that was read shows where it died.
bool shows_frames(const ProcessRecord& process) {
  return process.crash_report && !process.crash_report->threads.empty() &&
         !process.crash_report->threads.front().frames.empty();
}

// The functions that end a process stand on top: an abort, whoever says nothing of it.
bool aborts(const std::vector<ThreadStack>& threads) {
  static const Shape kAbort(R"(_*(?:GI_)?(?:abort|raise|pthread_kill|assert_rtn|assert_fail\w*)$)");
  constexpr size_t kTop = 4;
  if (threads.empty()) return false;
  const std::vector<StackFrame>& frames = threads.front().frames;
  return std::any_of(
      frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(std::min(kTop, frames.size())),
      [](const StackFrame& frame) { return kAbort.match(frame.function, 0).has_value(); });
}

size_t named_frames(const WrittenStacks& stacks) {
  size_t count = 0;
  for (const ThreadStack& stack : stacks.threads) {
    for (const StackFrame& frame : stack.frames) count += frame.function.empty() ? 0 : 1;
  }
  return count;
}

// The stacks that the text shows, and whether they are of a process that hangs. Frames of a length
// look like broken lines, and broken ones like none: the reading that sees more of them counts.
bool take_stacks(ProcessRecord& process, std::string_view pasted, std::string_view text,
                 int died_of) {
  if (!process.stacks.threads.empty() || shows_frames(process)) return false;
  WrittenStacks written = read_written_stacks(text);
  WrittenStacks other = read_written_stacks(failure_text(pasted, BrokenLines::leave));
  if (named_frames(other) > named_frames(written)) written = std::move(other);
  std::vector<ThreadStack> sides = race_evidence(text).sides;
  if (!written.alive && !sides.empty()) {
    process.stacks.threads = std::move(sides);
    return false;
  }
  const bool hangs = written.alive || (written.all_threads && died_of == 0);
  std::vector<ThreadStack>& threads = written.threads;
  // What faulthandler printed of a death is told as Python's (python_death.h).
  const auto of_python = [](const ThreadStack& stack) {
    return in_python(stack.frames.front().image);
  };
  if (!hangs && died_of != 0) std::erase_if(threads, of_python);
  if (threads.empty()) return written.alive;
  if (!hangs) threads.front().faulting = true;
  process.stacks.threads = std::move(threads);
  for (size_t i = 0; written.lock_cycle && i < process.stacks.threads.size(); ++i) {
    ThreadStack& stack = process.stacks.threads[i];
    stack.thread_id = i + 1;
    if (at_work(stack).doing == Doing::waits_for_lock) process.stacks.lock_cycle.push_back(i + 1);
  }
  process.stacks.threads.front().wait.owner_gone = written.owner_gone;
  return hangs && !aborts(process.stacks.threads);
}

// The signal that a text says a process died of, in the words of shells, runtimes, debuggers,
// launchers and people; 0 where it says none. A name within another name is none, nor is one that
// is said not to be the case.
int told_signal(std::string_view text) {
  // clang-format off
  static const std::pair<Shape, int> kWords[] = {
      {Shape(R"((?:EXC_BAD_ACCESS|(?:SIG|[Ss]ignal:? \d+[ /]\(?)SEGV|[Ss]egmentation fault|[Ss]egfault(?:s|ed)?|general protection(?: fault)? ip)\b)"), SIGSEGV},
      {Shape(R"((?:(?:SIG|[Ss]ignal:? \d+[ /]\(?)BUS|[Bb]us error)\b)"), SIGBUS},
      {Shape(R"((?:(?:SIG|[Ss]ignal:? \d+[ /]\(?)TRAP|EXC_BREAKPOINT|[Tt]race/BPT trap|trace trap|trap int3)\b)"), SIGTRAP},
      {Shape(R"((?:(?:SIG|[Ss]ignal:? \d+[ /]\(?)ILL|EXC_BAD_INSTRUCTION|[Ii]llegal instruction|trap invalid opcode)\b)"), SIGILL},
      {Shape(R"((?:(?:SIG|[Ss]ignal:? \d+[ /]\(?)FPE|EXC_ARITHMETIC|[Ff]loating[ -]point exception|trap divide error)\b)"), SIGFPE},
      {Shape(R"((?:(?:SIG|[Ss]ignal:? \d+[ /]\(?)ABRT\b|EXC_CRASH|Abort trap|[Aa]bort\(\) called|zsh: abort|abort  |Aborted(?: \(core| *$|!|  )))"), SIGABRT}};
  static const Shape kNot(R"((?i)[^\n]*?(?:\b(?:no|not|never|without|instead of|rather than|whether|if|\w+n't)\b|\b(?:signal|sigaction)\()[^.,;:\n]{0,16}$)");
  // clang-format on
  constexpr size_t kBefore = 32;
  for (const auto& [word, signal] : kWords) {
    for (size_t at = 0; at < text.size(); ++at) {
      if (at > 0 && ascii::word(text[at - 1])) continue;
      if (!word.match(text, at)) continue;
      const size_t line = text.rfind('\n', at) + 1;  // npos + 1 is 0
      const size_t begin = std::max(line, at - std::min(at, kBefore));
      if (!kNot.match(std::string(text.substr(begin, at - begin)), 0)) return signal;
    }
  }
  return 0;
}

}  // namespace

Termination told_termination(const ProcessRecord& process) {
  std::string text = process.err.text();
  if (process.crash_report) {
    const CrashReport& report = *process.crash_report;
    for (int signal = 1; signal < 32; ++signal) {
      if (report.signal == signal_name(signal)) return Signaled{signal, false};
    }
    text += report.exception + "\n" + report.termination_indicator;
  }
  if (const int signal = told_signal(text); signal != 0) return Signaled{signal, false};
  if (aborts(process.stacks.threads)) return Signaled{SIGABRT, false};
  return Exited{0};
}

bool take_pasted_text(ProcessRecord& process, std::string_view pasted) {
  std::string text(pasted);
  const bool json = take_json_report(process, text);
  text = failure_text(text);
  bool hangs = false;
  if (!json) {
    const std::string whole = text;
    take_text_report(process, text);
    hangs = take_stacks(process, pasted, whole, told_signal(whole));
  }
  process.err.head = std::move(text);
  process.err.bytes = process.err.head.size();
  return hangs;
}

ProcessRecord read_pasted_process(std::string_view pasted) {
  ProcessRecord process;
  process.hello = HelloEvent{kProtocolVersion, "{}"};
  process.ready = true;
  process.recorder.phase = Phase::run;
  const bool hangs = take_pasted_text(process, pasted);
  process.termination = told_termination(process);
  if (hangs) {
    process.termination = Signaled{SIGKILL, false};
    process.ended_by = EndedBy::no_progress;
    process.seconds = process.idle_seconds = 1;
    return process;
  }
  if (process.termination != Termination(Exited{0})) return process;
  process.result = ResultEvent{};
  const std::vector<Finding> findings = find_failures(process.err.head);
  const auto ends = [](const Finding& finding) { return ends_the_process(finding.text_class); };
  if (std::any_of(findings.begin(), findings.end(), ends)) {
    // It prints these and ends.
    process.termination = Signaled{SIGABRT, false};
    return process;
  }
  const std::vector<ThreadStack>& threads = process.stacks.threads;
  if (!threads.empty() && threads.front().thread == kSideOfRace) return process;
  // How it ended is not told: what it told of is all that is known.
  FailureEvent failure;
  failure.kind = "exception";
  failure.phase = "run";
  failure.text = findings.empty() ? told_error(process.err.head) : findings.front().excerpt;
  if (failure.text.empty()) return process;
  process.failures.push_back(std::move(failure));
  ThreadStack raised;
  raised.faulting = true;
  raised.frames = read_written_stacks(process.err.head).traceback;
  if (!raised.frames.empty()) process.stacks.threads = {std::move(raised)};
  return process;
}

}  // namespace mpsprobe

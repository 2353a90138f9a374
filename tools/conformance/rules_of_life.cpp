#include <fmt/format.h>

#include <array>
#include <sstream>

#include "harness/executor/environment.h"
#include "harness/process/command.h"
#include "tools/conformance/rules.h"

namespace mpsprobe {
namespace {

constexpr int kOrphaned = 77;
constexpr double kLeashSeconds = 5;

/// A run that comes to its end; the other rules are of such.
Seen sound_run(const Subject& subject, const Cell& cell) {
  Seen seen = run_through(subject, {.cell = cell});
  if (const std::string wrong = what_went_wrong(seen.record); !wrong.empty()) {
    throw NotSeen(fmt::format("{}: the worker {}", to_string(cell), wrong));
  }
  return seen;
}

int exit_code_of(const Termination& termination) {
  const auto* exited = std::get_if<Exited>(&termination);
  return exited == nullptr ? -1 : exited->code;
}

bool launches_seen(const recorder_layout::Block& recorder) {
  for (const recorder_layout::ThreadSlot& slot : recorder.threads) {
    if (slot.launches.load(std::memory_order_acquire) > 0) return true;
  }
  return false;
}

std::string ending(const Subject& subject) {
  const std::string wrong = what_went_wrong(run_through(subject, {.cell = subject.cell()}).record);
  return wrong.empty() ? "" : fmt::format("it {}", wrong);
}

std::string gate(const Subject& subject) {
  WatchedProcess process(subject, {.cell = subject.cell()});
  if (!process.wait_until_ready()) {
    throw NotSeen("it never gets ready: " + what_went_wrong(process.end().record));
  }
  std::string early;
  const bool ended = process.watch(0.2, [&] {
    if (launches_seen(process.recorder())) early = "it launches before the gate has opened";
    return !early.empty();
  });
  if (ended && early.empty()) early = "it ends before the gate has opened";
  return early;
}

/// How a process whose gate has ended comes to its end.
std::string after_hanging_up(WatchedProcess& process, std::string_view when) {
  process.hang_up();
  if (!process.watch(kLeashSeconds)) {
    return fmt::format("it lives on for seconds after its gate has ended, {}", when);
  }
  const int code = exit_code_of(process.end().record.termination);
  return code == kOrphaned ? ""
                           : fmt::format(
                                 "it ends with exit code {} and not 77 after its gate has "
                                 "ended, {}",
                                 code, when);
}

std::string leash(const Subject& subject) {
  {
    WatchedProcess process(subject, {.cell = subject.cell()});
    if (!process.wait_until_ready()) {
      throw NotSeen("it never gets ready: " + what_went_wrong(process.end().record));
    }
    if (std::string wrong = after_hanging_up(process, "before it has opened"); !wrong.empty()) {
      return wrong;
    }
  }
  std::pair<std::string, std::string> longer{"seconds", "30"};
  if (!subject.honours("seconds")) longer = {"iterations", "1000000"};
  if (!subject.honours(longer.first)) return "";
  WatchedProcess process(subject, {.cell = subject.cell({longer})});
  if (!process.wait_until_ready()) return "";  // as much work may not be possible
  process.open_gate();
  process.watch(20, [&] { return launches_seen(process.recorder()); });
  return process.ended() ? "" : after_hanging_up(process, "in the run");
}

std::string phases(const Subject& subject) {
  WatchedProcess process(subject, {.cell = subject.cell()});
  const auto phase = [&] { return static_cast<Phase>(process.recorder().phase.load()); };
  if (!process.wait_until_ready()) {
    throw NotSeen("it never gets ready: " + what_went_wrong(process.end().record));
  }
  if (phase() > Phase::warmup) {
    return fmt::format("its phase is {} before the gate has opened", name_of(phase()));
  }
  std::string wrong;
  process.open_gate();
  while (!process.ended() && wrong.empty()) {
    process.watch(1, [&] {
      // In this order: what has launched has come to the phase before. More than once: a worker
      // may store a word in several steps.
      for (int look = 0; look < 3; ++look) {
        if (!launches_seen(process.recorder()) || phase() >= Phase::run) return false;
      }
      wrong = fmt::format("it launches and its phase is still {}", name_of(phase()));
      return true;
    });
  }
  const Seen seen = process.end();
  if (!wrong.empty()) return wrong;
  if (std::string problem = what_went_wrong(seen.record); !problem.empty()) throw NotSeen(problem);
  if (!seen.record.recorder.intact) return "it spoils its flight recorder";
  const Phase last = seen.record.recorder.phase;
  return last >= Phase::teardown
             ? ""
             : fmt::format("its phase is {} when it has ended, and not teardown", name_of(last));
}

std::string channels(const Subject& subject) {
  const Seen seen = run_through(subject, {.cell = subject.cell()});
  if (seen.record.garbage_bytes > 0) {
    return "it writes something else than events to the events channel";
  }
  for (const Capture* capture : {&seen.record.out, &seen.record.err}) {
    std::istringstream text(capture->text());
    for (std::string line; std::getline(text, line);) {
      if (parse_event(line).has_value()) {
        return fmt::format("it writes events to {}",
                           capture == &seen.record.out ? "stdout" : "stderr");
      }
    }
  }
  return "";
}

std::string children(const Subject& subject) {
  return sound_run(subject, subject.cell()).record.left_descendants
             ? "it ends and leaves a process behind"
             : "";
}

std::string refusing(const Subject& subject) {
  Cell unknown = subject.cell();
  unknown.op = "no_such_operation";
  const Seen seen = run_through(subject, {.cell = unknown});
  const ProcessRecord& record = seen.record;
  const bool told = !record.failures.empty() && record.failures.front().kind == "unsupported";
  if (!told || record.ready || exit_code_of(record.termination) != 0) {
    return fmt::format(
        "a cell of an operation that it has not: it {}, and does not say that this is unsupported",
        record.ready ? "runs it" : what_went_wrong(record));
  }
  const Seen other = run_through(subject, {.cell = subject.cell(), .other_layout = true});
  if (const int code = exit_code_of(other.record.termination); code != 3) {
    return fmt::format("a flight recorder of another version: it ends with exit code {} and not 3",
                       code);
  }
  const CommandResult without = run_command(
      {subject.path(), "run"}, 60, worker_environment(Cell{}, inherited_environment(), {}));
  if (const int code = exit_code_of(without.termination); code != 2) {
    return fmt::format("run without --cell: it ends with exit code {} and not 2", code);
  }
  return "";
}

constexpr std::array kRules{
    Rule{"ending", "says hello, ready and result, and ends with exit code 0", ending},
    Rule{"gate", "waits for the gate before it launches", gate},
    Rule{"leash", "ends with exit code 77 when its gate ends", leash},
    Rule{"phases", "notes its phases in the flight recorder", phases},
    Rule{"channels", "writes events, and nothing else, to the events channel", channels},
    Rule{"children", "leaves no process behind", children},
    Rule{"refusing", "says what it cannot do, and which exit code stands for it", refusing},
};

}  // namespace

std::span<const Rule> rules_of_life() {
  return kRules;
}

}  // namespace mpsprobe

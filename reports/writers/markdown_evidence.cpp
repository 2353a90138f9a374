#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <initializer_list>
#include <utility>

#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reports/words/stack_words.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFrames = 24;
constexpr size_t kMostPythonFrames = 16;
constexpr size_t kMostFramesOfMany = 12;  // where every thread has a stack of its own
constexpr size_t kMostStacks = 16;
constexpr size_t kMostTexts = 8;
constexpr size_t kMostEvents = 8;

std::string frames(const std::vector<StackFrame>& stack, size_t most, Entry entry = Entry::show) {
  std::string text = code_block(stack_in_words(stack, most, entry)) + "\n";
  std::vector<std::string> ids;
  for (const StackFrame& frame : images_without_names(stack, most)) {
    ids.push_back(code_span(frame.image, 60) + " " + code_span(frame.image_id, 80));
  }
  return ids.empty() ? text : text + "Ids of the images without names: " + joined(ids) + ".\n\n";
}

// Raw addresses, where nothing could be symbolised.
std::vector<StackFrame> raw_frames(const CrashSeen& crash) {
  std::vector<StackFrame> stack;
  for (const FrameAddress& frame : crash.frames) {
    stack.push_back({frame.image(), frame.image_id, frame.offset, "", "", false});
  }
  return stack;
}

std::string python_stack(const FailureExample& example) {
  if (example.python_stack.empty()) return "";
  return "Where the crashed thread was in Python:\n\n" +
         code_block(python_stack_in_words(example.python_stack, kMostPythonFrames)) + "\n";
}

std::string crashed_stack(const FailureExample& example) {
  const auto faulting = std::find_if(example.stacks.threads.begin(), example.stacks.threads.end(),
                                     [](const ThreadStack& stack) { return stack.faulting; });
  if (faulting != example.stacks.threads.end() && !faulting->frames.empty()) {
    return "Stack of the crashed thread; ~ marks what only passes things on:\n\n" +
           frames(faulting->frames, kMostFrames);
  }
  if (example.recorder.crash.frames.empty()) return "";
  return "Stack of the crashed thread, image + offset:\n\n" +
         frames(raw_frames(example.recorder.crash), kMostFrames);
}

std::string said_by(const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += "- " + escaped(remark, 400) + "\n";
  return text.empty() ? text : text + "\n";
}

std::string hung_stacks(const FailureExample& example) {
  const StackEvidence& stacks = example.stacks;
  const bool hung = example.judgement.outcome == Outcome::hang;
  if (stacks.threads.empty()) {
    if (!hung) return "";
    switch (example.recorder.inquest) {
      case Inquest::unavailable:
        return "No stacks: this worker does not offer to take them.\n\n";
      case Inquest::offered:
        return "No stacks: the worker did not begin to take them.\n\n";
      default:
        return "The worker began to take the stacks of its threads and did not get to their end."
               "\n\n";
    }
  }
  std::string text;
  if (hung && stacks.threads.size() < example.recorder.threads_asked) {
    text += fmt::format("{} of its {} threads gave their stacks.\n\n", stacks.threads.size(),
                        example.recorder.threads_asked);
  }
  if (!stacks.lock_cycle.empty()) {
    text += fmt::format("**Lock cycle of {}:** {}.\n\n", stacks.lock_cycle.size(),
                        escaped(lock_cycle_in_words(stacks), 4000));
  }
  std::string waits;
  for (const std::string& line : waits_in_words(stacks)) waits += "- " + escaped(line) + "\n";
  if (!waits.empty()) text += waits + "\n";

  const auto groups = group_stacks(stacks);
  const bool race = !groups.empty() && groups[0][0]->thread == kSideOfRace;
  if (!groups.empty()) {
    text += fmt::format("Stacks {}; ~ marks what only passes things on.\n\n",
                        race ? "that a sanitizer printed" : "of its threads");
  }
  for (size_t i = 0; i < std::min(groups.size(), kMostStacks); ++i) {
    text += fmt::format("{}{}:\n\n", race ? "" : "Stack of ", escaped(threads_in_words(groups[i])));
    text += frames(groups[i].front()->frames, groups.size() == 1 ? kMostFrames : kMostFramesOfMany,
                   Entry::fold);
  }
  if (groups.size() > kMostStacks) {
    text += fmt::format("{} more stacks are in report.json.\n\n", groups.size() - kMostStacks);
  }
  return text;
}

// Seconds since 1970 as "2026-01-31 12:00:00 UTC"; empty for what is no time.
std::string time_in_words(double seconds) {
  if (!(seconds > 0 && seconds < 4e10)) return "";
  return fmt::format("{:%F %T} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string crash_report(const CrashReport& report) {
  std::vector<std::vector<std::string>> rows{{"crash report", ""}};
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"file", report.file},
           {"incident", report.incident},
           {"process", report.process + (report.pid > 0 ? fmt::format(" [{}]", report.pid) : "")},
           {"captured", time_in_words(report.captured)},
           {"system", joined({report.os_version, report.model})},
           {"exception", joined({report.exception, report.signal, report.subtype})},
           {"termination", joined({report.termination_namespace, report.termination_indicator})},
           {"termination reason", some_of(report.termination_reasons, kMostTexts, "; ")},
           {"application info", some_of(report.application_info, kMostTexts, "; ")}}) {
    if (!value.empty()) rows.push_back({name, code_span(value, 1000)});
  }
  std::string text = "The system's crash report of this process:\n\n" + markdown_table(rows) + "\n";
  if (!report.threads.empty() && !report.threads.front().frames.empty()) {
    text += fmt::format("Its {}:\n\n",
                        report.threads.front().faulting ? "faulting thread" : "first thread");
    text += frames(report.threads.front().frames, kMostFrames);
  }
  if (!report.last_exception.empty()) {
    text += "Where its last exception was thrown:\n\n" + frames(report.last_exception, kMostFrames);
  }
  return text;
}

std::string gpu_events(const std::vector<GpuEvent>& events) {
  if (events.empty()) return "";
  std::string text =
      "Around this time the system reported GPU errors or restarts; such a report names no process "
      "for sure:\n\n";
  for (size_t i = 0; i < std::min(events.size(), kMostEvents); ++i) {
    const GpuEvent& event = events[i];
    const std::string what = fmt::format("{} of {}, {}", code_span(event.summary),
                                         code_span(event.process, 40), code_span(event.file));
    text += "- " + joined({time_in_words(event.captured), what}, ": ") + "\n";
  }
  if (events.size() > kMostEvents) {
    text += fmt::format("- {} more in report.json\n", events.size() - kMostEvents);
  }
  return text + "\n";
}

}  // namespace

std::string markdown_evidence(const FailureExample& example) {
  std::string text = example.recorder.crash.signal != 0 ? crashed_stack(example) : "";
  if (text.empty()) text = hung_stacks(example);
  text = python_stack(example) + text;
  text += said_by(example.remarks);
  if (example.crash_report) text += crash_report(*example.crash_report);
  return text + gpu_events(example.gpu_events);
}

}  // namespace mpsprobe

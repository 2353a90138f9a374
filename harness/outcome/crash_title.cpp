#include "harness/outcome/crash_title.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "harness/outcome/printed_failures.h"
#include "harness/outcome/python_death.h"
#include "harness/outcome/telling_stack.h"
#include "harness/outcome/whereabouts.h"
#include "harness/signature/function_name.h"
#include "harness/signature/rules.h"
#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

// Where a function recurses, a fault this far from the stack pointer is still its stack: it had
// made room for a large frame.
constexpr uint64_t kLargeFrame = 1 << 20;

using Frames = std::vector<StackFrame>;

// Of the thread that failed: as its handler noted them, then as the system's report tells them.
std::vector<const Frames*> faulting_frames(const ProcessRecord& process) {
  std::vector<const Frames*> all;
  const auto add = [&](const std::vector<ThreadStack>& threads) {
    const auto stack = std::ranges::find_if(
        threads, [](const ThreadStack& each) { return each.faulting && !each.frames.empty(); });
    if (stack != threads.end()) all.push_back(&stack->frames);
  };
  add(process.stacks.threads);
  if (process.crash_report) add(process.crash_report->threads);
  return all;
}

bool has_function(const StackTitle& title) {
  return title.kind == StackTitle::Kind::function || title.kind == StackTitle::Kind::heap;
}

bool bad_access(int signal) {
  return signal == SIGSEGV || signal == SIGBUS;
}

std::string_view words_for(const ProcessRecord& process, int signal) {
  if (broke_a_guard(process)) return "misuse of a guarded port or descriptor";
  static constexpr std::pair<int, std::string_view> kWords[] = {
      {SIGSEGV, "bad access"}, {SIGBUS, "bad access"},       {SIGILL, "illegal instruction"},
      {SIGTRAP, "trap"},       {SIGFPE, "arithmetic error"}, {SIGABRT, "abort"}};
  for (const auto& [number, words] : kWords) {
    if (number == signal) return words;
  }
  return {};
}

// The system's reports end after 511 frames.
constexpr size_t kEndlessFrames = 500;

// Whether the crash report says that the stack ran over, in words or by a stack without end.
bool report_tells_of_overflow(const ProcessRecord& process) {
  if (!process.crash_report) return false;
  const CrashReport& report = *process.crash_report;
  const auto says = [](const std::string& text) {
    static const Shape kOverflow(
        "(?is).*(?:possible stack overflow|stack guard|stack size exceeded|excessive recursion)");
    return kOverflow.match(text, 0).has_value();
  };
  return says(report.subtype) || says(report.termination_indicator) ||
         std::ranges::any_of(report.termination_reasons, says) ||
         std::ranges::any_of(report.application_info, says) ||
         std::ranges::any_of(faulting_frames(process),
                             [](const Frames* frames) { return frames->size() >= kEndlessFrames; });
}

// Whether it died where macOS looks at whether a large frame fits, page by page: then it did not,
// however far the fault is from the stack pointer.
bool died_probing_the_stack(const ProcessRecord& process) {
  return std::ranges::any_of(faulting_frames(process), [](const Frames* frames) {
    return frames->front().function.find("chkstk_darwin") != std::string::npos;
  });
}

std::string recursion_of(const ProcessRecord& process) {
  for (const Frames* frames : faulting_frames(process)) {
    if (std::string function = recursive_function(*frames); !function.empty()) return function;
  }
  return "";
}

// The function whose calls used the stack up; empty where the stack did not run over.
std::string overflowing_function(const ProcessRecord& process, int signal) {
  if (!bad_access(signal)) return "";
  if (died_probing_the_stack(process)) {
    std::string function = recursion_of(process);
    return function.empty() ? stack_title(process).function : function;
  }
  const std::optional<uint64_t> address = fault_address(process);
  if (address.has_value() && *address < kNearNull) return "";
  // What was jumped to is no code, and may lie anywhere: macOS has the heap beside threads' stacks.
  const std::vector<FrameAddress>& frames = process.recorder.crash.frames;
  if (!frames.empty() && frames.front() == FrameAddress{"", "", address.value_or(0)}) return "";
  const uint64_t pointer = process.recorder.crash.stack_pointer;
  const bool both = address.has_value() && pointer != 0;
  // A walk through a deep graph recurses as well: without a stack pointer others must say it.
  if (!both && !report_tells_of_overflow(process)) return "";
  const uint64_t distance = !both                ? 0
                            : *address > pointer ? *address - pointer
                                                 : pointer - *address;
  if (distance > kLargeFrame) return "";
  if (std::string function = recursion_of(process); !function.empty()) return function;
  return both && distance <= kNearStack ? stack_title(process).function : "";
}

// A misuse of a library that its own functions found, as its text would title it.
std::string_view found_misuse(const ProcessRecord& process, int signal) {
  if (bad_access(signal)) return {};
  for (const Frames* frames : faulting_frames(process)) {
    if (const std::string_view title = misuse_title(*frames); !title.empty()) return title;
  }
  return {};
}

// The image that the death happened in, leaving out those that only pass things on.
std::string crash_image(const ProcessRecord& process, const StackTitle& title) {
  if (!title.image.empty()) return title.image;
  for (const FrameAddress& frame : process.recorder.crash.frames) {
    std::string image = normalise_image(frame.image());
    if (!image.empty() && find_passing_frame(image, "") == nullptr) return image;
  }
  return "";
}

}  // namespace

std::optional<uint64_t> fault_address(const ProcessRecord& process) {
  const CrashSeen& crash = process.recorder.crash;
  if (crash.signal != 0) return crash.address;
  if (!process.crash_report) return std::nullopt;
  // "KERN_INVALID_ADDRESS at 0x00000000000005c8": the number alone is taken from it.
  constexpr std::string_view kAt = " at 0x";
  const std::string& subtype = process.crash_report->subtype;
  const size_t found = subtype.find(kAt);
  if (found == std::string::npos) return std::nullopt;
  uint64_t address = 0;
  const char* begin = subtype.data() + found + kAt.size();
  const auto [end, error] = std::from_chars(begin, subtype.data() + subtype.size(), address, 16);
  if (error != std::errc() || end == begin) return std::nullopt;
  return address;
}

std::string_view misuse_title(const std::vector<StackFrame>& frames) {
  for (const StackFrame& frame : frames) {
    const std::string image = normalise_image(frame.image);
    const std::string function = normalise_function(frame.function);
    for (const MisuseFrame& row : Rules::standard().misuses) {
      if (function == row.function && (row.image.empty() || image == row.image)) return row.title;
    }
    if (find_passing_frame(image, function) == nullptr) break;
  }
  return {};
}

StackTitle stack_title(const ProcessRecord& process) {
  StackTitle best;
  for (const Frames* frames : faulting_frames(process)) {
    StackTitle title = title_of_stack(*frames);
    // The handler's comes first, but a function beats an image that tells none.
    if (best.kind == StackTitle::Kind::none || (!has_function(best) && has_function(title))) {
      best = std::move(title);
    }
  }
  return best;
}

namespace {

PlaceTitle title_of_crash(const ProcessRecord& process, int signal, const StackTitle& title) {
  const std::string suffix = phase_suffix(process.recorder.phase);
  const std::string_view words = words_for(process, signal);
  if (const std::string_view misuse = found_misuse(process, signal); !misuse.empty()) {
    return {std::string(misuse) + suffix, Basis::frames, {}};
  }
  if (!words.empty()) {
    if (const std::string function = overflowing_function(process, signal); !function.empty()) {
      return {fmt::format("stack overflow in {}{}", function, suffix), Basis::frames, {}};
    }
    switch (title.kind) {
      case StackTitle::Kind::function:
      case StackTitle::Kind::entry:
        return {fmt::format("{} {}{}", words, place_in_words(title), suffix), Basis::frames, {}};
      case StackTitle::Kind::heap:
        // The allocator finds what it notices in an order of its own: with an abort, a trap or a
        // bad access. And the heap may be sound, where a caller gave it a bad pointer.
        return {"death inside malloc or free (heap or pointer damaged)" + suffix, Basis::place, {}};
      case StackTitle::Kind::passing:
        return {fmt::format("{} in {} (no caller known){}", words, title.function, suffix),
                Basis::place,
                {}};
      default:
        break;
    }
  } else if (title.kind == StackTitle::Kind::function) {
    return {
        fmt::format("{} in {}{}", signal_name(signal), title.function, suffix), Basis::frames, {}};
  }
  const std::string what = words.empty() ? signal_name(signal) : std::string(words);
  const std::string image = crash_image(process, title);
  if (const std::string place = python_place(process.err.text()); !place.empty()) {
    const bool library = title.kind == StackTitle::Kind::unnamed && !image.empty();
    const std::string where =
        library ? fmt::format("{}, called by {}", image, place) : "Python: " + place;
    return {fmt::format("{} in {}{}", what, where, suffix), Basis::frames, {}, true};
  }
  const std::string in = image.empty() ? image : " in " + image;
  return {fmt::format("{}{} {} (no function known)", what, in, whereabouts(process.recorder)),
          Basis::place,
          {}};
}

}  // namespace

PlaceTitle crash_title(const ProcessRecord& process, int signal) {
  const StackTitle title = stack_title(process);
  PlaceTitle crash = title_of_crash(process, signal, title);
  if (crash.basis == Basis::frames) crash.why = title.why;
  return crash;
}

}  // namespace mpsprobe

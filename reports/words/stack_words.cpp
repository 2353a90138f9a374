#include "reports/words/stack_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "harness/signature/function_name.h"
#include "harness/signature/rules.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostRanges = 12;
constexpr size_t kMostLinks = 32;
constexpr size_t kMostImageWidth = 28;
constexpr size_t kFewestFolded = 3;
// Files of the Python worker (scenarios/python) that call somebody's function.
constexpr std::array<std::string_view, 3> kCallers{
    "/mpsprobe/own_code.py", "/mpsprobe/pytest_items.py", "/mpsprobe/_runtime.py"};

bool is_numbered(const ThreadStack& stack) {
  return stack.thread >= 0 && stack.thread != static_cast<int>(recorder_layout::kMainThread);
}

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

const ThreadStack* thread_with(const StackEvidence& stacks, uint64_t thread_id) {
  const auto at =
      std::find_if(stacks.threads.begin(), stacks.threads.end(),
                   [thread_id](const ThreadStack& stack) { return stack.thread_id == thread_id; });
  return at == stacks.threads.end() ? nullptr : &*at;
}

std::string holder_in_words(const StackEvidence& stacks, uint64_t thread_id) {
  const ThreadStack* thread = thread_with(stacks, thread_id);
  return thread != nullptr ? thread_in_words(*thread) : fmt::format("thread id {}", thread_id);
}

// What follows "waits" or "wait".
std::string wait_in_words(const StackEvidence& stacks, const Wait& wait) {
  switch (wait.kind) {
    case Wait::Kind::lock:
      if (wait.owner_gone) {
        return fmt::format(
            "for a lock whose holder (thread id {}) has ended: it ended while it "
            "held the lock",
            wait.owner);
      }
      if (wait.owner != 0) {
        return fmt::format("for a lock that {} holds", holder_in_words(stacks, wait.owner));
      }
      return wait.address != 0
                 ? fmt::format("for the lock at {:#x}; who holds it is not seen", wait.address)
                 : "for a lock; who holds it is not seen";
    case Wait::Kind::condition:
      return "for a condition";
    case Wait::Kind::join:
      return "for another thread to end";
    case Wait::Kind::input:
      return "for input";
    case Wait::Kind::sleep:
      return "for time to pass (asleep)";
    default:
      return "for something else";
  }
}

bool passes_on(const StackFrame& frame) {
  return find_passing_frame(normalise_image(frame.image), normalise_function(frame.function)) !=
         nullptr;
}

}  // namespace

std::string thread_in_words(int64_t thread) {
  if (thread == recorder_layout::kMainThread) return "the main thread";
  if (thread < 0) return "a thread that is none of the cell's";
  return fmt::format("thread {}", thread);
}

std::string thread_in_words(const ThreadStack& stack) {
  if (stack.thread == kSideOfRace) return shortened(printable(stack.name), 100);
  std::string text =
      stack.thread == kChildProcess ? "a process that it started" : thread_in_words(stack.thread);
  if (stack.thread >= 0) return text;
  if (!stack.name.empty()) text += fmt::format(" ({})", shortened(printable(stack.name), 40));
  return text;
}

std::string threads_in_words(const std::vector<const ThreadStack*>& stacks) {
  std::vector<int> numbers;
  std::map<std::string, int> others;
  for (const ThreadStack* stack : stacks) {
    if (is_numbered(*stack)) {
      numbers.push_back(stack->thread);
    } else {
      ++others[thread_in_words(*stack)];
    }
  }
  std::vector<std::string> parts;
  for (const auto& [first, last] : runs_of(std::move(numbers))) {
    parts.push_back(first == last ? fmt::format("thread {}", first)
                                  : fmt::format("threads {}-{}", first, last));
  }
  for (const auto& [name, count] : others) {
    parts.push_back(count == 1 ? name : fmt::format("{} times {}", count, name));
  }
  if (const size_t all = parts.size(); all > kMostRanges) {
    parts.resize(kMostRanges);
    parts.push_back(fmt::format("{} more", all - kMostRanges));
  }
  return listed(parts);
}

std::string stack_in_words(const std::vector<StackFrame>& frames, size_t most, Entry entry) {
  std::vector<bool> passing;
  for (const StackFrame& frame : frames) passing.push_back(passes_on(frame));
  size_t end = frames.size();
  const auto last = std::find(passing.rbegin(), passing.rend(), false);
  if (entry == Entry::fold && frames.size() <= most && last != passing.rend()) {
    end = static_cast<size_t>(passing.rend() - last);
  }
  const auto first =
      static_cast<size_t>(std::find(passing.begin(), passing.end(), false) - passing.begin());
  // How many frames stand for one line: those of an interpreter, which say little one by one.
  const auto together = [&](size_t at) {
    size_t next = at;
    while (next > first && next < end && of_interpreter(normalise_image(frames[next].image)))
      ++next;
    return next - at < kFewestFolded ? 1 : next - at;
  };
  const auto image_of = [](const StackFrame& frame) {
    return frame.image.empty() ? std::string("?") : shortened(printable(frame.image), 60);
  };
  size_t width = 1;
  size_t shown = 0;
  for (size_t line = 0; shown < end && line < most; ++line) {
    width = std::clamp(image_of(frames[shown]).size(), width, kMostImageWidth);
    shown += together(shown);
  }
  std::string text;
  for (size_t i = 0; i < shown; i += together(i)) {
    const StackFrame& frame = frames[i];
    text += fmt::format("{:2}{} {:<{}}  ", i, passing[i] ? "~" : " ", image_of(frame), width);
    if (const size_t folded = together(i); folded > 1) {
      text += fmt::format("{} frames of the interpreter\n", folded);
      continue;
    }
    text += frame.function.empty() ? fmt::format("+ {:#x}", frame.offset)
                                   : shortened(printable(frame.function), 160);
    if (!frame.source.empty()) {
      text += fmt::format("  ({})", shortened(printable(frame.source), 120));
    }
    if (frame.inlined) text += "  inlined";
    text += '\n';
  }
  if (frames.size() > shown) text += fmt::format("   {} more\n", frames.size() - shown);
  return text;
}

std::string python_stack_in_words(const std::vector<StackFrame>& frames, size_t most) {
  std::string text;
  size_t shown = 0;
  for (const StackFrame& frame : frames) {
    const std::string_view source = frame.source;
    const std::string_view file = source.substr(0, source.rfind(':'));
    const bool calls_it = std::any_of(kCallers.begin(), kCallers.end(),
                                      [&](std::string_view name) { return file.ends_with(name); });
    if (shown == most || (shown > 0 && calls_it)) break;
    text += fmt::format(
        "File \"{}\"{}, in {}\n", shortened(printable(file), 120),
        file.size() < source.size() ? ", line " + printable(source.substr(file.size() + 1)) : "",
        shortened(printable(frame.function), 100));
    ++shown;
  }
  if (frames.size() > shown) text += fmt::format("{} more\n", frames.size() - shown);
  return text;
}

std::vector<StackFrame> images_without_names(const std::vector<StackFrame>& frames, size_t most) {
  std::vector<StackFrame> images;
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < std::min(frames.size(), most); ++i) {
    const StackFrame& frame = frames[i];
    if (!frame.function.empty() || frame.image.empty() || frame.image_id.empty()) continue;
    if (seen.emplace(frame.image, frame.image_id).second) images.push_back(frame);
  }
  return images;
}

std::string lock_cycle_in_words(const StackEvidence& stacks) {
  const std::vector<uint64_t>& cycle = stacks.lock_cycle;
  if (cycle.empty()) return "";
  std::vector<std::string> links;
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (i == kMostLinks) {
      links.push_back(fmt::format("{} more in the same way", cycle.size() - i));
      break;
    }
    links.push_back(fmt::format("{} {} that {} holds", holder_in_words(stacks, cycle[i]),
                                i == 0 ? "waits for a lock" : "for one",
                                holder_in_words(stacks, cycle[(i + 1) % cycle.size()])));
  }
  return listed(links);
}

std::vector<std::string> waits_in_words(const StackEvidence& stacks) {
  const std::set<uint64_t> in_cycle(stacks.lock_cycle.begin(), stacks.lock_cycle.end());
  std::vector<std::pair<std::string, std::vector<const ThreadStack*>>> waits;
  for (const ThreadStack& stack : stacks.threads) {
    if (stack.wait.kind == Wait::Kind::none || in_cycle.contains(stack.thread_id)) continue;
    const std::string what = wait_in_words(stacks, stack.wait);
    const auto same = std::find_if(waits.begin(), waits.end(),
                                   [&what](const auto& wait) { return wait.first == what; });
    if (same == waits.end()) {
      waits.push_back({what, {&stack}});
    } else {
      same->second.push_back(&stack);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [what, threads] : waits) {
    lines.push_back(fmt::format("{} {} {}", threads_in_words(threads),
                                threads.size() == 1 ? "waits" : "wait", what));
  }
  return lines;
}

std::vector<std::vector<const ThreadStack*>> group_stacks(const StackEvidence& stacks) {
  using Place = std::tuple<std::string, std::string, uint64_t>;
  std::map<std::vector<Place>, size_t> index;
  std::vector<std::vector<const ThreadStack*>> groups;
  for (const ThreadStack& stack : stacks.threads) {
    if (stack.frames.empty()) continue;
    std::vector<Place> places;
    for (const StackFrame& frame : stack.frames) {
      places.emplace_back(frame.image, frame.function, frame.offset);
    }
    const auto [at, fresh] = index.try_emplace(std::move(places), groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(&stack);
  }
  return groups;
}

}  // namespace mpsprobe

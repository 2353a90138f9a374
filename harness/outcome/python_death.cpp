#include "harness/outcome/python_death.h"

#include <algorithm>

#include "harness/signature/frames.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/shape.h"
#include "harness/signature/written_stacks.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kLongestInPython = 80;
constexpr std::string_view kCurrent = "Current thread 0x";

// "_take_lane", "takeLane": two words or more.
bool says_enough(std::string_view name) {
  constexpr size_t kShortest = 8;
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name.size() >= kShortest && (name.find('_') != std::string_view::npos ||
                                      std::any_of(name.begin() + 1, name.end(), ascii::upper));
}

}  // namespace

std::vector<ThreadStack> python_threads(std::string_view printed) {
  printed.remove_prefix(printed.size() - std::min(printed.size(), kMostBytes));
  std::vector<ThreadStack> threads =
      read_written_stacks(plain_text(printed, kMostBytes).text).threads;
  std::erase_if(threads,
                [](const ThreadStack& stack) { return !in_python(stack.frames.front().image); });
  return threads;
}

std::vector<StackFrame> python_frames(std::string_view printed) {
  std::vector<StackFrame> frames;
  for (ThreadStack& stack : python_threads(printed)) {
    if (stack.faulting) frames = std::move(stack.frames);
  }
  return frames;
}

std::string python_place(std::string_view function, std::string_view file) {
  std::string name(function.substr(0, kLongestInPython));
  if (says_enough(name)) return name;
  return name + " (" + std::string(file.substr(0, kLongestInPython)) + ")";
}

std::string python_place(std::string_view printed) {
  const std::vector<StackFrame> frames = python_frames(printed);
  if (frames.empty()) return "";
  std::string_view file = frames.front().source;
  file = file.substr(0, file.rfind(':'));
  return python_place(frames.front().function, file.substr(file.find_last_of("/\\") + 1));
}

std::string_view before_python_stacks(std::string_view printed) {
  const size_t current = printed.find(kCurrent);
  if (current == std::string_view::npos) return printed;
  // Of all threads, where it prints all, it begins with that which was made last.
  const size_t head = printed.rfind("Fatal Python error", current);
  const size_t first = printed.find("\nThread 0x", head == std::string_view::npos ? current : head);
  printed = printed.substr(0, std::min(current, first));
  while (printed.ends_with('\n')) printed.remove_suffix(1);
  return printed;
}

bool python_collected_garbage(std::string_view printed) {
  // In the lines below "Current thread", up to the next thread's.
  static const Shape kCollecting(R"((?:[^\n]+\n)*?[^\n]*Garbage-collecting)");
  printed.remove_prefix(printed.size() - std::min(printed.size(), kMostBytes));
  const std::string text = plain_text(printed, kMostBytes).text;
  const size_t head = text.rfind(kCurrent);
  return head != std::string::npos && kCollecting.match(text, head).has_value();
}

}  // namespace mpsprobe

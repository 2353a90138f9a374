#include "harness/outcome/telling_stack.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "harness/outcome/python_death.h"
#include "harness/signature/function_name.h"
#include "harness/signature/rules.h"
#include "harness/signature/shape.h"
#include "harness/signature/written_stacks.h"
#include "harness/stack/wait_functions.h"

namespace mpsprobe {
namespace {

// A function in which threads wait for work.
bool is_loop(const std::string& name) {
  static const Shape kLoop(
      "(?i).*(?:worker|thread_?pool|thread_fn|thread_main|main_loop|run_?loop|event_?loop|watchdog|"
      "heartbeat|monitor|::pop|dequeue|next_task|get_task|wait_?for_?work|nextevent|park|"
      "blas_thread_server)");
  return kLoop.match(name, 0).has_value();
}

// Where an interpreter's own lock is taken, and given up and taken again.
bool takes_interpreter_lock(const std::string& name) {
  static const Shape kLock(
      "(?:take_gil|PyEval_RestoreThread|PyGILState_Ensure|PyEval_AcquireThread)$");
  return kLock.match(name, 0).has_value();
}

// The frames that a title passes over, and the one that it is of.
std::vector<const StackFrame*> above(const std::vector<StackFrame>& frames,
                                     const StackTitle& title) {
  std::vector<const StackFrame*> result;
  for (const StackFrame& frame : frames) {
    result.push_back(&frame);
    if (normalise_function(frame.function) == title.function) break;
  }
  return result;
}

size_t depth_of(const std::vector<StackFrame>& frames) {
  std::string last;
  size_t depth = 0;
  for (const StackFrame& frame : frames) {
    const std::string function = normalise_function(frame.function);
    if (function.empty() || function == last) continue;
    if (find_passing_frame(normalise_image(frame.image), function) == nullptr) ++depth;
    last = function;
  }
  return depth;
}

Doing doing_of(const ThreadStack& stack, const StackTitle& title, size_t depth) {
  const bool library = title.kind == StackTitle::Kind::unnamed && !title.image.empty() &&
                       find_passing_frame(title.image, "") == nullptr;
  if (place_in_words(title).empty() && title.kind != StackTitle::Kind::heap && !library) {
    return Doing::nothing;
  }
  const std::vector<const StackFrame*> top = above(stack.frames, title);
  const bool others = std::ranges::any_of(top, [](const StackFrame* frame) {
    return frame->image == kPythonsLibrary || takes_interpreter_lock(frame->function);
  });
  if (others) return Doing::waits_for_others;
  Wait::Kind kind = stack.wait.kind;
  if (kind == Wait::Kind::none) {
    const WaitShown shown = wait_shown(stack.frames);
    kind = shown.certain || shown.kind == Wait::Kind::none ? shown.kind : Wait::Kind::other;
  }
  switch (kind) {
    case Wait::Kind::lock:
      return Doing::waits_for_lock;
    case Wait::Kind::join:
    case Wait::Kind::sleep:
      return Doing::waits_for_others;
    case Wait::Kind::none: {
      // Of a function of Python's alone, or one without a name, nobody knows but who says so.
      const StackFrame& first = stack.frames.front();
      const bool told = !first.function.empty() && !in_python(first.image);
      const bool says = stack.thread == kSaidToCompute;
      return says || (told && top.size() == 1) ? Doing::computes : Doing::waits;
    }
    default:
      return depth == 1 || is_loop(title.function) ? Doing::idle : Doing::waits;
  }
}

}  // namespace

ThreadAtWork at_work(const ThreadStack& stack) {
  ThreadAtWork thread{&stack, Doing::nothing, title_of_stack(stack.frames), 0};
  if (stack.frames.empty()) return thread;
  thread.depth = depth_of(stack.frames);
  thread.doing = doing_of(stack, thread.title, thread.depth);
  return thread;
}

std::vector<ThreadAtWork> threads_at_work(const std::vector<ThreadStack>& stacks) {
  std::vector<ThreadAtWork> threads;
  for (const ThreadStack& stack : stacks) threads.push_back(at_work(stack));
  const auto rank = [](const ThreadAtWork& thread) {
    return std::make_tuple(thread.stack->thread != kChildProcess, thread.doing, thread.depth);
  };
  std::stable_sort(threads.begin(), threads.end(),
                   [&](const ThreadAtWork& a, const ThreadAtWork& b) { return rank(a) > rank(b); });
  return threads;
}

std::string place_in_words(const StackTitle& title) {
  switch (title.kind) {
    case StackTitle::Kind::function:
      return in_python(title.image) ? "in Python: " + python_place(title.function, title.image)
                                    : "in " + title.function;
    case StackTitle::Kind::entry:
      return "inside " + title.function;
    default:
      return "";
  }
}

std::string in_words(const ThreadAtWork& thread) {
  // In the order of the enumeration.
  static constexpr std::string_view kDoes[] = {
      "", "", "waits ", "waits ", "waits for a lock ", "computes "};
  const std::string_view does = kDoes[static_cast<size_t>(thread.doing)];
  const std::string place = place_in_words(thread.title);
  return does.empty() || place.empty() ? "" : std::string(does) + place;
}

}  // namespace mpsprobe

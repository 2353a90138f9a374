#include "harness/outcome/remarks.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/outcome/crash_title.h"
#include "harness/outcome/hang_title.h"
#include "harness/outcome/python_death.h"
#include "harness/outcome/telling_stack.h"
#include "harness/signature/frames.h"

namespace mpsprobe {
namespace {

void add_crash(std::vector<std::string>& said, const ProcessRecord& process, int signal) {
  if (signal == SIGSEGV || signal == SIGBUS) {
    if (const std::optional<uint64_t> address = fault_address(process)) {
      said.push_back(*address < kNearNull
                         ? fmt::format("bad address null + {:#x}", *address)
                         : fmt::format("bad address {:#x}, not near null", *address));
    }
  }
  const StackTitle title = stack_title(process);
  if (title.kind == StackTitle::Kind::heap) {
    const std::string caller =
        title.function.empty() ? "" : fmt::format(" when {} called it", title.function);
    said.push_back(
        fmt::format("died inside malloc or free{}: the heap was damaged before, perhaps by code "
                    "that is not on the stack, or the pointer given was a bad one",
                    caller));
  }
}

std::string name_of_thread(const ThreadStack& stack) {
  if (stack.name.empty()) return fmt::format("thread {}", stack.thread_id);
  const bool in_words = stack.name.starts_with("thread") || stack.name.find(" thread") < 4;
  return in_words ? stack.name : fmt::format("thread \"{}\"", stack.name);
}

constexpr size_t kMostThreads = 4;

// What other threads were doing in the library that it died in.
void add_others_of_the_library(std::vector<std::string>& said, const ProcessRecord& process) {
  const std::vector<ThreadStack>& threads =
      process.crash_report && process.stacks.threads.size() < 2 ? process.crash_report->threads
                                                                : process.stacks.threads;
  const std::string image = stack_title(process).image;
  bool python_died = false;
  bool python_lives = false;
  size_t told = 0;
  for (const ThreadStack& stack : threads) {
    const bool python =
        std::any_of(stack.frames.begin(), stack.frames.end(), [](const StackFrame& frame) {
          return frame.function.find("PyEval_") != std::string::npos || in_python(frame.image);
        });
    (stack.faulting ? python_died : python_lives) |= python;
    if (stack.faulting || image.empty() || told == kMostThreads) continue;
    const ThreadAtWork thread = at_work(stack);
    if (thread.doing <= Doing::idle || thread.title.image != image) continue;
    const std::string place = place_in_words(thread.title);
    if (place.empty()) continue;
    ++told;
    said.push_back(name_of_thread(stack) + " was " + place + ", of the same library");
  }
  if (python_lives && !python_died) {
    said.emplace_back("the thread that died has no frame of Python");
  }
}

// What the others do, of a hang whose stacks somebody took.
void add_other_threads(std::vector<std::string>& said, const ProcessRecord& process) {
  if (!process.recorder.threads.empty()) return;
  for (const ThreadAtWork& thread : threads_at_work(process.stacks.threads)) {
    const std::string words = in_words(thread);
    if (words.empty() || said.size() == kMostThreads) break;
    said.push_back(name_of_thread(*thread.stack) + " " + words);
  }
}

// What the probe of a hang says; nothing where it was not tried.
constexpr std::pair<Probe, std::string_view> kProbes[] = {
    {Probe::completed,
     "a trivial piece of work given to the device completed: the host hangs, not the device"},
    {Probe::not_answered,
     "a trivial piece of work given to the device did not end in time: the device, or the way to "
     "it, hangs too"},
    {Probe::failed,
     "a trivial piece of work given to the device failed: the device, or the way to it, is not "
     "well"},
    {Probe::impossible,
     "whether the host or the device hangs is not known: this backend has no way to try the device "
     "around what hangs"}};

}  // namespace

std::vector<std::string> remarks(const ProcessRecord& process) {
  std::vector<std::string> said;
  const bool hung =
      process.ended_by == EndedBy::deadline || process.ended_by == EndedBy::no_progress;
  const bool noted = process.recorder.intact && !process.crashed_in_inquest;
  int signal = noted ? process.recorder.crash.signal : 0;
  const auto* const died = std::get_if<Signaled>(&process.termination);
  if (signal == 0 && died != nullptr && !hung) signal = died->signal;
  if (signal != 0) {
    add_crash(said, process, signal);
    add_others_of_the_library(said, process);
  } else if (hung) {
    add_other_threads(said, process);
    for (const auto& [probe, words] : kProbes) {
      const bool so = process.recorder.probe == probe && !still_computed(process);
      if (so) said.emplace_back(words);
    }
    if (!process.children.empty()) said.push_back("it had children: " + process.children);
  }
  if (python_collected_garbage(process.err.text())) {
    said.emplace_back("the thread that died was collecting Python's garbage");
  }
  return said;
}

}  // namespace mpsprobe

#include "harness/outcome/hang_title.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "harness/outcome/python_death.h"
#include "harness/outcome/telling_stack.h"
#include "harness/outcome/whereabouts.h"
#include "harness/signature/frames.h"
#include "harness/signature/function_name.h"
#include "harness/signature/rules.h"
#include "harness/signature/shape.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

bool waits_for_a_process(const std::vector<StackFrame>& frames) {
  static const Shape kWaits(".*wait(?:4|pid|id)$");
  return std::ranges::any_of(frames, [](const StackFrame& frame) {
    return kWaits.match(normalise_function(frame.function), 0).has_value();
  });
}

// Of the thread that the recorder tells of; where it knows of none, as in a text that somebody took
// and in a command of somebody's own, of the one that tells most by itself.
const ThreadStack* telling_stack(const ProcessRecord& process) {
  const std::vector<ThreadStack>& threads = process.stacks.threads;
  const auto of_the_cell = [&](const ThreadStack& stack) { return stack.thread >= 0; };
  if (process.own_command || std::none_of(threads.begin(), threads.end(), of_the_cell)) {
    const std::vector<ThreadAtWork> at_work = threads_at_work(threads);
    const bool tells = !at_work.empty() && at_work.front().doing != Doing::nothing;
    return tells ? at_work.front().stack : nullptr;
  }
  const ThreadPlace* place = telling_thread(process.recorder);
  if (place == nullptr) return nullptr;
  const auto found = std::find_if(threads.begin(), threads.end(), [&](const ThreadStack& stack) {
    return stack.thread == static_cast<int>(place->thread);
  });
  return found == threads.end() ? nullptr : &*found;
}

// Where Python's threads are: the one that tells most, and where they only wait for each other the
// main thread. Empty where faulthandler printed none.
std::string place_in_python(std::string_view printed) {
  const std::vector<ThreadStack> threads = python_threads(printed);
  const std::vector<ThreadAtWork> at_work = threads_at_work(threads);
  if (!at_work.empty() && at_work.front().doing > Doing::waits_for_others) {
    return place_in_words(at_work.front().title);
  }
  const std::string main = python_place(printed);
  return main.empty() ? "" : "in Python: " + main;
}

// Whether the stack is that of the main thread of a Python that waits, as faulthandler shows it,
// and of no library that the program called.
bool in_interpreter(const ProcessRecord& process, const ThreadStack* stack) {
  if (!process.own_command || stack == nullptr ||
      stack->thread != static_cast<int>(recorder_layout::kMainThread)) {
    return false;
  }
  return std::ranges::all_of(stack->frames, [](const StackFrame& frame) {
    return of_interpreter(normalise_image(frame.image)) || frame.image.starts_with("libc.") ||
           frame.image.starts_with("libpthread");
  });
}

}  // namespace

const ThreadStack* hung_stack(const ProcessRecord& process) {
  const std::vector<ThreadStack>& threads = process.stacks.threads;
  const ThreadStack* const found = telling_stack(process);
  if (found == nullptr || !waits_for_a_process(found->frames)) return found;
  const auto child = std::find_if(threads.begin(), threads.end(), [](const ThreadStack& stack) {
    return stack.thread == kChildProcess && !stack.frames.empty();
  });
  return child == threads.end() ? found : &*child;
}

namespace {

// "Pool" of "Pool.take", "lanes::Pool::take" and "-[Pool take:]"; empty where the function is none
// of a class.
std::string class_of(const std::string& function) {
  if (function.starts_with("-[") || function.starts_with("+[")) {
    return function.substr(2, function.find(' ') - 2);
  }
  const size_t scope = std::max(function.rfind("::") + 1, function.rfind('.') + 1);  // npos: 0
  if (scope == 0) return "";
  std::string name = function.substr(0, scope - (function[scope - 1] == ':' ? 2 : 1));
  const size_t last = name.find_last_of(":.") + 1;  // npos + 1 is 0
  return ascii::upper(ascii::at(name, last)) ? name : std::string();
}

// Whose lock a stack waits for: the function that its class was entered by. What that calls within
// the class differs from build to build.
std::string owner_of(const std::vector<StackFrame>& frames) {
  std::string owner = title_of_stack(frames).function;
  const std::string type = class_of(owner);
  if (type.empty()) return owner;
  bool found = false;
  for (const StackFrame& frame : frames) {
    const std::string function = normalise_function(frame.function);
    found = found || function == owner;
    if (found && class_of(function) != type) break;
    if (found) owner = function;
  }
  return owner;
}

// Whose locks make the cycle: of the threads in it, or, where their stacks are not known, of the
// one that the hang is about.
std::string owners_of_cycle(const ProcessRecord& process) {
  constexpr size_t kMost = 3;
  const std::vector<uint64_t>& cycle = process.stacks.lock_cycle;
  std::set<std::string> owners;
  for (const ThreadStack& stack : process.stacks.threads) {
    if (std::find(cycle.begin(), cycle.end(), stack.thread_id) == cycle.end()) continue;
    owners.insert(owner_of(stack.frames));
  }
  if (owners.empty()) {
    const ThreadStack* stack = hung_stack(process);
    if (stack != nullptr) owners.insert(owner_of(stack->frames));
  }
  owners.erase("");
  std::string words;
  for (const std::string& owner : owners) {
    if (std::distance(owners.begin(), owners.find(owner)) == kMost) break;
    words += (words.empty() ? " of " : " and ") + owner;
  }
  return words;
}

}  // namespace

bool still_computed(const ProcessRecord& process) {
  const std::vector<ThreadStack>& threads = process.stacks.threads;
  return process.ended_by == EndedBy::deadline && process.idle_seconds < process.seconds / 2 &&
         process.stacks.lock_cycle.empty() &&
         std::none_of(threads.begin(), threads.end(),
                      [](const ThreadStack& stack) { return stack.wait.owner_gone; });
}

PlaceTitle hang_title(const ProcessRecord& process, std::string_view path) {
  const std::string where = whereabouts_of_hang(process.recorder, path);
  // Of a text that somebody took, no recorder says where it was.
  const bool told = !process.recorder.threads.empty() || process.recorder.phase != Phase::run;
  const std::string also = told ? ", " + where : "";
  // How many threads wait differs from run to run: it is not part of the title.
  if (!process.stacks.lock_cycle.empty()) {
    return {"hang: lock cycle" + owners_of_cycle(process) + also, Basis::frames, {}};
  }
  const auto& threads = process.stacks.threads;
  if (std::any_of(threads.begin(), threads.end(),
                  [](const ThreadStack& stack) { return stack.wait.owner_gone; })) {
    return {"hang: lock held by a thread that ended" + also, Basis::frames, {}};
  }
  const ThreadStack* stack = hung_stack(process);
  const StackTitle title = stack == nullptr ? StackTitle() : title_of_stack(stack->frames);
  // The interpreter only waits for what its program asked it for.
  if (const std::string asked =
          in_interpreter(process, stack) ? place_in_python(process.err.text()) : "";
      !asked.empty()) {
    return {"hang " + asked + also, Basis::frames, {}};
  }
  const std::string place = place_in_words(title);
  if (process.own_command && stack != nullptr && stack->thread == kChildProcess && !place.empty())
    return {"hang " + place + ", in a process that it started", Basis::frames, title.why};
  if (!place.empty()) return {"hang " + place + also, Basis::frames, title.why};
  if (told) return {"hang " + where, Basis::place, {}};
  const std::string image = title.image.empty() ? "" : "in " + title.image + " ";
  return {"hang " + image + "(no function known)", Basis::place, {}};
}

}  // namespace mpsprobe

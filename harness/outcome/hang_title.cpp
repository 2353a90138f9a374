#include "harness/outcome/hang_title.h"

#include <algorithm>
#include <set>
#include <string>

#include "harness/outcome/python_death.h"
#include "harness/outcome/whereabouts.h"
#include "harness/signature/ascii.h"
#include "harness/signature/frames.h"
#include "harness/signature/function_name.h"

namespace mpsprobe {
namespace {

// How much a thread of somebody's own command says of its hang. Threads of a pool wait for work,
// and the main thread for the others.
int telling(const ThreadStack& stack) {
  if (stack.thread == kChildProcess || title_of_stack(stack.frames).function.empty()) return 0;
  const bool main = stack.thread == static_cast<int>(recorder_layout::kMainThread);
  switch (stack.wait.kind) {
    case Wait::Kind::lock:
      return 6;
    case Wait::Kind::none:
      return 5;
    case Wait::Kind::join:
      return 1;
    default:
      return main ? 4 : 2;
  }
}

// The stack of the thread that the hang is about, where it was taken.
const ThreadStack* stack_of(const ProcessRecord& process) {
  if (process.own_program && !process.stacks.threads.empty()) {
    return &*std::ranges::max_element(process.stacks.threads, {}, telling);
  }
  const ThreadPlace* place = telling_thread(process.recorder);
  if (place == nullptr) return nullptr;
  const auto& threads = process.stacks.threads;
  const auto found = std::find_if(threads.begin(), threads.end(), [&](const ThreadStack& stack) {
    return stack.thread == static_cast<int>(place->thread);
  });
  return found == threads.end() ? nullptr : &*found;
}

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
    const ThreadStack* stack = stack_of(process);
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

// The stack of a process that the command started and waits for: where that hangs is what it hangs
// of. nullptr where there is none.
const ThreadStack* child_waited_for(const ProcessRecord& process, const ThreadStack* stack) {
  if (!process.own_program || stack == nullptr || stack->frames.empty()) return nullptr;
  const std::string& call = stack->frames.front().function;
  const bool waits = call.starts_with("wait") || call.starts_with("__wait") ||
                     stack->wait.kind == Wait::Kind::input;
  if (!waits) return nullptr;
  const auto child = std::ranges::find_if(process.stacks.threads, [](const ThreadStack& each) {
    return each.thread == kChildProcess && each.wait.kind != Wait::Kind::input &&
           title_of_stack(each.frames).kind == StackTitle::Kind::function;
  });
  return child == process.stacks.threads.end() ? nullptr : &*child;
}

// Whether the stack is that of the main thread of a Python that waits, as faulthandler shows it,
// and of no library that the program called.
bool in_interpreter(const ProcessRecord& process, const ThreadStack* stack) {
  const bool main =
      stack != nullptr && stack->thread == static_cast<int>(recorder_layout::kMainThread);
  if (!process.own_program || !main) return false;
  return std::ranges::all_of(stack->frames, [](const StackFrame& frame) {
    return frame.image.starts_with("python") || frame.image.starts_with("libpython") ||
           frame.image.starts_with("libc.") || frame.image.starts_with("libpthread");
  });
}

}  // namespace

bool still_computed(const ProcessRecord& process) {
  const std::vector<ThreadStack>& threads = process.stacks.threads;
  return process.ended_by == EndedBy::deadline && process.idle_seconds < process.seconds / 2 &&
         process.stacks.lock_cycle.empty() &&
         std::none_of(threads.begin(), threads.end(),
                      [](const ThreadStack& stack) { return stack.wait.owner_gone; });
}

HangTitle hang_title(const ProcessRecord& process, std::string_view path) {
  const std::string where = whereabouts_of_hang(process.recorder, path);
  // How many threads wait differs from run to run: it is not part of the title.
  if (!process.stacks.lock_cycle.empty()) {
    return {"hang: lock cycle" + owners_of_cycle(process) + ", " + where, Basis::frames, {}};
  }
  const auto& threads = process.stacks.threads;
  if (std::any_of(threads.begin(), threads.end(),
                  [](const ThreadStack& stack) { return stack.wait.owner_gone; })) {
    return {"hang: lock held by a thread that ended, " + where, Basis::frames, {}};
  }
  const ThreadStack* stack = stack_of(process);
  const StackTitle title = stack == nullptr ? StackTitle() : title_of_stack(stack->frames);
  if (const ThreadStack* child = child_waited_for(process, stack); child != nullptr) {
    const StackTitle there = title_of_stack(child->frames);
    return {"hang in " + there.function + ", in a process that it started", Basis::frames,
            there.why};
  }
  // The interpreter only waits for what its program asked it for.
  if (const std::string place =
          in_interpreter(process, stack) ? python_place(process.err.text()) : "";
      !place.empty()) {
    return {"hang in Python: " + place + ", " + where, Basis::frames, {}};
  }
  if (title.kind != StackTitle::Kind::function) return {"hang " + where, Basis::place, {}};
  return {"hang in " + title.function + ", " + where, Basis::frames, title.why};
}

}  // namespace mpsprobe

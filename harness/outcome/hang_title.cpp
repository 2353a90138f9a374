#include "harness/outcome/hang_title.h"

#include <algorithm>

#include "harness/outcome/whereabouts.h"
#include "harness/signature/frames.h"

namespace mpsprobe {
namespace {

// The stack of the thread that the hang is about, where it was taken.
const ThreadStack* stack_of(const ProcessRecord& process) {
  const ThreadPlace* place = telling_thread(process.recorder);
  if (place == nullptr) return nullptr;
  const auto& threads = process.stacks.threads;
  const auto found = std::find_if(threads.begin(), threads.end(), [&](const ThreadStack& stack) {
    return stack.thread == static_cast<int>(place->thread);
  });
  return found == threads.end() ? nullptr : &*found;
}

}  // namespace

HangTitle hang_title(const ProcessRecord& process, std::string_view path) {
  const std::string where = whereabouts_of_hang(process.recorder, path);
  // How many threads wait differs from run to run: it is not part of the title.
  if (!process.stacks.lock_cycle.empty()) return {"hang: lock cycle, " + where, Basis::frames, {}};
  const auto& threads = process.stacks.threads;
  if (std::any_of(threads.begin(), threads.end(),
                  [](const ThreadStack& stack) { return stack.wait.owner_gone; })) {
    return {"hang: lock held by a thread that ended, " + where, Basis::frames, {}};
  }
  const ThreadStack* stack = stack_of(process);
  const StackTitle title = stack == nullptr ? StackTitle() : title_of_stack(stack->frames);
  if (title.kind != StackTitle::Kind::function) return {"hang " + where, Basis::place, {}};
  return {"hang in " + title.function + ", " + where, Basis::frames, title.why};
}

}  // namespace mpsprobe

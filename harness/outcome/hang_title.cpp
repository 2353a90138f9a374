#include "harness/outcome/hang_title.h"

#include <algorithm>

#include "harness/outcome/whereabouts.h"

namespace mpsprobe {

HangTitle hang_title(const ProcessRecord& process, std::string_view path) {
  const std::string where = whereabouts_of_hang(process.recorder, path);
  // How many threads wait differs from run to run: it is not part of the title.
  if (!process.stacks.lock_cycle.empty()) return {"hang: lock cycle, " + where, Basis::frames};
  const auto& threads = process.stacks.threads;
  if (std::any_of(threads.begin(), threads.end(),
                  [](const ThreadStack& stack) { return stack.wait.owner_gone; })) {
    return {"hang: lock held by a thread that ended, " + where, Basis::frames};
  }
  return {"hang " + where, Basis::place};
}

}  // namespace mpsprobe

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "harness/stack/symboliser.h"
#include "harness/stack/wait_functions.h"

namespace mpsprobe {
namespace {

/// What the thread waits for. The address and the owner are what the worker found where it took the
/// argument of a system call for a lock: believed where the stack shows a wait for a mutex, or
/// where it shows nothing and the owner is a thread that exists.
Wait wait_of(const StackSeen& seen, const std::vector<StackFrame>& frames,
             const std::vector<StackSeen>& all) {
  const WaitShown shown = wait_shown(frames);
  Wait wait;
  wait.kind = shown.kind;
  if (seen.wait == recorder_layout::WaitKind::none) return wait;
  const bool owner_seen =
      seen.wait_owner != 0 && std::any_of(all.begin(), all.end(), [&](const StackSeen& other) {
        return other.thread_id == seen.wait_owner;
      });
  if (!shown.mutex && (shown.named || !owner_seen)) return wait;
  wait.kind = Wait::Kind::lock;
  wait.address = seen.wait_address;
  wait.owner = seen.wait_owner;
  wait.owner_gone = seen.wait == recorder_layout::WaitKind::orphaned_lock && !owner_seen;
  return wait;
}

#if defined(__APPLE__) && defined(__aarch64__)
constexpr bool kLinkRegister = true;
#else
constexpr bool kLinkRegister = false;
#endif

std::vector<StackFrame> named(const std::vector<FrameAddress>& frames, Symboliser& symboliser) {
  return symboliser.symbolise(kLinkRegister ? without_stale_link(frames, symboliser) : frames);
}

/// Threads of the cell by index, then the main thread, then the others by the system's number.
auto place_in_order(const ThreadStack& stack) {
  return std::tuple(!stack.faulting, stack.thread < 0, stack.thread, stack.thread_id);
}

}  // namespace

std::vector<FrameAddress> without_stale_link(std::vector<FrameAddress> frames,
                                             Symboliser& symboliser) {
  if (frames.size() < 2) return frames;
  // The last frame of an address is the function itself; those before it were compiled into it.
  const StackFrame top = symboliser.symbolise({frames[0]}).back();
  const StackFrame next = symboliser.symbolise({frames[1]}).back();
  const bool same = !top.function.empty() && top.function == next.function &&
                    top.image == next.image && top.image_id == next.image_id;
  if (same) frames.erase(frames.begin() + 1);
  return frames;
}

std::vector<uint64_t> lock_cycle(const std::vector<ThreadStack>& threads) {
  std::map<uint64_t, uint64_t> waits;  // for whom; of two entries with one thread_id the first
  for (const ThreadStack& thread : threads) {
    const Wait& wait = thread.wait;
    const bool for_somebody = wait.kind == Wait::Kind::lock && wait.owner != 0 && !wait.owner_gone;
    waits.emplace(thread.thread_id, for_somebody ? wait.owner : 0);
  }
  for (const ThreadStack& first : threads) {
    std::vector<uint64_t> chain;
    uint64_t id = first.thread_id;
    // A walk that is longer than there are threads has entered a circle that `first` is not in.
    while (id != 0 && chain.size() <= waits.size()) {
      chain.push_back(id);
      const auto next = waits.find(id);
      id = next != waits.end() ? next->second : 0;
      if (id == first.thread_id && id != 0) return chain;
    }
  }
  return {};
}

StackEvidence stack_evidence(const RecorderReading& recorder, Symboliser& symboliser) {
  StackEvidence evidence;
  const CrashSeen& crash = recorder.crash;
  if (crash.signal != 0 && !crash.frames.empty()) {
    ThreadStack& stack = evidence.threads.emplace_back();
    stack.thread = crash.thread;
    stack.thread_id = crash.thread_id;
    stack.faulting = true;
    stack.frames = named(crash.frames, symboliser);
  }
  for (const StackSeen& seen : recorder.stacks) {
    // A process that crashed while its stacks were being taken: that thread's stack at the crash.
    if (!evidence.threads.empty() && evidence.threads.front().faulting &&
        seen.thread_id == crash.thread_id) {
      continue;
    }
    ThreadStack stack;
    stack.thread = seen.thread;
    stack.thread_id = seen.thread_id;
    stack.name = seen.name;
    stack.frames = named(seen.frames, symboliser);
    stack.wait = wait_of(seen, stack.frames, recorder.stacks);
    evidence.threads.push_back(std::move(stack));
  }
  std::stable_sort(evidence.threads.begin(), evidence.threads.end(),
                   [](const ThreadStack& a, const ThreadStack& b) {
                     return place_in_order(a) < place_in_order(b);
                   });
  evidence.lock_cycle = lock_cycle(evidence.threads);
  return evidence;
}

}  // namespace mpsprobe

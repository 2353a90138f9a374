#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "scenarios/observer/clocks.h"
#include "scenarios/observer/sites.h"

namespace mpsprobe::observer {

/// What an object is to the rules.
enum class Role : uint8_t {
  none,
  device,
  queue,
  command_buffer,
  encoder,
  library,
  function,
  pipeline,
  kernel,
  array,
  graph,
  tensor,
  allocator,        // Metal 4's
  command_buffer4,  // Metal 4's, which are used again and have no status
  queue4,
  commit_options,
};

/// The word for it in a report.
const char* word(Role role);

/// One thread of the process that has called a hooked method.
struct Thread {
  uint32_t number = 0;  ///< from 1 on, by first sight
  int depth = 0;        ///< hooked methods that it is inside
  uintptr_t stack_end = 0;
  Clock clock{};                    ///< what it comes after
  uint64_t first_seen = 0;          ///< by the trap, in ns of the monotonic clock
  uint64_t waited = 0;              ///< in the trap, in ns
  std::atomic<uint64_t> calls = 0;  ///< outermost ones
  /// Callers that it has met, and whose they are.
  struct Caller {
    uintptr_t address = 0;
    Whose whose = Whose::unknown;
  };
  std::array<Caller, 32> callers{};
  /// Objects that it looked up, each at the place of its address.
  std::array<struct Object*, 32> recent{};
  /// Classes whose objects it has seen, the same.
  std::array<const void*, 8> classes{};
  /// What it has for itself: an outermost call's object.
  struct Object* alone = nullptr;
};

/// Guards what follows it; held for a few instructions.
class Spin {
 public:
  void lock() {
    for (int tries = 1; flag_.test_and_set(std::memory_order_acquire); ++tries) {
      if (tries % 64 == 0) sched_yield();  // who holds it may wait for this processor
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

/// What is known of an object of the frameworks'. Its memory is never given back, only used again
/// for another object: who finds another address in it has the wrong one, and none once it is gone.
struct Object {
  std::atomic<void*> address = nullptr;
  std::atomic<const void*> place = nullptr;  ///< the address that it is kept for, also when gone
  /// The thread inside a method that wants the object for itself; 0 for none.
  std::atomic<uint32_t> inside = 0;
  Spin spin;
  Role role = Role::none;
  const char* class_name = "";
  bool seen_made = false;  ///< from the start on; otherwise its state is not known
  bool own = false;        ///< the program made it, not a framework for itself
  bool closed = false;     ///< ended (encoder), committed (command buffer)
  bool suspected = false;  ///< said once
  bool torch = false;      ///< PyTorch made it, for a stream of its own
  bool off_queue = false;  ///< said once
  bool has_pipeline = false;
  bool bindings_known = true;
  uint32_t bound = 0;   ///< buffers, a bit each
  uint32_t needed = 0;  ///< by a function, a pipeline state, or what is set in an encoder
  /// A command buffer's open encoder; the command buffer that an allocator serves.
  void* open = nullptr;
  /// An encoder's command buffer, and one around it; the allocator of what is being recorded.
  void* parents[2] = {nullptr, nullptr};
  Site made;                              ///< of an encoder: where it was opened
  Site ended;                             ///< where it was closed
  Site opened;                            ///< where what is open was opened
  std::atomic<uintptr_t> entered_at = 0;  ///< return address of who is inside
  uint32_t last_thread = 0;
  uint32_t last_time = 0;  ///< that thread's
  uintptr_t last_use = 0;
  std::map<std::string, uint32_t> kernels;  ///< a library's, with the buffers that each needs
  std::set<void*> placeholders;             ///< that a tensor depends on
};

Thread& this_thread();
/// The same where it may be asked at any time: null before watching, and where the thread is just
/// being noted.
Thread* noted_thread();
/// The calling thread begins, after what the one that started it knew.
void start_thread(const Clock& parent);

/// Calls that have been outermost in all threads.
uint64_t calls_observed();

/// The same as find(), where it is one of the last that this thread met; else nullptr.
Object* just_met(Thread& me, const void* address);
/// What is known of it; nullptr for nothing. Any thread.
Object* find(Thread& me, const void* address);
/// A new record in place of whatever was known of that address. Any thread.
Object& remember(Thread& me, void* address, Role role, const char* class_name);
/// The record that there is, or a new one of an object whose beginning was not seen.
Object& find_or_remember(Thread& me, void* address, Role role, const char* class_name);
/// It is about to be freed. Any thread.
void forget(Object& object);

}  // namespace mpsprobe::observer

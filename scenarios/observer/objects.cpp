#include "scenarios/observer/objects.h"

#include <pthread.h>

#include <array>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scenarios/observer/classes.h"

namespace mpsprobe::observer {
namespace {

struct Shard {
  std::mutex mutex;
  std::unordered_map<const void*, Object*> by_address;
  std::deque<Object> all;
  std::vector<Object*> unused;
};

// Never destroyed, as threads may call while the process ends.
std::array<Shard, 64>& shards() {
  static auto* const all = new std::array<Shard, 64>;
  return *all;
}

Shard& shard_of(const void* address) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  return shards()[(number >> 4U ^ number >> 12U) % 64];
}

struct Threads {
  std::mutex mutex;
  std::deque<Thread> all;
  std::vector<Thread*> unused;
  uint32_t count = 0;
  pthread_key_t key{};
};

void give_back(void* thread);

Threads& threads() {
  static auto* const all = [] {
    auto* const made = new Threads;
    pthread_key_create(&made->key, give_back);
    return made;
  }();
  return *all;
}

#ifdef __APPLE__
thread_local Thread* current = nullptr;
thread_local bool noting = false;
#else
// Found in one instruction; the C library keeps room for such a pointer of libraries loaded late.
__attribute__((tls_model("initial-exec"))) thread_local Thread* current = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local bool noting = false;
#endif

// What pthread_join is given.
const void* self() {
#ifdef __APPLE__
  return pthread_self();
#else
  return pointer(pthread_self());
#endif
}

void give_back(void* thread) {
  // For whoever joins it.
  released(*static_cast<Thread*>(thread), self());
  noting = true;  // it is not noted again for what it does while it ends
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  all.unused.push_back(static_cast<Thread*>(thread));
  current = nullptr;
}

Thread& first_sight(const Clock* parent) {
  // What follows takes a lock, which is one of the calls that are seen.
  noting = true;
  const uintptr_t end = end_of_stack();
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  if (all.unused.empty()) {
    current = &all.all.emplace_back();
  } else {
    current = all.unused.back();
    all.unused.pop_back();
  }
  // Numbers are not used again: two threads are never taken for one.
  current->number = ++all.count;
  current->depth = 0;
  current->stack_end = end;
  begin_time(*current, parent);
  current->first_seen = current->waited = 0;
  pthread_setspecific(all.key, current);
  noting = false;
  return *current;
}

Object& place(Shard& shard, void* address, Role role, const char* class_name) {
  Object* object = nullptr;
  if (shard.unused.empty()) {
    object = &shard.all.emplace_back();
  } else {
    object = shard.unused.back();
    shard.unused.pop_back();
  }
  {
    const std::lock_guard lock(object->spin);
    object->role = role;
    object->class_name = class_name;
    object->seen_made = object->own = object->closed = object->suspected = object->has_pipeline =
        false;
    object->torch = object->off_queue = false;
    object->bindings_known = true;
    object->bound = object->needed = 0;
    object->open = nullptr;
    object->parents[0] = object->parents[1] = nullptr;
    object->made = object->ended = object->opened = {};
    object->inside = 0;
    object->last_thread = object->last_time = 0;
    object->last_use = 0;
    object->kernels.clear();
    object->placeholders.clear();
  }
  object->address.store(address, std::memory_order_release);
  shard.by_address[address] = object;
  return *object;
}

void drop(Shard& shard, const void* address) {
  const auto at = shard.by_address.find(address);
  if (at == shard.by_address.end()) return;
  at->second->address.store(nullptr, std::memory_order_release);
  shard.unused.push_back(at->second);
  shard.by_address.erase(at);
}

}  // namespace

const char* word(Role role) {
  static constexpr std::array kWords = {"object",  "device",  "command queue", "command buffer",
                                        "encoder", "library", "function",      "pipeline state",
                                        "kernel",  "array",   "graph",         "tensor"};
  return kWords[static_cast<size_t>(role)];
}

Thread& this_thread() {
  return current != nullptr ? *current : first_sight(nullptr);
}

Thread* noted_thread() {
  if (current != nullptr) return current;
  return noting || !is_watching() ? nullptr : &first_sight(nullptr);
}

void start_thread(const Clock& parent) {
  if (current == nullptr) first_sight(&parent);
}

uint64_t calls_observed() {
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  uint64_t sum = 0;
  for (const Thread& each : all.all) sum += each.calls.load(std::memory_order_relaxed);
  return sum;
}

Object* find(Thread& me, const void* address) {
  if (address == nullptr) return nullptr;
  for (Object* recent : me.recent) {
    if (recent != nullptr && recent->address.load(std::memory_order_acquire) == address)
      return recent;
  }
  Shard& shard = shard_of(address);
  const std::lock_guard lock(shard.mutex);
  const auto at = shard.by_address.find(address);
  if (at == shard.by_address.end()) return nullptr;
  me.recent[1] = std::exchange(me.recent[0], at->second);
  return at->second;
}

Object& remember(void* address, Role role, const char* class_name) {
  Shard& shard = shard_of(address);
  const std::lock_guard lock(shard.mutex);
  drop(shard, address);
  return place(shard, address, role, class_name);
}

Object& find_or_remember(Thread& me, void* address, Role role, const char* class_name) {
  // Of another role: another object's, whose end was not seen.
  if (Object* known = find(me, address); known != nullptr && known->role == role) return *known;
  Shard& shard = shard_of(address);
  const std::lock_guard lock(shard.mutex);
  const auto at = shard.by_address.find(address);
  if (at != shard.by_address.end() && at->second->role == role) return *at->second;
  drop(shard, address);
  return place(shard, address, role, class_name);
}

void forget(const void* address) {
  Shard& shard = shard_of(address);
  const std::lock_guard lock(shard.mutex);
  drop(shard, address);
}

}  // namespace mpsprobe::observer

#include "scenarios/observer/objects.h"

#include <pthread.h>

#include <array>
#include <deque>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "scenarios/observer/classes.h"

namespace mpsprobe::observer {
namespace {

struct Shard {
  Spin spin;
  /// Those that are gone as well: most addresses come again, and find their place.
  std::unordered_map<const void*, Object*> by_address;
  std::deque<Object> all;
  std::vector<Object*> unused;
  size_t sweep_at = 1024;
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

Object*& recent(Thread& me, const void* address) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  return me.recent[(number >> 4U ^ number >> 9U) % me.recent.size()];
}

// Of one that is between two objects; no object has it.
char nobody = 0;

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

/// Takes the places of those that are gone, where there are many addresses.
void sweep(Shard& shard) {
  for (auto at = shard.by_address.begin(); at != shard.by_address.end();) {
    void* none = nullptr;
    const bool gone = at->second->address.compare_exchange_strong(none, &nobody);
    if (gone) shard.unused.push_back(at->second);
    at = gone ? shard.by_address.erase(at) : std::next(at);
  }
  shard.sweep_at = 2 * shard.by_address.size() + 1024;
}

Object& place_of(Shard& shard, const void* address) {
  Object*& object = shard.by_address[address];
  if (object != nullptr) return *object;
  if (shard.unused.empty()) {
    object = &shard.all.emplace_back();
  } else {
    object = shard.unused.back();
    shard.unused.pop_back();
  }
  object->place.store(address, std::memory_order_relaxed);
  return *object;
}

void begin(Object& object, void* address, Role role, const char* class_name) {
  object.role = role;
  object.class_name = class_name;
  object.seen_made = object.own = object.closed = object.suspected = object.has_pipeline = false;
  object.torch = object.off_queue = false;
  object.bindings_known = true;
  object.bound = object.needed = 0;
  object.open = nullptr;
  object.parents[0] = object.parents[1] = nullptr;
  object.made.thread = object.ended.thread = object.opened.thread = 0;
  object.inside.store(0, std::memory_order_relaxed);
  object.last_thread = object.last_time = 0;
  object.last_use = 0;
  if (!object.kernels.empty()) object.kernels.clear();
  if (!object.placeholders.empty()) object.placeholders.clear();
  object.address.store(address, std::memory_order_release);
}

/// The record of that address, begun anew unless it is there and of that role and `known` may stay.
Object& record(Thread& me, void* address, Role role, const char* class_name, bool known) {
  Shard& shard = shard_of(address);
  const std::lock_guard lock(shard.spin);
  if (shard.by_address.size() >= shard.sweep_at) sweep(shard);
  Object& object = place_of(shard, address);
  if (!known || object.address.load(std::memory_order_relaxed) != address || object.role != role)
    begin(object, address, role, class_name);
  recent(me, address) = &object;
  return object;
}

/// The same of an object that is new, without a lock: where the last one at that address is one of
/// those that this thread met, and gone. nullptr: it is not.
Object* begun_again(Thread& me, void* address, Role role, const char* class_name) {
  Object* const last = recent(me, address);
  if (last == nullptr || last->place.load(std::memory_order_relaxed) != address) return nullptr;
  void* before = nullptr;
  // Who swept it meanwhile took it first.
  if (!last->address.compare_exchange_strong(before, &nobody)) return nullptr;
  if (last->place.load(std::memory_order_relaxed) == address) {
    begin(*last, address, role, class_name);
    return last;
  }
  before = &nobody;
  last->address.compare_exchange_strong(before, nullptr);
  return nullptr;
}

}  // namespace

const char* word(Role role) {
  static constexpr std::array kWords = {
      "object",        "device",   "command queue",     "command buffer", "encoder",
      "library",       "function", "pipeline state",    "kernel",         "array",
      "graph",         "tensor",   "command allocator", "command buffer", "command queue",
      "commit options"};
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

Object* just_met(Thread& me, const void* address) {
  Object* const known = recent(me, address);
  return known != nullptr && known->address.load(std::memory_order_acquire) == address ? known
                                                                                       : nullptr;
}

Object* find(Thread& me, const void* address) {
  if (address == nullptr) return nullptr;
  if (Object* const known = just_met(me, address)) return known;
  Shard& shard = shard_of(address);
  const std::lock_guard lock(shard.spin);
  const auto at = shard.by_address.find(address);
  if (at == shard.by_address.end() ||
      at->second->address.load(std::memory_order_relaxed) != address)
    return nullptr;
  return recent(me, address) = at->second;
}

Object& remember(Thread& me, void* address, Role role, const char* class_name) {
  if (Object* const again = begun_again(me, address, role, class_name)) return *again;
  return record(me, address, role, class_name, false);
}

Object& find_or_remember(Thread& me, void* address, Role role, const char* class_name) {
  // Of another role: another object's, whose end was not seen.
  if (Object* known = find(me, address); known != nullptr && known->role == role) return *known;
  return record(me, address, role, class_name, true);
}

void forget(Object& object) {
  object.address.store(nullptr, std::memory_order_release);
}

}  // namespace mpsprobe::observer

#include "scenarios/evidence/thread_identity.h"

#include <array>
#include <atomic>

#ifdef __APPLE__
#include <pthread.h>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace mpsprobe {
namespace {

// Not a thread_local: on macOS a thread's first use of one allocates, which a handler may not.
std::array<std::atomic<uint64_t>, recorder_layout::kThreads> threads_by_slot{};

}  // namespace

uint64_t thread_id() {
#ifdef __APPLE__
  uint64_t id = 0;
  pthread_threadid_np(nullptr, &id);
  return id;
#else
  return static_cast<uint64_t>(syscall(SYS_gettid));
#endif
}

uint32_t slot_of_thread(uint64_t thread_id) {
  for (uint32_t slot = 0; slot < threads_by_slot.size(); ++slot) {
    if (threads_by_slot[slot].load(std::memory_order_relaxed) == thread_id) return slot;
  }
  return UINT32_MAX;
}

void tie_thread(uint32_t slot) {
  threads_by_slot.at(slot).store(thread_id(), std::memory_order_relaxed);
}

void untie_thread(uint32_t slot) {
  threads_by_slot.at(slot).store(0, std::memory_order_relaxed);
}

}  // namespace mpsprobe

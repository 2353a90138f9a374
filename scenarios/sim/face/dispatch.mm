#include "scenarios/sim/face/gnustep/dispatch/dispatch.h"

#include <functional>
#include <string>
#include <utility>

#include "scenarios/sim/face/objects.h"
#include "scenarios/sim/serial_queue.h"

// libdispatch's serial queues, for programs against the simulated Metal.

/// What a dispatch_queue_t points to.
struct dispatch_queue_s {
  std::string label;
  mpsprobe::sim::SerialQueue queue;
};

namespace {

thread_local dispatch_queue_t tl_queue = nullptr;

void run(dispatch_queue_t queue, const std::function<void()>& work) {
  mpsprobe::sim::face::have_pool();
  queue->queue.run([&] {
    struct Within {
      dispatch_queue_t before;
      ~Within() { tl_queue = before; }
    } const within{std::exchange(tl_queue, queue)};
    work();
  });
}

}  // namespace

dispatch_queue_t dispatch_queue_create(const char* label, void*) {
  return new dispatch_queue_s{label == nullptr ? "" : label, {}};
}
void dispatch_release(void*) {}  // of queues that live as long as the process
void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block) {
  run(queue, [&] { block(); });
}
void dispatch_sync_f(dispatch_queue_t queue, void* context, void (*work)(void*)) {
  run(queue, [&] { work(context); });
}
const char* dispatch_queue_get_label(dispatch_queue_t queue) {
  const dispatch_queue_t asked = queue == nullptr ? tl_queue : queue;
  return asked == nullptr ? "" : asked->label.c_str();
}
dispatch_queue_t dispatch_get_main_queue(void) {
  static dispatch_queue_t const main = dispatch_queue_create("com.apple.main-thread", nullptr);
  return main;
}
dispatch_data_t dispatch_data_create(const void*, size_t, dispatch_queue_t, dispatch_block_t) {
  return nullptr;  // what is in a library of kernels is not read
}
void dispatch_apply(size_t times, dispatch_queue_t, void (^block)(size_t)) {
  for (size_t i = 0; i < times; ++i) block(i);
}

#include "scenarios/observer/forwarding/forwarding.h"

#include <array>
#include <atomic>

#if defined(__arm64e__)
#include <ptrauth.h>
#endif

extern "C" {
extern const char mpsprobe_observer_stubs[];
void mpsprobe_observer_call(mpsprobe::observer::Frame* frame, mpsprobe::observer::Function original,
                            size_t stack_bytes);
}

namespace mpsprobe::observer {
namespace {

struct Slot {
  Function original = nullptr;
  const void* method = nullptr;
  CallShape shape;
};

// Each is written before its stub is handed out, and not again.
std::array<Slot, kStubs> slots;
std::atomic<size_t> taken = 0;
Visitor told = {[](Call&) {}, [](Call&) {}};

Function stub(size_t index) {
  const char* const address = mpsprobe_observer_stubs + index * 16;
#if defined(__arm64e__)
  return reinterpret_cast<Function>(
      ptrauth_sign_unauthenticated((void*)address, ptrauth_key_function_pointer, 0));
#else
  return reinterpret_cast<Function>(const_cast<char*>(address));
#endif
}

}  // namespace

void visit_calls(const Visitor& visitor) {
  told = visitor;
}

Function forward_to(Function original, std::string_view types, const void* method) {
  const CallShape shape = shape_of(types);
  if (!shape.known) return nullptr;
  size_t index = taken.load();
  do {
    if (index == kStubs) return nullptr;
  } while (!taken.compare_exchange_weak(index, index + 1));
  slots[index] = {original, method, shape};
  std::atomic_thread_fence(std::memory_order_release);
  return stub(index);
}

}  // namespace mpsprobe::observer

// Called by the stubs' body.
extern "C" __attribute__((visibility("hidden"))) void mpsprobe_observer_forward(
    uint32_t index, mpsprobe::observer::Frame* frame) {
  using namespace mpsprobe::observer;
  const Slot& slot = slots[index];
  Call call{*frame, slot.shape, slot.method,
            pointer(frame->integers[slot.shape.memory_result ? 1 : 0])};
  told.enter(call);
  // Runs for exceptions of Objective-C as well, which are foreign to C++.
  struct Leave {
    Call& call;
    bool returned = false;
    ~Leave() {
      call.thrown = !returned;
      call.result = call.frame.integers[0];
      told.leave(call);
    }
  } leave{call};
  mpsprobe_observer_call(frame, slot.original, slot.shape.stack_bytes);
  leave.returned = true;
}

#include "scenarios/backends/metal_probe.h"

#include <objc/message.h>
#include <objc/runtime.h>

namespace mpsprobe {
namespace {

// The worker is C++ without Apple's headers: the messages are sent through the Objective-C runtime.
template <typename Result>
Result send(void* receiver, const char* selector) {
  const auto call = reinterpret_cast<Result (*)(void*, SEL)>(objc_msgSend);
  return call(receiver, sel_registerName(selector));
}

// MTLCommandBufferStatusCompleted, <Metal/MTLCommandBuffer.h>.
constexpr unsigned long kCompleted = 4;

}  // namespace

void* make_probe_queue(void* device) {
  return send<void*>(device, "newCommandQueue");
}

// The buffer is left to the process, which is ended after this.
Probe probe_metal(void* queue, const std::function<void()>& submitted) {
  void* const buffer = send<void*>(queue, "commandBuffer");
  if (buffer == nullptr) return Probe::failed;
  send<void>(buffer, "commit");
  submitted();
  send<void>(buffer, "waitUntilCompleted");
  return send<unsigned long>(buffer, "status") == kCompleted ? Probe::completed : Probe::failed;
}

}  // namespace mpsprobe

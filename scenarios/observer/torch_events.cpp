#include <dlfcn.h>

#include <cstring>

#ifdef __APPLE__
#include <dispatch/dispatch.h>
#endif

#include "scenarios/observer/event_actions.h"

namespace mpsprobe::observer {
namespace {

// What PyTorch names the queue of each of its streams (ATen/mps/MPSStream.mm).
constexpr const char* kQueue = "metal gpu stream";

/// Whether the calling thread runs on such a queue; true where that cannot be told.
bool on_a_streams_queue() {
#ifdef __APPLE__
  const char* const label = dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL);
#else
  static const auto label_of =
      reinterpret_cast<const char* (*)(void*)>(dlsym(RTLD_DEFAULT, "dispatch_queue_get_label"));
  if (label_of == nullptr) return true;
  const char* const label = label_of(nullptr);
#endif
  return label != nullptr && std::strcmp(label, kQueue) == 0;
}

}  // namespace

Whose caller(Moment& moment) {
  const uintptr_t address = moment.call.frame.return_address;
  Thread::Caller& known = moment.me.callers[(address >> 2U) % moment.me.callers.size()];
  if (known.address != address) known = {address, whose(address)};
  return known.whose;
}

bool made_by_torch(Moment& moment) {
  return moment.outermost && caller(moment) == Whose::torch;
}

void extension_uses(Moment& moment, Object& object) {
  if (object.off_queue || !moment.outermost || caller(moment) != Whose::program ||
      on_a_streams_queue()) {
    return;
  }
  object.off_queue = true;
  broken(moment, RuleId::off_queue, object, "PyTorch made it here", &object.made);
}

void extension_opens_encoder(Moment& moment, Object& buffer) {
  if (!buffer.torch || buffer.off_queue || !moment.outermost || caller(moment) != Whose::program)
    return;
  broken(moment, RuleId::own_encoder, buffer, "PyTorch made it here", &buffer.made);
}

RuleId closed_rule(Moment& moment, const Object& object, RuleId otherwise) {
  const bool borrowed = object.torch && caller(moment) == Whose::program &&
                        whose(object.ended.frames[0]) == Whose::torch;
  return borrowed ? RuleId::borrowed_buffer : otherwise;
}

}  // namespace mpsprobe::observer

// Metal 4's command buffers are used again, take their memory from an allocator, and do not tell
// when the device is done with them: what is judged is what lies between begin and end.
#include <mutex>

#include "scenarios/observer/event_actions.h"

namespace mpsprobe::observer {
namespace {

/// The allocator does not serve that command buffer any more.
void let_go(Thread& me, const Object& buffer) {
  Object* const allocator = find(me, buffer.parents[0]);
  if (allocator == nullptr) return;
  const std::lock_guard lock(allocator->spin);
  if (allocator->open == buffer.address.load()) allocator->open = nullptr;
}

}  // namespace

void buffer4_begins(Moment& moment, Object& buffer) {
  let_go(moment.me, buffer);
  void* const given = object_at(moment, 0);
  if (given == nullptr) return;
  Object& allocator = find_or_remember(moment.me, given, Role::allocator,
                                       class_getName(object_getClass(static_cast<id>(given))));
  Site other;
  {
    const std::lock_guard lock(allocator.spin);
    if (allocator.open != nullptr) other = allocator.opened;
    allocator.open = moment.call.self;
    allocator.opened = here(moment);
  }
  buffer.parents[0] = given;
  buffer.made = here(moment);
  if (other.thread != 0) {
    broken(moment, RuleId::shared_allocator, allocator, "the other command buffer was begun here",
           &other);
  }
}

void buffer4_ends(Moment& moment, Object& buffer) {
  let_go(moment.me, buffer);
  buffer.parents[0] = nullptr;
}

void buffer4_is_freed(Moment& moment, Object& buffer) {
  let_go(moment.me, buffer);
  forget(buffer);
}

void buffer4_opened_encoder(Moment& moment, Object&) {
  if (moment.call.result == 0 || moment.call.thrown) return;
  // Which may be the last one again, at the same address.
  const auto made = static_cast<id>(pointer(moment.call.result));
  remember(moment.me, made, Role::encoder, class_getName(object_getClass(made)));
}

void allocator_is_reset(Moment& moment, Object& allocator) {
  Site recorded;
  {
    const std::lock_guard lock(allocator.spin);
    if (allocator.open != nullptr) recorded = allocator.opened;
  }
  if (recorded.thread == 0) return;
  broken(moment, RuleId::reset_while_recording, allocator, "the command buffer was begun here",
         &recorded);
}

void queue4_commits(Moment& moment, Object&) {
  const auto* const given = static_cast<void* const*>(pointer(moment.call.argument(0)));
  for (uintptr_t i = 0; given != nullptr && i < moment.call.argument(1); ++i) {
    Object* const buffer = find(moment.me, given[i]);
    if (buffer == nullptr || buffer->parents[0] == nullptr) continue;
    broken(moment, RuleId::commit_while_recording, *buffer, "it was begun here", &buffer->made);
  }
}

}  // namespace mpsprobe::observer

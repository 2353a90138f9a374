#include <cstring>
#include <mutex>

#include "scenarios/observer/event_actions.h"

namespace mpsprobe::observer {
namespace {

// MTLCommandBufferStatusCommitted.
constexpr unsigned long kCommitted = 2;
unsigned long status_of(const Object& buffer) {
  return send<unsigned long>(static_cast<id>(buffer.address.load()), "status");
}

struct Open {
  void* encoder;
  bool committed;
  Site opened;  ///< where there is one
  Site ended;   ///< where it was committed
};

/// Of most there is nothing to say. Without the lock: who changes it at once is another thread
/// inside, which is found as such.
bool is_open_or_closed(const Object& buffer) {
  return buffer.open != nullptr || buffer.closed;
}

Open state_of(Object& buffer) {
  const std::lock_guard lock(buffer.spin);
  Open state{buffer.open, buffer.closed, {}, {}};
  if (state.encoder != nullptr) state.opened = buffer.opened;
  if (state.committed) state.ended = buffer.ended;
  return state;
}

void close_in(Thread& me, void* parent, const void* encoder) {
  Object* const buffer = find(me, parent);
  if (buffer == nullptr) return;
  const std::lock_guard lock(buffer->spin);
  if (buffer->open == encoder) buffer->open = nullptr;
}

}  // namespace

void broken(Moment& moment, RuleId rule, Object& object, const char* what, const Site* site) {
  if (!moment.outermost) return;
  Site at = here(moment);
  // Through code without frame pointers, as in the release of an autorelease pool.
  if (!has_caller(at)) at = unwound_callers(at);
  say_broken(rule, object, moment.selector, at, {what, site});
}

bool beyond(id buffer, uintptr_t offset, uintptr_t size) {
  if (buffer == nullptr) return false;
  const auto length = send<unsigned long>(buffer, "length");
  return length != 0 && (size > length || offset > length - size);
}

// --- command queues and buffers

void queue_made_buffer(Moment& moment, Object&) {
  if (moment.call.result == 0) return;
  const auto made = static_cast<id>(pointer(moment.call.result));
  if (!moment.outermost) {
    const Object* const known = find(moment.me, made);
    if (known != nullptr && !known->closed) return;
  }
  Object& buffer =
      remember(moment.me, made, Role::command_buffer, class_getName(object_getClass(made)));
  buffer.seen_made = true;
  buffer.own = moment.outermost;
  buffer.torch = made_by_torch(moment);
  buffer.made = here(moment);
  buffer.last_thread = moment.me.number;
  buffer.last_time = time_of(moment.me);
  buffer.last_use = moment.call.frame.return_address;
}

void buffer_opens_encoder(Moment& moment, Object& buffer) {
  if (!is_open_or_closed(buffer)) return extension_opens_encoder(moment, buffer);
  const Open state = state_of(buffer);
  if (state.committed && status_of(buffer) >= kCommitted) {
    broken(moment, closed_rule(moment, buffer, RuleId::encoder_after_commit), buffer,
           "it was committed here", &state.ended);
  } else if (state.encoder != nullptr) {
    const bool other = state.opened.thread != moment.me.number;
    broken(moment, other ? RuleId::shared_command_buffer : RuleId::second_encoder, buffer,
           "the open encoder was opened here", &state.opened);
  } else {
    extension_opens_encoder(moment, buffer);
  }
}

void buffer_opened_encoder(Moment& moment, Object& buffer) {
  if (moment.call.result == 0 || moment.call.thrown) return;
  const auto made = static_cast<id>(pointer(moment.call.result));
  const Site site = here(moment);
  Object* encoder = just_met(moment.me, made);
  // An MPSCommandBuffer asks the command buffer that it wraps, which was seen a moment ago.
  const bool wrapped = encoder != nullptr && moment.outermost && !encoder->own &&
                       !encoder->closed && encoder->made.thread == moment.me.number;
  if (!wrapped)
    encoder = &remember(moment.me, made, Role::encoder, class_getName(object_getClass(made)));
  // Nobody else has it yet.
  encoder->seen_made = true;
  encoder->own = moment.outermost;
  encoder->torch = made_by_torch(moment);
  encoder->made = site;
  encoder->last_thread = moment.me.number;
  encoder->last_time = time_of(moment.me);
  encoder->last_use = moment.call.frame.return_address;
  encoder->parents[wrapped ? 1 : 0] = buffer.address.load();
  const std::lock_guard lock(buffer.spin);
  buffer.open = made;
  buffer.opened = site;
}

void buffer_commits(Moment& moment, Object& buffer) {
  const Open state = is_open_or_closed(buffer) ? state_of(buffer) : Open{};
  if (state.committed && status_of(buffer) >= kCommitted) {
    broken(moment, RuleId::double_commit, buffer, "it was committed here", &state.ended);
  } else if (state.encoder != nullptr) {
    broken(moment, RuleId::commit_open_encoder, buffer, "the open encoder was opened here",
           &state.opened);
  }
  // Before the original runs: handlers may release it.
  if (std::strcmp(moment.selector, "commit") != 0) return;
  const std::lock_guard lock(buffer.spin);
  buffer.closed = true;
  buffer.ended = here(moment);
}

template <RuleId Rule>
void buffer_takes_handler(Moment& moment, Object& buffer) {
  if (!is_open_or_closed(buffer)) return;
  const Open state = state_of(buffer);
  if (!state.committed || status_of(buffer) < kCommitted) return;
  broken(moment, Rule, buffer, "it was committed here", &state.ended);
}

void buffer_is_waited_for(Moment& moment, Object& buffer) {
  if (!buffer.seen_made || buffer.closed || status_of(buffer) != 0) return;
  broken(moment, RuleId::wait_before_commit, buffer, "it was made here", &buffer.made);
}

// --- encoders

void encoder_is_used(Moment& moment, Object& encoder) {
  if (!encoder.closed) return;
  const bool dispatch = std::strncmp(moment.selector, "dispatch", 8) == 0;
  const RuleId rule = dispatch ? RuleId::dispatch_after_end : RuleId::encode_after_end;
  broken(moment, closed_rule(moment, encoder, rule), encoder, "it was ended here", &encoder.ended);
}

void encoder_ends(Moment& moment, Object& encoder) {
  if (encoder.closed)
    broken(moment, RuleId::end_twice, encoder, "it was ended here", &encoder.ended);
}

void encoder_ended(Moment& moment, Object& encoder) {
  if (moment.call.thrown) return;
  if (!encoder.closed) encoder.ended = here(moment);
  encoder.closed = true;
  for (void* parent : encoder.parents) close_in(moment.me, parent, moment.call.self);
}

void encoder_is_freed(Moment& moment, Object& encoder) {
  // Wherever the last reference went: the program made it, and the program ends it.
  if (encoder.seen_made && encoder.own && !encoder.closed) {
    moment.outermost = true;
    broken(moment, RuleId::release_without_end, encoder, "it was opened here", &encoder.made);
  }
  if (!encoder.closed) {
    for (void* parent : encoder.parents) close_in(moment.me, parent, moment.call.self);
  }
  forget(encoder);
}

void object_is_freed(Moment&, Object& object) {
  forget(object);
}

void encoder_takes_pipeline(Moment& moment, Object& encoder) {
  encoder_is_used(moment, encoder);
  const Object* const pipeline = find(moment.me, object_at(moment, 0));
  encoder.has_pipeline = object_at(moment, 0) != nullptr;
  encoder.needed = pipeline == nullptr ? 0 : pipeline->needed;
}

template <int IndexAt>
void encoder_takes_buffer(Moment& moment, Object& encoder) {
  encoder_is_used(moment, encoder);
  const uintptr_t index = moment.call.argument(IndexAt);
  if (index >= 32) return;
  const uint32_t bit = uint32_t{1} << index;
  encoder.bound = object_at(moment, 0) != nullptr ? encoder.bound | bit : encoder.bound & ~bit;
}

void encoder_takes_many(Moment& moment, Object& encoder) {
  encoder_is_used(moment, encoder);
  encoder.bindings_known = false;  // a C array, a table, something that is no buffer
}

void encoder_dispatches(Moment& moment, Object& encoder) {
  if (encoder.closed || !encoder.seen_made) return encoder_is_used(moment, encoder);
  if (!encoder.has_pipeline) {
    broken(moment, RuleId::dispatch_without_pipeline, encoder, "it was opened here", &encoder.made);
  } else if (encoder.bindings_known && (encoder.needed & ~encoder.bound) != 0) {
    broken(moment, RuleId::unbound_buffer, encoder, "it was opened here", &encoder.made);
  }
}

void encoder_fills(Moment& moment, Object& encoder) {
  encoder_is_used(moment, encoder);
  if (beyond(object_at(moment, 0), moment.call.argument(1), moment.call.argument(2))) {
    broken(moment, RuleId::fill_beyond_buffer, encoder, "it was opened here", &encoder.made);
  }
}

void encoder_copies(Moment& moment, Object& encoder) {
  encoder_is_used(moment, encoder);
  const uintptr_t size = moment.call.argument(4);
  if (beyond(object_at(moment, 0), moment.call.argument(1), size) ||
      beyond(object_at(moment, 2), moment.call.argument(3), size)) {
    broken(moment, RuleId::copy_beyond_buffer, encoder, "it was opened here", &encoder.made);
  }
}

template void buffer_takes_handler<RuleId::scheduled_handler_after_commit>(Moment&, Object&);
template void buffer_takes_handler<RuleId::completed_handler_after_commit>(Moment&, Object&);
template void encoder_takes_buffer<2>(Moment&, Object&);
template void encoder_takes_buffer<3>(Moment&, Object&);

}  // namespace mpsprobe::observer

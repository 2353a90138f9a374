#pragma once

#include "scenarios/observer/events.h"
#include "scenarios/observer/report.h"
#include "scenarios/observer/runtime.h"

/// What the rows of events.cpp do before and after a method runs.
namespace mpsprobe::observer {

inline id object_at(const Moment& moment, int number) {
  return static_cast<id>(pointer(moment.call.argument(number)));
}

/// Says so where the program itself made the call; `what` and `site`: an earlier place.
void broken(Moment& moment, RuleId rule, Object& object, const char* what = nullptr,
            const Site* site = nullptr);

/// Whether `size` bytes from `offset` on are more than an MTLBuffer has.
bool beyond(id buffer, uintptr_t offset, uintptr_t size);

// PyTorch's streams: torch_events.cpp.
Whose caller(Moment& moment);
/// Whether PyTorch itself makes this call, for a stream of its own.
bool made_by_torch(Moment& moment);
/// An extension is about to use something of PyTorch's.
void extension_uses(Moment& moment, Object& object);
/// The same, of a command buffer that gets an encoder, where Metal has nothing against it.
void extension_opens_encoder(Moment& moment, Object& buffer);
/// The rule that is broken by the use of what was closed there.
RuleId closed_rule(Moment& moment, const Object& object, RuleId otherwise);

// Queues, command buffers and encoders: command_events.cpp.
void queue_made_buffer(Moment& moment, Object& object);
void buffer_opens_encoder(Moment& moment, Object& object);
void buffer_opened_encoder(Moment& moment, Object& object);
void buffer_commits(Moment& moment, Object& object);
void buffer_is_waited_for(Moment& moment, Object& object);
void encoder_is_used(Moment& moment, Object& object);
void encoder_ends(Moment& moment, Object& object);
void encoder_ended(Moment& moment, Object& object);
void encoder_is_freed(Moment& moment, Object& object);
void object_is_freed(Moment& moment, Object& object);
void encoder_takes_pipeline(Moment& moment, Object& object);
void encoder_takes_many(Moment& moment, Object& object);
void encoder_dispatches(Moment& moment, Object& object);
void encoder_fills(Moment& moment, Object& object);
void encoder_copies(Moment& moment, Object& object);
// Metal 4: metal4_events.cpp.
void buffer4_begins(Moment& moment, Object& object);
void buffer4_ends(Moment& moment, Object& object);
void buffer4_opened_encoder(Moment& moment, Object& object);
void buffer4_is_freed(Moment& moment, Object& object);
void allocator_is_reset(Moment& moment, Object& object);
void queue4_commits(Moment& moment, Object& object);
template <RuleId Rule>
void buffer_takes_handler(Moment& moment, Object& buffer);
template <int IndexAt>
void encoder_takes_buffer(Moment& moment, Object& encoder);

// Libraries, functions, pipeline states, kernels, arrays and graphs: kernel_events.cpp.
void device_reads_source(Moment& moment, Object& object);
void device_made_library(Moment& moment, Object& object);
void library_names(Moment& moment, Object& object);
void library_made_function(Moment& moment, Object& object);
void device_takes_function(Moment& moment, Object& object);
void device_made_pipeline(Moment& moment, Object& object);
void kernel_encodes(Moment& moment, Object& object);
void shape_is_named(Moment& moment, Object& object);
void descriptor_was_made(Moment& moment, Object& object);
void array_takes_buffer(Moment& moment, Object& object);
void graph_takes_tensors(Moment& moment, Object& object);
void graph_made(Moment& moment, Object& object);
void graph_is_encoded(Moment& moment, Object& object);

}  // namespace mpsprobe::observer

#include "scenarios/observer/events.h"

#include <string_view>

#include "scenarios/observer/event_actions.h"
#include "scenarios/observer/trap.h"

namespace mpsprobe::observer {

Site here(const Moment& moment) {
  return site_of(moment.call.frame, moment.me.number, moment.me.stack_end);
}

namespace {

constexpr bool kExact = false;
constexpr bool kPrefix = true;
constexpr bool kAlone = true;
constexpr bool kShared = false;

// The first row that fits counts. What may be asked of any thread has none, as `status`.
constexpr Event kEvents[] = {
    {Role::queue, "commandBuffer", kPrefix, kShared, nullptr, queue_made_buffer},
    {Role::device, "newLibraryWithSource:options:error:", kExact, kShared, device_reads_source,
     device_made_library},
    {Role::device, "newComputePipelineStateWithFunction:", kPrefix, kShared, device_takes_function,
     device_made_pipeline},
    {Role::library, "newFunctionWithName:", kExact, kShared, library_names, library_made_function},
    {Role::command_buffer, "commit", kPrefix, kAlone, buffer_commits, nullptr},
    {Role::command_buffer, "addScheduledHandler:", kExact, kAlone,
     buffer_takes_handler<RuleId::scheduled_handler_after_commit>, nullptr},
    {Role::command_buffer, "addCompletedHandler:", kExact, kAlone,
     buffer_takes_handler<RuleId::completed_handler_after_commit>, nullptr},
    {Role::command_buffer, "waitUntil", kPrefix, kShared, buffer_is_waited_for, nullptr},
    {Role::command_buffer, "commandBufferFromCommandQueue:", kExact, kShared, nullptr,
     queue_made_buffer},
    {Role::command_buffer, "dealloc", kExact, kShared, object_is_freed, nullptr},
    {Role::encoder, "endEncoding", kExact, kAlone, encoder_ends, encoder_ended},
    {Role::encoder, "dealloc", kExact, kShared, encoder_is_freed, nullptr},
    {Role::encoder, "setComputePipelineState:", kExact, kAlone, encoder_takes_pipeline, nullptr},
    {Role::encoder, "setRenderPipelineState:", kExact, kAlone, encoder_takes_pipeline, nullptr},
    {Role::encoder, "setBuffer:offset:atIndex:", kExact, kAlone, encoder_takes_buffer<2>, nullptr},
    {Role::encoder, "setBuffer:offset:attributeStride:atIndex:", kExact, kAlone,
     encoder_takes_buffer<3>, nullptr},
    {Role::encoder, "setBytes:length:atIndex:", kExact, kAlone, encoder_takes_buffer<2>, nullptr},
    {Role::encoder, "setBytes:length:attributeStride:atIndex:", kExact, kAlone,
     encoder_takes_buffer<3>, nullptr},
    {Role::encoder, "setBufferOffset:", kPrefix, kAlone, encoder_is_used, nullptr},
    {Role::encoder, "set", kPrefix, kAlone, encoder_takes_many, nullptr},
    {Role::encoder, "dispatch", kPrefix, kAlone, encoder_dispatches, nullptr},
    {Role::encoder, "fillBuffer:range:value:", kExact, kAlone, encoder_fills, nullptr},
    {Role::encoder, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", kExact, kAlone,
     encoder_copies, nullptr},
    {Role::encoder, "device", kExact, kShared, nullptr, nullptr},
    {Role::encoder, "label", kExact, kShared, nullptr, nullptr},
    {Role::encoder, "dispatchType", kExact, kShared, nullptr, nullptr},
    {Role::encoder, "commandBuffer", kExact, kShared, nullptr, nullptr},
    {Role::encoder, "", kPrefix, kAlone, encoder_is_used, nullptr},
    {Role::kernel, "encodeTo", kPrefix, kAlone, kernel_encodes, nullptr},
    {Role::array, "descriptorWithDataType:shape:", kExact, kShared, shape_is_named,
     descriptor_was_made},
    {Role::array, "initWithBuffer:offset:descriptor:", kExact, kShared, array_takes_buffer,
     nullptr},
    {Role::graph,
     "encodeToCommandBuffer:feeds:targetOperations:resultsDictionary:executionDescriptor:", kExact,
     kShared, graph_is_encoded, nullptr},
    {Role::graph, "", kPrefix, kShared, graph_takes_tensors, graph_made},
    {Role::queue4, "commit:count:", kPrefix, kShared, queue4_commits, nullptr},
    {Role::command_buffer4, "beginCommandBufferWithAllocator:", kPrefix, kAlone, buffer4_begins,
     nullptr},
    {Role::command_buffer4, "endCommandBuffer", kExact, kAlone, buffer4_ends, nullptr},
    {Role::command_buffer4, "computeCommandEncoder", kExact, kAlone, nullptr,
     buffer4_opened_encoder},
    {Role::command_buffer4, "machineLearningCommandEncoder", kExact, kAlone, nullptr,
     buffer4_opened_encoder},
    {Role::command_buffer4, "renderCommandEncoderWithDescriptor:", kPrefix, kAlone, nullptr,
     buffer4_opened_encoder},
    {Role::command_buffer4, "dealloc", kExact, kShared, buffer4_is_freed, nullptr},
    {Role::allocator, "reset", kExact, kShared, allocator_is_reset, nullptr},
    {Role::allocator, "dealloc", kExact, kShared, object_is_freed, nullptr},
    {Role::commit_options, "addFeedbackHandler:", kExact, kAlone, nullptr, nullptr},
};

constexpr Event kOpensEncoder = {Role::command_buffer, "", kPrefix, kAlone, buffer_opens_encoder,
                                 buffer_opened_encoder};

RuleId overlap_of(Role role) {
  switch (role) {
    case Role::encoder:
      return RuleId::shared_encoder;
    case Role::commit_options:
      return RuleId::shared_commit_options;
    case Role::kernel:
      return RuleId::shared_kernel;
    default:
      return RuleId::shared_command_buffer;
  }
}

}  // namespace

const Event* event_for(Role role, const char* selector) {
  const std::string_view name = selector;
  if (role == Role::command_buffer && name.find("ommandEncoder") != std::string_view::npos)
    return &kOpensEncoder;
  for (const Event& each : kEvents) {
    if (each.role != role) continue;
    if (each.prefix ? name.starts_with(each.selector) : name == each.selector) return &each;
  }
  return nullptr;
}

bool enter_object(Moment& moment, Object& object, const Event& event) {
  if (!event.exclusive || !moment.outermost) return false;
  if (object.torch && !object.closed) extension_uses(moment, object);
  // No exchange, which costs as much as all else: two that write at once are missed, and whoever
  // reads another's number met that thread inside.
  const uint32_t inside = object.inside.load(std::memory_order_acquire);
  if (inside != 0) {
    Site other;
    other.thread = inside;
    other.frames[0] = object.entered_at.load();
    broken(moment, overlap_of(object.role), object, "the other thread called here", &other);
    return false;
  }
  object.inside.store(moment.me.number, std::memory_order_release);
  object.entered_at.store(moment.call.frame.return_address, std::memory_order_relaxed);
  const uint32_t last = object.last_thread;
  // What PyTorch made goes from thread to thread by its stream's queue, for which it has a rule.
  if (last != 0 && last != moment.me.number && !object.suspected && !object.closed &&
      object.open == nullptr && !object.torch &&
      (object.role == Role::encoder || object.role == Role::command_buffer) &&
      !comes_after(moment.me, last, object.last_time)) {
    object.suspected = true;
    Site other;
    other.thread = last;
    other.frames[0] = object.last_use;
    broken(
        moment,
        object.role == Role::encoder ? RuleId::handed_over_encoder : RuleId::foreign_command_buffer,
        object, "the other thread used it here", &other);
  }
  object.last_thread = moment.me.number;
  object.last_time = time_of(moment.me);
  object.last_use = moment.call.frame.return_address;
  spring(moment.me, last != 0 && last != moment.me.number);
  return true;
}

void leave_object(Moment&, Object& object) {
  object.inside.store(0, std::memory_order_release);
}

}  // namespace mpsprobe::observer

#include <Block.h>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/objects.h"
#include "scenarios/sim/face/simulation.h"

using namespace mpsprobe::sim;
using namespace mpsprobe::sim::face;

NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

namespace {

// The buffer owns its handlers until it has called them, so that they cannot own the buffer.
metal::CommandBuffer::Handler handler_of(SimulatedCommandBuffer* buffer,
                                         MTLCommandBufferHandler block) {
  const std::shared_ptr<void> kept((void*)Block_copy(block),
                                   [](void* copy) { Block_release(copy); });
  return [buffer, kept](metal::CommandBuffer&) { ((MTLCommandBufferHandler)kept.get())(buffer); };
}

}  // namespace

@implementation SimulatedCommandBuffer
- (id)initWithQueue:(SimulatedQueue*)queue {
  if ((self = [super init]) != nil) {
    queue_ = [queue retain];
    recording_ = new Recording{.buffer = queue->queue_->command_buffer()};
  }
  return self;
}
- (void)dealloc {
  delete recording_;
  [queue_ release];
  [super dealloc];
}
- (MTLCommandBufferStatus)status {
  // In the order of metal::CommandBufferStatus.
  static constexpr MTLCommandBufferStatus kStatus[] = {
      MTLCommandBufferStatusNotEnqueued, MTLCommandBufferStatusCommitted,
      MTLCommandBufferStatusScheduled, MTLCommandBufferStatusCompleted,
      MTLCommandBufferStatusError};
  return kStatus[static_cast<size_t>(recording_->buffer->status())];
}
- (NSError*)error {
  if ([self status] != MTLCommandBufferStatusError) return nil;
  NSString* const text = [NSString stringWithUTF8String:recording_->buffer->error().c_str()];
  return [NSError errorWithDomain:MTLCommandBufferErrorDomain
                             code:1
                         userInfo:[NSDictionary dictionaryWithObject:text
                                                              forKey:NSLocalizedDescriptionKey]];
}
// When it ran is not noted.
MPSPROBE_METHOD(CFTimeInterval, GPUStartTime, 0)
MPSPROBE_METHOD(CFTimeInterval, GPUEndTime, 0)
MPSPROBE_METHOD(CFTimeInterval, kernelStartTime, 0)
MPSPROBE_METHOD(CFTimeInterval, kernelEndTime, 0)
- (void)commit {
  // Metal's own checks come first: they have the text that people know.
  metal::CommandBuffer& buffer = *recording_->buffer;
  if (buffer.status() == metal::CommandBufferStatus::not_enqueued && !buffer.encoding()) {
    require_owner(*recording_, "commit");
  }
  // The device keeps the buffer until it is done with it: a handler may release the program's last
  // reference, and the program need not wait.
  const auto kept = mpsprobe::Owned<SimulatedCommandBuffer*>::retain(self);
  buffer.commit_to_engine([kept](const std::function<void()>& execution) {
    const mpsprobe::Pool pool;  // for what handlers make
    execution();
  });
}
/// In its turn among the encoders, of which none may be open.
- (void)simulatedEvent:(id<MTLEvent>)event then:(void (^)(SimulatedEvent*))work {
  metal::CommandBuffer& buffer = *recording_->buffer;
  if (buffer.encoding()) {
    metal::fail_assertion("-[IOGPUMetalCommandBuffer encodeSignalEvent:value:]", 426,
                          "command buffer with uncommitted encoder");
  }
  const std::shared_ptr<void> kept((void*)Block_copy(work),
                                   [](void* copy) { Block_release(copy); });
  buffer.add_command(
      [kept, event = mpsprobe::Owned<SimulatedEvent*>::retain((SimulatedEvent*)event)] {
        ((void (^)(SimulatedEvent*))kept.get())(event.get());
      });
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  [self simulatedEvent:event
                  then:^(SimulatedEvent* signalled) {
                    [signalled setSignaledValue:value];
                  }];
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  [self simulatedEvent:event
                  then:^(SimulatedEvent* awaited) {
                    [awaited waitUntilSimulatedValue:value];
                  }];
}
- (void)waitUntilCompleted {
  recording_->buffer->wait_until_completed();
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
  recording_->buffer->add_scheduled_handler(handler_of(self, block));
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  recording_->buffer->add_completed_handler(handler_of(self, block));
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  metal::Encoder& encoder = recording_->buffer->blit_encoder();
  require_owner(*recording_, "blitCommandEncoder");
  return [[[SimulatedEncoder alloc] initWithBuffer:self encoder:encoder] autorelease];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  metal::Encoder& encoder = recording_->buffer->compute_encoder();
  require_owner(*recording_, "computeCommandEncoder");
  return [[[SimulatedEncoder alloc] initWithBuffer:self encoder:encoder] autorelease];
}
@end

namespace mpsprobe::sim::face {
namespace {

class Target : public EncodeTarget {
 public:
  explicit Target(SimulatedCommandBuffer* buffer) : buffer_(buffer) {}
  metal::CommandQueue& queue() override { return *buffer_->queue_->queue_; }
  void fail_current(std::string_view reason) override {
    buffer_->recording_->buffer->set_error(std::string(reason));
  }

 private:
  SimulatedCommandBuffer* buffer_;
};

}  // namespace

void require_owner(const Recording& recording, const char* method) {
  if (recording.owner == std::thread::id() || recording.owner == std::this_thread::get_id()) return;
  metal::fail_assertion("-[SimulatedCommandBuffer " + std::string(method) + "]", 0,
                        "command buffer used by a thread that did not create it");
}

EncodeResult meet_defects(SimulatedCommandBuffer* buffer, std::string_view operation,
                          EncodePath path) {
  Target target(buffer);
  return simulation().defects.encode(*find_operation(operation), path, target);
}

void raise_if_asked(const EncodeResult& result) {
  if (result.exception == nullptr) return;
  [NSException raise:NSInternalInconsistencyException format:@"%s", result.exception->c_str()];
}

void encode_work(SimulatedCommandBuffer* buffer, SimulatedEncoder* given,
                 std::string_view operation, EncodePath path, std::function<void(bool)> work) {
  if (given != nil && given->buffer_ != buffer) {
    metal::fail_assertion("-[SimulatedCommandBuffer encode]", 0,
                          "encoder of another command buffer");
  }
  metal::Encoder& encoder =
      given == nil ? buffer->recording_->buffer->compute_encoder() : *given->encoder_;
  require_owner(*buffer->recording_, "computeCommandEncoder");
  const EncodeResult result = meet_defects(buffer, operation, path);
  if (result.exception == nullptr) {
    encoder.encode([work = std::move(work), wrong = result.wrong_numbers] { work(wrong); });
  }
  if (given == nil) encoder.end_encoding();
  raise_if_asked(result);
}

}  // namespace mpsprobe::sim::face

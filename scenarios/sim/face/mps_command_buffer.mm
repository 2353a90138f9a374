#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include "scenarios/sim/face/objects.h"

// A command buffer around a command buffer, which it may replace: all calls go to the present one.

namespace {

struct BufferHalf {
  id<MTLCommandQueue> queue;
  id<MTLCommandBuffer> root;
  bool holds_graph = false;
};
BufferHalf& half_of(MPSCommandBuffer* buffer) {
  return *static_cast<BufferHalf*>(buffer->simulated_);
}
id<MTLCommandBuffer> root_of(MPSCommandBuffer* buffer) { return half_of(buffer).root; }

}  // namespace

@implementation MPSCommandBuffer
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)commandQueue {
  return [[[self alloc] initWithQueue:commandQueue] autorelease];
}
- (id)initWithQueue:(id<MTLCommandQueue>)queue {
  if ((self = [super init]) != nil) {
    simulated_ = new BufferHalf{[queue retain], nil};
    [self simulatedNewRoot];
  }
  return self;
}
/// Threads may take turns with it, as the queue of a stream has them do.
- (void)simulatedNewRoot {
  BufferHalf& half = half_of(self);
  [half.root release];
  half.root = [[half.queue commandBuffer] retain];
  ((SimulatedCommandBuffer*)half.root)->recording_->owner = std::thread::id();
  half.holds_graph = false;
}
- (void)commitAndContinue {
  [root_of(self) commit];
  [self simulatedNewRoot];
}
- (void)dealloc {
  [root_of(self) release];
  [half_of(self).queue release];
  delete &half_of(self);
  [super dealloc];
}
MPSPROBE_METHOD(id<MTLCommandBuffer>, rootCommandBuffer, root_of(self))
MPSPROBE_METHOD(MTLCommandBufferStatus, status, [root_of(self) status])
MPSPROBE_METHOD(NSError*, error, [root_of(self) error])
MPSPROBE_METHOD(void, commit, [root_of(self) commit])
MPSPROBE_METHOD(void, waitUntilCompleted, [root_of(self) waitUntilCompleted])
MPSPROBE_METHOD(CFTimeInterval, GPUStartTime, [root_of(self) GPUStartTime])
MPSPROBE_METHOD(CFTimeInterval, GPUEndTime, [root_of(self) GPUEndTime])
MPSPROBE_METHOD(CFTimeInterval, kernelStartTime, [root_of(self) kernelStartTime])
MPSPROBE_METHOD(CFTimeInterval, kernelEndTime, [root_of(self) kernelEndTime])
MPSPROBE_METHOD(id<MTLBlitCommandEncoder>, blitCommandEncoder, [root_of(self) blitCommandEncoder])
MPSPROBE_METHOD(id<MTLComputeCommandEncoder>, computeCommandEncoder,
                [root_of(self) computeCommandEncoder])
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  [root_of(self) encodeSignalEvent:event value:value];
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  [root_of(self) encodeWaitForEvent:event value:value];
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
  [root_of(self) addScheduledHandler:block];
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  [root_of(self) addCompletedHandler:block];
}
@end

@implementation MPSCommandBuffer (Simulated)
- (void)makeRoomForGraph {
  BufferHalf& half = half_of(self);
  if (half.holds_graph) [self commitAndContinue];
  half.holds_graph = true;
}
@end

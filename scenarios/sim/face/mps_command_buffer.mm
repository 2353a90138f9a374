#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

// A command buffer around a command buffer, which it may replace: all calls go to the present one.

namespace {

id<MTLCommandBuffer> root_of(MPSCommandBuffer* buffer) {
  return static_cast<id<MTLCommandBuffer>>(buffer->simulated_);
}

}  // namespace

@implementation MPSCommandBuffer
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)commandQueue {
  return [[[self alloc] initWithRoot:[commandQueue commandBuffer]] autorelease];
}
- (id)initWithRoot:(id<MTLCommandBuffer>)root {
  if ((self = [super init]) != nil) simulated_ = [root retain];
  return self;
}
- (void)dealloc {
  [root_of(self) release];
  [super dealloc];
}
- (id<MTLCommandBuffer>)rootCommandBuffer {
  return root_of(self);
}
- (MTLCommandBufferStatus)status {
  return [root_of(self) status];
}
- (NSError*)error {
  return [root_of(self) error];
}
- (void)commit {
  [root_of(self) commit];
}
- (void)waitUntilCompleted {
  [root_of(self) waitUntilCompleted];
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
  [root_of(self) addScheduledHandler:block];
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  [root_of(self) addCompletedHandler:block];
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  return [root_of(self) blitCommandEncoder];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return [root_of(self) computeCommandEncoder];
}
@end

// Plays Metal 4's objects, as Apple's headers of macOS 26 declare them, behind the simulated
// device, which has none; and breaks the rules of them or keeps them: `observer_metal4 CASE`.
#import <Metal/Metal.h>

#include <cstdio>
#include <cstring>
#include <latch>
#include <thread>

@protocol MTL4CommandAllocator <NSObject>
- (void)reset;
@end
@protocol MTL4CommandEncoder <NSObject>
- (void)endEncoding;
@end
@protocol MTL4ComputeCommandEncoder <MTL4CommandEncoder>
- (void)setArgumentTable:(id)table;
@end
@protocol MTL4CommandBuffer <NSObject>
- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator;
- (void)endCommandBuffer;
- (id<MTL4ComputeCommandEncoder>)computeCommandEncoder;
@end
@protocol MTL4CommandQueue <NSObject>
- (void)commit:(const id<MTL4CommandBuffer>*)buffers count:(NSUInteger)count;
@end
@protocol MTL4PlayedDevice <NSObject>
- (id<MTL4CommandAllocator>)newCommandAllocator;
- (id<MTL4CommandBuffer>)newCommandBuffer;
- (id<MTL4CommandQueue>)newMTL4CommandQueue;
@end

@interface MTL4CommitOptions : NSObject
- (void)addFeedbackHandler:(void (^)(void))handler;
@end
@implementation MTL4CommitOptions
- (void)addFeedbackHandler:(void (^)(void))handler {
  handler();
}
@end

@interface PlayedAllocator : NSObject <MTL4CommandAllocator>
@end
@implementation PlayedAllocator
- (void)reset {
}
@end

@interface PlayedEncoder : NSObject <MTL4ComputeCommandEncoder>
@end
@implementation PlayedEncoder
- (void)setArgumentTable:(id)table {
  (void)table;
}
- (void)endEncoding {
}
@end

@interface PlayedCommandBuffer : NSObject <MTL4CommandBuffer> {
  PlayedEncoder* encoder_;
}
@end
@implementation PlayedCommandBuffer
- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator {
  (void)allocator;
}
- (void)endCommandBuffer {
}
// The same each time, as a driver may have it.
- (id<MTL4ComputeCommandEncoder>)computeCommandEncoder {
  if (encoder_ == nil) encoder_ = [[PlayedEncoder alloc] init];
  return encoder_;
}
- (void)dealloc {
  [encoder_ release];
  [super dealloc];
}
@end

@interface PlayedQueue : NSObject <MTL4CommandQueue>
@end
@implementation PlayedQueue
- (void)commit:(const id<MTL4CommandBuffer>*)buffers count:(NSUInteger)count {
  (void)buffers;
  (void)count;
}
@end

@interface SimulatedDevice : NSObject
@end
@interface SimulatedDevice (Metal4) <MTL4PlayedDevice>
@end
@implementation SimulatedDevice (Metal4)
- (id<MTL4CommandAllocator>)newCommandAllocator {
  return [[PlayedAllocator alloc] init];
}
- (id<MTL4CommandBuffer>)newCommandBuffer {
  return [[PlayedCommandBuffer alloc] init];
}
- (id<MTL4CommandQueue>)newMTL4CommandQueue {
  return [[PlayedQueue alloc] init];
}
@end

namespace {

struct Objects {
  id<MTL4CommandQueue> queue;
  id<MTL4CommandAllocator> allocators[2];
  id<MTL4CommandBuffer> buffers[2];
};

void encode(id<MTL4CommandBuffer> commands) {
  id<MTL4ComputeCommandEncoder> const encoder = [commands computeCommandEncoder];
  [encoder setArgumentTable:nil];
  [encoder endEncoding];
}

void keep(Objects& all) {
  for (int frame = 0; frame < 4; ++frame) {
    [all.allocators[frame % 2] reset];
    [all.buffers[0] beginCommandBufferWithAllocator:all.allocators[frame % 2]];
    encode(all.buffers[0]);
    encode(all.buffers[0]);
    [all.buffers[0] endCommandBuffer];
    // One allocator serves one after the other.
    [all.buffers[1] beginCommandBufferWithAllocator:all.allocators[frame % 2]];
    [all.buffers[1] endCommandBuffer];
    [all.queue commit:all.buffers count:2];
  }
  // Gone while it was recorded: its allocator is free again.
  id<MTL4CommandBuffer> const dropped =
      [(id<MTL4PlayedDevice>)MTLCreateSystemDefaultDevice() newCommandBuffer];
  [dropped beginCommandBufferWithAllocator:all.allocators[0]];
  [dropped release];
  [all.allocators[0] reset];
}

void share_allocator(Objects& all) {
  [all.buffers[0] beginCommandBufferWithAllocator:all.allocators[0]];
  [all.buffers[1] beginCommandBufferWithAllocator:all.allocators[0]];
}

void reset_while_recording(Objects& all) {
  [all.buffers[0] beginCommandBufferWithAllocator:all.allocators[0]];
  [all.allocators[0] reset];
}

void commit_while_recording(Objects& all) {
  [all.buffers[0] beginCommandBufferWithAllocator:all.allocators[0]];
  [all.buffers[0] endCommandBuffer];
  [all.buffers[1] beginCommandBufferWithAllocator:all.allocators[0]];
  [all.queue commit:all.buffers count:2];
}

void encode_after_end(Objects& all) {
  [all.buffers[0] beginCommandBufferWithAllocator:all.allocators[0]];
  id<MTL4ComputeCommandEncoder> const encoder = [all.buffers[0] computeCommandEncoder];
  [encoder endEncoding];
  [encoder setArgumentTable:nil];
}

// Both are inside at once, for certain.
void share_options(Objects&) {
  MTL4CommitOptions* const options = [[MTL4CommitOptions alloc] init];
  std::latch inside(1);
  std::latch done(1);
  std::thread other([&] {
    [options addFeedbackHandler:^{
      inside.count_down();
      done.wait();
    }];
  });
  inside.wait();
  [options addFeedbackHandler:^{
  }];
  done.count_down();
  other.join();
}

constexpr struct {
  const char* name;
  void (*run)(Objects&);
} kCases[] = {
    {"keep", keep},
    {"shared-allocator", share_allocator},
    {"reset-while-recording", reset_while_recording},
    {"commit-while-recording", commit_while_recording},
    {"encode-after-end", encode_after_end},
    {"shared-commit-options", share_options},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& each : kCases) {
    if (argc != 2 || std::strcmp(argv[1], each.name) != 0) continue;
    @autoreleasepool {
      id<MTL4PlayedDevice> const device = (id<MTL4PlayedDevice>)MTLCreateSystemDefaultDevice();
      Objects all = {[device newMTL4CommandQueue],
                     { [device newCommandAllocator], [device newCommandAllocator] },
                     {[device newCommandBuffer], [device newCommandBuffer]}};
      each.run(all);
    }
    return 0;
  }
  std::fprintf(stderr, "usage: observer_metal4 CASE, one of:\n");
  for (const auto& each : kCases) std::fprintf(stderr, "  %s\n", each.name);
  return 2;
}

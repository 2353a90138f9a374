#include "scenarios/observer/extensions/torch_player.h"

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#ifdef __APPLE__
#include <dispatch/dispatch.h>
#else
#include <mutex>
#endif

namespace {

constexpr const char* kLabel = "metal gpu stream";

#ifndef __APPLE__
std::mutex queue;
thread_local const char* label = "";
#endif

struct Stream {
  id<MTLCommandQueue> queue = nil;
  MPSCommandBuffer* buffer = nil;
  id<MTLComputeCommandEncoder> encoder = nil;
};

Stream& stream() {
  static Stream* const one = [] {
    auto* const made = new Stream;
    made->queue = [MTLCreateSystemDefaultDevice() newCommandQueue];
    return made;
  }();
  return *one;
}

}  // namespace

#ifndef __APPLE__
// Libdispatch's, for the one queue that there is here.
extern "C" TORCH_PLAYER const char* dispatch_queue_get_label(void*) { return label; }
#endif

namespace torch_player {

void on_queue(const std::function<void()>& work) {
#ifdef __APPLE__
  static const dispatch_queue_t queue = dispatch_queue_create(kLabel, nullptr);
  dispatch_sync(queue, ^{
    work();
  });
#else
  const std::lock_guard lock(queue);
  label = kLabel;
  work();
  label = "";
#endif
}

id<MTLCommandBuffer> command_buffer() {
  Stream& one = stream();
  if (one.buffer == nil) {
    one.buffer = [[MPSCommandBuffer commandBufferFromCommandQueue:one.queue] retain];
  }
  return (id<MTLCommandBuffer>)one.buffer;
}

id<MTLComputeCommandEncoder> command_encoder() {
  Stream& one = stream();
  if (one.encoder == nil) one.encoder = [[command_buffer() computeCommandEncoder] retain];
  return one.encoder;
}

void end_kernel_coalescing() {
  Stream& one = stream();
  [one.encoder endEncoding];
  [one.encoder release];
  one.encoder = nil;
}

void synchronize() {
  on_queue([] {
    Stream& one = stream();
    end_kernel_coalescing();
    [command_buffer() commit];
    [command_buffer() waitUntilCompleted];
    [one.buffer release];
    one.buffer = nil;
  });
}

void run_operation() {
  on_queue([] { command_encoder(); });
}

}  // namespace torch_player

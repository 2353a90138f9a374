#include "scenarios/objective_c/metal_probe.h"

#import <Metal/Metal.h>

#include "scenarios/objective_c/owned.h"

namespace mpsprobe {

void* make_probe_queue(void* device) {
  return [static_cast<id<MTLDevice>>(device) newCommandQueue];
}

// The buffer is left to the process, which is ended after this.
Probe probe_metal(void* queue, const std::function<void()>& submitted) {
  const Pool pool;
  id<MTLCommandBuffer> const buffer =
      [[static_cast<id<MTLCommandQueue>>(queue) commandBuffer] retain];
  if (buffer == nil) return Probe::failed;
  [buffer commit];
  submitted();
  [buffer waitUntilCompleted];
  return [buffer status] == MTLCommandBufferStatusCompleted ? Probe::completed : Probe::failed;
}

}  // namespace mpsprobe

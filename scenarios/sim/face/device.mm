#include <cstdlib>
#include <cstring>

#include "scenarios/sim/face/objects.h"
#include "scenarios/sim/face/simulation.h"

using mpsprobe::sim::face::simulation;
namespace metal = mpsprobe::sim::metal;

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  // One device a process, as on a Mac; never freed.
  static SimulatedDevice* const device = [[SimulatedDevice alloc] init];
  return [device retain];
}

@implementation SimulatedDevice
- (id)init {
  simulation();
  return [super init];
}
- (NSString*)name {
  return [NSString stringWithUTF8String:std::string(simulation().device.name()).c_str()];
}
- (id<MTLCommandQueue>)newCommandQueue {
  return [[SimulatedQueue alloc] initWithDevice:self];
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  (void)options;
  return [[SimulatedBuffer alloc] initWithDevice:self bytes:nullptr length:length];
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options {
  (void)options;
  return [[SimulatedBuffer alloc] initWithDevice:self bytes:pointer length:length];
}
@end

@implementation SimulatedQueue
- (id)initWithDevice:(SimulatedDevice*)device {
  if ((self = [super init]) != nil) {
    device_ = [device retain];
    queue_ = new std::unique_ptr<metal::CommandQueue>(simulation().device.new_command_queue());
  }
  return self;
}
- (void)dealloc {
  delete queue_;
  [device_ release];
  [super dealloc];
}
- (id<MTLCommandBuffer>)commandBuffer {
  return [[[SimulatedCommandBuffer alloc] initWithQueue:self] autorelease];
}
@end

@implementation SimulatedBuffer
- (id)initWithDevice:(SimulatedDevice*)device bytes:(const void*)bytes length:(NSUInteger)length {
  if ((self = [super init]) != nil) {
    // New memory of Metal's is zeroed.
    contents_ = static_cast<char*>(std::calloc(length == 0 ? 1 : length, 1));
    if (contents_ == nullptr) {
      [self release];
      return nil;
    }
    device_ = [device retain];
    length_ = length;
    if (bytes != nullptr) std::memcpy(contents_, bytes, length);
  }
  return self;
}
- (void)dealloc {
  std::free(contents_);
  [device_ release];
  [super dealloc];
}
- (NSUInteger)length {
  return length_;
}
- (void*)contents {
  return contents_;
}
@end

namespace mpsprobe::sim::face {

std::span<float> numbers_in(id<MTLBuffer> buffer, size_t offset, size_t count) {
  return {reinterpret_cast<float*>(static_cast<char*>([buffer contents]) + offset), count};
}

}  // namespace mpsprobe::sim::face

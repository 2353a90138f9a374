#include <cstdlib>
#include <cstring>

#include "scenarios/sim/face/objects.h"
#include "scenarios/sim/face/pipeline.h"
#include "scenarios/sim/face/simulation.h"

using mpsprobe::sim::face::simulation;
using mpsprobe::sim::face::why_not_compiled;
namespace metal = mpsprobe::sim::metal;

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

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
  return [[SimulatedQueue alloc] init];
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  (void)options;
  return [[SimulatedBuffer alloc] initWithBytes:nullptr length:length];
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options {
  (void)options;
  return [[SimulatedBuffer alloc] initWithBytes:pointer length:length];
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError**)error {
  (void)options;
  const std::string problem = why_not_compiled([source UTF8String]);
  if (problem.empty()) return [[SimulatedLibrary alloc] initWithSource:source];
  if (error != nullptr) {
    NSString* const text = [NSString stringWithUTF8String:problem.c_str()];
    *error = [NSError
        errorWithDomain:MTLLibraryErrorDomain
                   code:3
               userInfo:[NSDictionary dictionaryWithObject:text forKey:NSLocalizedDescriptionKey]];
  }
  return nil;
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError**)error {
  (void)error;
  if (function == nil) {
    metal::fail_assertion("-[MTLComputePipelineDescriptorInternal setComputeFunction:withType:]",
                          722, "computeFunction must not be nil.");
  }
  return [[SimulatedPipeline alloc] initWithFunction:(SimulatedFunction*)function];
}
@end

@implementation SimulatedQueue
- (id)init {
  if ((self = [super init]) != nil) queue_ = simulation().device.new_command_queue().release();
  return self;
}
- (void)dealloc {
  delete queue_;
  [super dealloc];
}
- (id<MTLCommandBuffer>)commandBuffer {
  return [[[SimulatedCommandBuffer alloc] initWithQueue:self] autorelease];
}
@end

@implementation SimulatedBuffer
- (id)initWithBytes:(const void*)bytes length:(NSUInteger)length {
  if ((self = [super init]) != nil) {
    // New memory of Metal's is zeroed.
    contents_ = static_cast<char*>(std::calloc(length == 0 ? 1 : length, 1));
    if (contents_ == nullptr) {
      [self release];
      return nil;
    }
    length_ = length;
    if (bytes != nullptr) std::memcpy(contents_, bytes, length);
  }
  return self;
}
- (void)dealloc {
  std::free(contents_);
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

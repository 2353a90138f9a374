#include <more_foundation.h>

#include <cstdio>

#include "scenarios/sim/face/objects.h"
#include "scenarios/sim/face/pipeline.h"
#include "scenarios/sim/face/simulation.h"

using namespace mpsprobe::sim;
using namespace mpsprobe::sim::face;

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

namespace {

/// Takes each class into use that the first threads of a program may meet in. GNUstep's +initialize
/// of a class cluster adds methods to it, with which gcc's runtime shows the class to other threads
/// as initialized: one that allocates then gets an object without a class (24 of 100 processes with
/// three threads).
void initialize_foundation() {
  have_pool();
  [NSMutableArray arrayWithObject:[NSNumber numberWithInt:0]];
  [NSMutableDictionary dictionary];
  [NSMutableSet set];
  [NSMutableString string];
  [NSMutableData data];
  [NSError errorWithDomain:MTLLibraryErrorDomain code:0 userInfo:nil];
  // Apple's runtime makes a pool for a thread that has none; GNUstep logs each object instead.
  _NSLog_printf_handler = [](NSString* message) {
    if ([message rangeOfString:@"autorelease called without pool"].location != NSNotFound) return;
    std::fprintf(stderr, "%s\n", [message UTF8String]);
  };
}

}  // namespace

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  // One device a process, as on a Mac; never freed.
  static SimulatedDevice* const device = [[SimulatedDevice alloc] init];
  return [device retain];
}

NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  have_pool();
  const id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  return [[NSArray alloc] initWithObjects:&device count:1];
}

@implementation SimulatedDevice
- (id)init {
  simulation();
  initialize_foundation();
  return [super init];
}
MPSPROBE_METHOD(NSString*, name,
                [NSString stringWithUTF8String:std::string(simulation().device.name()).c_str()])
MPSPROBE_METHOD(BOOL, isLowPower, NO)
MPSPROBE_METHOD(BOOL, hasUnifiedMemory, YES)
MPSPROBE_METHOD(uint64_t, recommendedMaxWorkingSetSize, uint64_t{8} << 30)
MPSPROBE_METHOD(NSUInteger, maxBufferLength, NSUInteger{4} << 30)
MPSPROBE_METHOD(NSUInteger, currentAllocatedSize, allocated_bytes)
MPSPROBE_METHOD(uint64_t, registryID, 1)
- (BOOL)supportsFamily:(MTLGPUFamily)gpuFamily {
  return gpuFamily == MTLGPUFamilyMac2;
}
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length
                                            options:(MTLResourceOptions)options {
  return {in_heap(length), in_heap(1)};
}
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor {
  return [[SimulatedHeap alloc] initWithDescriptor:descriptor];
}
MPSPROBE_METHOD(id<MTLSharedEvent>, newSharedEvent, [[SimulatedEvent alloc] init])
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void* pointer, NSUInteger length))deallocator {
  return [[SimulatedBuffer alloc] initBorrowing:pointer length:length];
}
MPSPROBE_METHOD(id<MTLCommandQueue>, newCommandQueue, [[SimulatedQueue alloc] init])
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return [[SimulatedBuffer alloc] initWithBytes:nullptr length:length];
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options {
  return [[SimulatedBuffer alloc] initWithBytes:pointer length:length];
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError**)error {
  const std::string problem = why_not_compiled([source UTF8String]);
  if (problem.empty()) return [[SimulatedLibrary alloc] initWithSource:source];
  if (SimulatedLibrary* const more = [[SimulatedLibrary alloc] initWithMoreOf:source]) return more;
  if (error != nullptr) {
    NSString* const text = [NSString stringWithUTF8String:problem.c_str()];
    *error = [NSError
        errorWithDomain:MTLLibraryErrorDomain
                   code:3
               userInfo:[NSDictionary dictionaryWithObject:text forKey:NSLocalizedDescriptionKey]];
  }
  return nil;
}
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError**)error {
  return [[SimulatedLibrary alloc] initWithMoreOf:@""];
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError**)error {
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
MPSPROBE_METHOD(id<MTLDevice>, device, [MTLCreateSystemDefaultDevice() autorelease])
MPSPROBE_METHOD(id<MTLCommandBuffer>, commandBuffer,
                [[[SimulatedCommandBuffer alloc] initWithQueue:self] autorelease])
@end

namespace mpsprobe::sim::face {

void have_pool() {
  struct ThreadPools {
    // Never drained: what a thread drains at its end comes too late for Foundation.
    NSAutoreleasePool* const own = [[NSAutoreleasePool alloc] init];
    // An exception leaves the pools open that it passes, and GNUstep dies of a second one at the
    // thread's end.
    ~ThreadPools() {
      for (id last = [NSAutoreleasePool currentPool]; last != nil && last != own;
           last = [NSAutoreleasePool currentPool]) {
        [last release];
      }
    }
  };
  static thread_local const ThreadPools pools;
}

}  // namespace mpsprobe::sim::face

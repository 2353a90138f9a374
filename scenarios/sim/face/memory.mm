#include <cstdlib>
#include <cstring>

#include "scenarios/sim/face/objects.h"

using namespace mpsprobe::sim::face;

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
    allocated_bytes += length;
    if (bytes != nullptr) std::memcpy(contents_, bytes, length);
  }
  return self;
}
- (id)initBorrowing:(void*)bytes length:(NSUInteger)length {
  if ((self = [super init]) != nil) {
    contents_ = static_cast<char*>(bytes);
    length_ = length;
    borrowed_ = true;
  }
  return self;
}
- (void)dealloc {
  if (heap_ != nil) {
    *heap_->used_ -= in_heap(length_);
    [heap_ release];
  }
  if (!borrowed_) {
    std::free(contents_);
    allocated_bytes -= length_;
  }
  [super dealloc];
}
MPSPROBE_METHOD(id<MTLHeap>, heap, heap_)
MPSPROBE_METHOD(MTLStorageMode, storageMode, MTLStorageModeShared)
MPSPROBE_METHOD(MTLResourceOptions, resourceOptions, MTLResourceStorageModeShared)
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return MTLPurgeableStateNonVolatile;
}
MPSPROBE_METHOD(uint64_t, gpuAddress, reinterpret_cast<uint64_t>(contents_))
- (void)didModifyRange:(NSRange)range {
  // the memory is one
}
MPSPROBE_METHOD(NSUInteger, length, length_)
MPSPROBE_METHOD(void*, contents, contents_)
@end

@implementation MTLHeapDescriptor
MPSPROBE_METHOD(NSUInteger, size, reinterpret_cast<NSUInteger>(simulated_))
- (void)setSize:(NSUInteger)size {
  simulated_ = reinterpret_cast<void*>(size);  // NOLINT(performance-no-int-to-ptr)
}
MPSPROBE_IGNORED(MTLStorageMode, storageMode, setStorageMode)
MPSPROBE_IGNORED(MTLCPUCacheMode, cpuCacheMode, setCpuCacheMode)
MPSPROBE_IGNORED(MTLHazardTrackingMode, hazardTrackingMode, setHazardTrackingMode)
MPSPROBE_IGNORED(MTLResourceOptions, resourceOptions, setResourceOptions)
MPSPROBE_IGNORED(MTLHeapType, type, setType)
@end

@implementation SimulatedHeap
- (id)initWithDescriptor:(MTLHeapDescriptor*)descriptor {
  if ((self = [super init]) != nil) {
    size_ = [descriptor size];
    used_ = new std::atomic<NSUInteger>(0);
  }
  return self;
}
- (void)dealloc {
  delete used_;
  [super dealloc];
}
MPSPROBE_METHOD(NSUInteger, size, size_)
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment {
  const NSUInteger used = *used_;
  return used < size_ ? size_ - used : 0;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  if (used_->fetch_add(in_heap(length)) + in_heap(length) > size_) {
    *used_ -= in_heap(length);
    return nil;
  }
  SimulatedBuffer* const buffer = [[SimulatedBuffer alloc] initWithBytes:nullptr length:length];
  buffer->heap_ = [self retain];
  return buffer;
}
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return MTLPurgeableStateNonVolatile;
}
@end

namespace mpsprobe::sim::face {

std::atomic<NSUInteger> allocated_bytes = 0;

}  // namespace mpsprobe::sim::face

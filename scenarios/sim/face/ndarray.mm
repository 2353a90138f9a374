#include "scenarios/sim/face/ndarray.h"

#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "scenarios/sim/face/graph_body.h"
#include "scenarios/sim/metal.h"

using mpsprobe::sim::face::bytes_of;
using mpsprobe::sim::face::Layout;
using mpsprobe::sim::face::packed;
namespace metal = mpsprobe::sim::metal;

namespace {

/// The simulated halves of the two classes.
Layout& layout_in(MPSNDArrayDescriptor* descriptor) {
  return *static_cast<Layout*>(descriptor->simulated_);
}

struct ArrayHalf {
  id<MTLBuffer> buffer;
  NSUInteger offset = 0;
  Layout layout;
};
ArrayHalf& half_of(MPSNDArray* array) { return *static_cast<ArrayHalf*>(array->simulated_); }

}  // namespace

@implementation MPSNDArrayDescriptor
+ (instancetype)descriptorWithDataType:(MPSDataType)dataType shape:(NSArray<NSNumber*>*)shape {
  return [[[self alloc] initSimulated:packed(dataType, shape)] autorelease];
}
- (id)initSimulated:(const Layout&)layout {
  if ((self = [super init]) != nil) simulated_ = new Layout(layout);
  return self;
}
- (void)dealloc {
  delete static_cast<Layout*>(simulated_);
  [super dealloc];
}
- (BOOL)preferPackedRows {
  return YES;
}
- (void)setPreferPackedRows:(BOOL)prefers {
  (void)prefers;  // rows are never padded here
}
- (void)transposeDimension:(NSUInteger)dimensionIndex withDimension:(NSUInteger)dimensionIndex2 {
  Layout& layout = layout_in(self);
  if (dimensionIndex >= layout.sizes.size() || dimensionIndex2 >= layout.sizes.size()) {
    metal::fail_assertion("-[MPSNDArrayDescriptor transposeDimension:withDimension:]", 0,
                          "dimension index not within number of dimensions");
  }
  std::swap(layout.sizes[dimensionIndex], layout.sizes[dimensionIndex2]);
  std::swap(layout.strides[dimensionIndex], layout.strides[dimensionIndex2]);
}
@end

@implementation MPSNDArray
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor {
  const Layout& layout = layout_in(descriptor);
  id<MTLBuffer> const own =
      [device newBufferWithLength:static_cast<NSUInteger>(layout.elements()) * bytes_of(layout.type)
                          options:MTLResourceStorageModeShared];
  self = [self initWithBuffer:own offset:0 descriptor:descriptor];
  [own release];
  return self;
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor {
  if ((self = [super init]) != nil) {
    const Layout& layout = layout_in(descriptor);
    const auto needed = static_cast<NSUInteger>(layout.elements()) * bytes_of(layout.type);
    if (offset > [buffer length] || needed > [buffer length] - offset) {
      metal::fail_assertion("MPSCore/Types/MPSNDArray.mm", 893,
                            "[MPSNDArray, initWithBufferImpl:offset:descriptor:isForNDArrayAlias:"
                            "isUserBuffer:] Error: buffer is not large enough. Must be " +
                                std::to_string(offset + needed) + " bytes");
    }
    simulated_ = new ArrayHalf{[buffer retain], offset, layout};
  }
  return self;
}
- (MPSDataType)dataType {
  return static_cast<MPSDataType>(half_of(self).layout.type);
}
- (NSUInteger)numberOfDimensions {
  return half_of(self).layout.sizes.size();
}
- (MPSNDArrayDescriptor*)descriptor {
  return [[[MPSNDArrayDescriptor alloc] initSimulated:half_of(self).layout] autorelease];
}
/// Of the same memory.
- (MPSNDArray*)simulatedView:(Layout)layout {
  MPSNDArray* const view = [[[MPSNDArray alloc] init] autorelease];
  const ArrayHalf& half = half_of(self);
  view->simulated_ = new ArrayHalf{[half.buffer retain], half.offset, std::move(layout)};
  return view;
}
- (MPSNDArray*)arrayViewWithShape:(MPSShape*)shape strides:(MPSShape*)strides {
  Layout layout = shape == nil ? half_of(self).layout : packed(half_of(self).layout.type, shape);
  const NSUInteger count = [strides count];
  for (NSUInteger i = 0; i < count; ++i) {
    layout.strides[i] = [[strides objectAtIndex:count - 1 - i] integerValue];
  }
  return [self simulatedView:std::move(layout)];
}
- (MPSNDArray*)arrayViewWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                               descriptor:(MPSNDArrayDescriptor*)descriptor
                                 aliasing:(MPSAliasingStrategy)aliasing {
  (void)cmdBuf;
  (void)aliasing;
  return [self simulatedView:layout_in(descriptor)];
}
- (void)writeBytes:(void*)buffer strideBytes:(NSInteger*)strideBytesPerDimension {
  (void)strideBytesPerDimension;  // packed
  const ArrayHalf& half = half_of(self);
  std::memcpy(static_cast<char*>([half.buffer contents]) + half.offset, buffer,
              static_cast<size_t>(half.layout.elements()) * bytes_of(half.layout.type));
}
- (void)dealloc {
  [half_of(self).buffer release];
  delete &half_of(self);
  [super dealloc];
}
@end

@implementation MPSNDArrayUnaryKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  return [super initWithDevice:device sourceCount:1];
}
@end

@implementation MPSNDArrayIdentity
- (MPSNDArray*)reshapeWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                            sourceArray:(MPSNDArray*)sourceArray
                                  shape:(MPSShape*)shape
                       destinationArray:(MPSNDArray*)destinationArray {
  (void)cmdBuf;
  (void)destinationArray;
  const Layout& from = half_of(sourceArray).layout;
  Layout layout = packed(from.type, shape);
  // Nothing is copied: only dimensions of one element may come and go.
  size_t next = 0;
  for (size_t i = 0; i < layout.sizes.size(); ++i) {
    if (layout.sizes[i] == 1) continue;
    while (next < from.sizes.size() && from.sizes[next] == 1) ++next;
    if (next == from.sizes.size() || from.sizes[next] != layout.sizes[i]) return nil;
    layout.strides[i] = from.strides[next++];
  }
  return [sourceArray simulatedView:std::move(layout)];
}
@end

namespace mpsprobe::sim::face {

int64_t Layout::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

const Layout& layout_of(MPSNDArray* array) { return half_of(array).layout; }

id<MTLBuffer> buffer_of(MPSNDArray* array) { return half_of(array).buffer; }
size_t offset_of(MPSNDArray* array) { return half_of(array).offset; }

Layout packed(uint32_t type, NSArray<NSNumber*>* shape) {
  Layout layout{.type = type};
  int64_t stride = 1;
  for (NSUInteger i = [shape count]; i-- > 0;) {
    const auto size = static_cast<int64_t>([[shape objectAtIndex:i] integerValue]);
    layout.sizes.push_back(size);
    layout.strides.push_back(stride);
    stride *= size;
  }
  return layout;
}

float* first_number(MPSNDArray* array) {
  const ArrayHalf& half = half_of(array);
  return reinterpret_cast<float*>(static_cast<char*>([half.buffer contents]) + half.offset);
}

MatrixView matrix_of(MPSNDArray* array) {
  const Layout& layout = layout_of(array);
  if (layout.sizes.size() != 2) {
    metal::fail_assertion("-[MPSNDArrayMatrixMultiplication encode]", 0,
                          "the simulated device multiplies arrays of two dimensions alone");
  }
  return {first_number(array), layout.sizes[1], layout.sizes[0], layout.strides[1],
          layout.strides[0]};
}

}  // namespace mpsprobe::sim::face

#include "scenarios/sim/face/ndarray.h"

#include <numeric>
#include <string>
#include <utility>

#include "scenarios/sim/metal.h"

using mpsprobe::sim::face::Layout;
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
  if (dataType != MPSDataTypeFloat32) {
    metal::fail_assertion("+[MPSNDArrayDescriptor descriptorWithDataType:shape:]", 0,
                          "the simulated device has float32 alone");
  }
  MPSNDArrayDescriptor* const descriptor = [[[self alloc] initSimulated] autorelease];
  int64_t stride = 1;
  // The shape has the slowest moving dimension first.
  for (NSUInteger i = [shape count]; i-- > 0;) {
    const auto size = static_cast<int64_t>([[shape objectAtIndex:i] integerValue]);
    layout_in(descriptor).sizes.push_back(size);
    layout_in(descriptor).strides.push_back(stride);
    stride *= size;
  }
  return descriptor;
}
- (id)initSimulated {
  if ((self = [super init]) != nil) simulated_ = new Layout;
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
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor {
  if ((self = [super init]) != nil) {
    const Layout& layout = layout_in(descriptor);
    const auto needed = static_cast<NSUInteger>(layout.elements()) * sizeof(float);
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
- (void)dealloc {
  [half_of(self).buffer release];
  delete &half_of(self);
  [super dealloc];
}
@end

namespace mpsprobe::sim::face {

int64_t Layout::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

const Layout& layout_of(MPSNDArray* array) { return half_of(array).layout; }

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

#include "scenarios/sim/face/ndarray.h"

#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "scenarios/sim/face/objects.h"

using namespace mpsprobe::sim;
using namespace mpsprobe::sim::face;

namespace {

/// The simulated halves of the two classes.
Layout& layout_in(MPSNDArrayDescriptor* descriptor) {
  return *static_cast<Layout*>(descriptor->simulated_);
}
Placed& half_of(MPSNDArray* array) { return *static_cast<Placed*>(array->simulated_); }

/// Each element's place in memory, the last dimension moving fastest.
template <typename Visit>
void each_place(const Placed& placed, const Visit& visit) {
  const Layout& layout = placed.layout;
  char* const first = static_cast<char*>([placed.buffer contents]) + placed.offset;
  const size_t width = bytes_of(layout.type);
  for (int64_t i = 0; i < layout.elements(); ++i) {
    int64_t place = 0;
    for (int64_t rest = i, d = 0; d < static_cast<int64_t>(layout.sizes.size()); ++d) {
      place += rest % layout.sizes[static_cast<size_t>(d)] * layout.strides[static_cast<size_t>(d)];
      rest /= layout.sizes[static_cast<size_t>(d)];
    }
    visit(first + static_cast<size_t>(place) * width);
  }
}

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
MPSPROBE_IGNORED(BOOL, preferPackedRows, setPreferPackedRows)
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
    simulated_ = new Placed{[buffer retain], offset, layout};
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
  const Placed& half = half_of(self);
  view->simulated_ = new Placed{[half.buffer retain], half.offset, std::move(layout)};
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
  return [self simulatedView:layout_in(descriptor)];
}
- (void)writeBytes:(void*)buffer strideBytes:(NSInteger*)strideBytesPerDimension {
  // packed
  const Placed& half = half_of(self);
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

const Placed& placed_of(MPSNDArray* array) { return half_of(array); }

Sizes sizes_of(const Placed& placed) {
  return {placed.layout.sizes.rbegin(), placed.layout.sizes.rend()};
}

Array read(const Placed& placed) {
  Array array{sizes_of(placed), {}};
  array.numbers.reserve(static_cast<size_t>(placed.layout.elements()));
  each_place(placed,
             [&](const char* at) { array.numbers.push_back(load(at, placed.layout.type)); });
  return array;
}

void write(const Placed& placed, const Array& array, bool wrong) {
  size_t next = 0;
  each_place(placed, [&](char* at) {
    const double number = array.numbers[array.numbers.size() == 1 ? 0 : next++];
    store(at, placed.layout.type, wrong ? 113 : number);
  });
}

}  // namespace mpsprobe::sim::face

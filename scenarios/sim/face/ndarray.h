#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <cstdint>
#include <vector>

#include "scenarios/sim/face/graph_body.h"

namespace mpsprobe::sim::face {

/// How an array of any number of dimensions lies in memory. Dimension 0 is the fastest moving one,
/// as MPSNDArray counts them, whatever the order in memory became by transposing.
struct Layout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  ///< in elements
  uint32_t type = 0;             ///< an MPSDataType

  int64_t elements() const;
};

/// Without gaps, of a shape that has its slowest moving dimension first.
Layout packed(uint32_t type, NSArray<NSNumber*>* shape);

/// An array in a buffer: what an MPSNDArray and an MPSGraphTensorData are. Whoever has one keeps
/// the buffer.
struct Placed {
  id<MTLBuffer> buffer;
  NSUInteger offset = 0;
  Layout layout;
};
const Placed& placed_of(MPSNDArray* array);

/// The slowest moving dimension first.
Sizes sizes_of(const Placed& placed);
Array read(const Placed& placed);
/// One number fills whatever it is written to. `wrong`: overlapping encodes have overwritten it.
void write(const Placed& placed, const Array& array, bool wrong);

}  // namespace mpsprobe::sim::face

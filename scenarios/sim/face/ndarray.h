#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <cstdint>
#include <vector>

#include "scenarios/sim/face/numbers.h"

namespace mpsprobe::sim::face {

/// How an array of any number of dimensions lies in memory. Dimension 0 is the fastest moving one,
/// as MPSNDArray counts them, whatever the order in memory became by transposing.
struct Layout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  ///< in elements
  uint32_t type = 0;             ///< an MPSDataType

  int64_t elements() const;
};

/// The array as a matrix; asserts where it has another number of dimensions than two.
MatrixView matrix_of(MPSNDArray* array);

/// The array's numbers in the order of its memory, from its first one on.
float* first_number(MPSNDArray* array);

/// How the array lies in memory, and where.
const Layout& layout_of(MPSNDArray* array);
id<MTLBuffer> buffer_of(MPSNDArray* array);
size_t offset_of(MPSNDArray* array);

/// Without gaps, of a shape that has its slowest moving dimension first.
Layout packed(uint32_t type, NSArray<NSNumber*>* shape);

}  // namespace mpsprobe::sim::face

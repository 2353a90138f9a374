#include "scenarios/sim/face/rules/matrices.h"

#include <cstdio>
#include <cstdlib>

#include "scenarios/sim/face/rules/workbench.h"

namespace mpsprobe::metal_rules {

MPSNDArray* matrix(id<MTLBuffer> buffer, NSUInteger offset) {
  if (@available(macOS 15.0, *)) {
    MPSNDArrayDescriptor* const descriptor =
        [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:@[ @2, @2 ]];
    [descriptor setPreferPackedRows:YES];
    return [[[MPSNDArray alloc] initWithBuffer:buffer offset:offset
                                    descriptor:descriptor] autorelease];
  }
  std::fputs("metal_rules: arrays in buffers need macOS 15. Choose another rule.\n", stderr);
  std::exit(3);
}

MPSNDArrayMatrixMultiplication* product_kernel() {
  return [[[MPSNDArrayMatrixMultiplication alloc] initWithDevice:device()
                                                     sourceCount:2] autorelease];
}

}  // namespace mpsprobe::metal_rules

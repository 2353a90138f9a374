#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

/// Matrices for rules about kernels. What is returned is autoreleased.
namespace mpsprobe::metal_rules {

/// Two by two numbers in `buffer` from byte `offset` on. Ends the process with exit status 3 where
/// macOS is older than 15, which has no such arrays.
MPSNDArray* matrix(id<MTLBuffer> buffer, NSUInteger offset);

/// A kernel that multiplies two matrices.
MPSNDArrayMatrixMultiplication* product_kernel();

}  // namespace mpsprobe::metal_rules

// The part of Apple's MetalPerformanceShaders that mpsprobe uses. See ../../README.md.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

// Beside an SDK of Apple's that is older than macOS 15: what its own header would not have.
#if !defined(__APPLE__) || defined(__MAC_15_0)
#define MPSPROBE_SDK_15(...) __VA_ARGS__
#else
#define MPSPROBE_SDK_15(...)
#endif

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(uint32_t, MPSDataType) {
  MPSDataTypeInvalid = 0,

  MPSDataTypeFloatBit = 0x10000000,
  MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
  MPSDataTypeFloat16 = MPSDataTypeFloatBit | 16,

  MPSDataTypeComplexBit = 0x01000000,
  MPSDataTypeComplexFloat32 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 64,
  MPSDataTypeComplexFloat16 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 32,

  MPSDataTypeSignedBit = 0x20000000,
  MPSDataTypeInt8 = MPSDataTypeSignedBit | 8,
  MPSDataTypeInt16 = MPSDataTypeSignedBit | 16,
  MPSDataTypeInt32 = MPSDataTypeSignedBit | 32,
  MPSDataTypeInt64 = MPSDataTypeSignedBit | 64,
  MPSDataTypeUInt8 = 8,
  MPSDataTypeUInt16 = 16,
  MPSDataTypeUInt32 = 32,
  MPSDataTypeUInt64 = 64,

  MPSDataTypeAlternateEncodingBit = 0x80000000,
  MPSDataTypeBool = MPSDataTypeAlternateEncodingBit | 8,
  MPSDataTypeBFloat16 = MPSDataTypeAlternateEncodingBit | MPSDataTypeFloat16,
} API_AVAILABLE(macos(10.13));

/// The length of each dimension, the slowest moving one first.
typedef NSArray<NSNumber*> MPSShape;

API_AVAILABLE(macos(10.15))
@interface MPSCommandBuffer : NSObject <MTLCommandBuffer>
MPSPROBE_SIMULATED_HALF
@property(readonly, nonnull, nonatomic, retain) id<MTLCommandBuffer> rootCommandBuffer;
+ (nonnull instancetype)commandBufferFromCommandQueue:(nonnull id<MTLCommandQueue>)commandQueue;
- (nonnull instancetype)init __attribute__((unavailable));
/// Commits the root and goes on in a new one.
- (void)commitAndContinue;
@end

API_AVAILABLE(macos(10.13))
@interface MPSKernel : NSObject
MPSPROBE_SIMULATED_HALF
- (nonnull instancetype)initWithDevice:(nonnull id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;
@end

API_AVAILABLE(macos(10.15))
@interface MPSNDArrayDescriptor : NSObject
MPSPROBE_SIMULATED_HALF
MPSPROBE_SDK_15(@property(readwrite, nonatomic) BOOL preferPackedRows API_AVAILABLE(macos(15.0));)
+ (nonnull instancetype)descriptorWithDataType:(MPSDataType)dataType
                                         shape:(NSArray<NSNumber*>* _Nonnull)shape;
- (nonnull instancetype)init __attribute__((unavailable));
- (void)transposeDimension:(NSUInteger)dimensionIndex withDimension:(NSUInteger)dimensionIndex2;
@end

typedef NS_OPTIONS(NSUInteger, MPSAliasingStrategy) {
  MPSAliasingStrategyShallAlias = 1 << 0,
} API_AVAILABLE(macos(15.0));

API_AVAILABLE(macos(10.15))
@interface MPSNDArray : NSObject
MPSPROBE_SIMULATED_HALF
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) NSUInteger numberOfDimensions;
- (nonnull instancetype)initWithDevice:(nonnull id<MTLDevice>)device
                            descriptor:(nonnull MPSNDArrayDescriptor*)descriptor;
- (nonnull MPSNDArrayDescriptor*)descriptor;
- (nullable MPSNDArray*)arrayViewWithShape:(nullable MPSShape*)shape
                                   strides:(nonnull MPSShape*)strides API_AVAILABLE(macos(15.0));
- (nullable MPSNDArray*)arrayViewWithCommandBuffer:(nullable id<MTLCommandBuffer>)cmdBuf
                                        descriptor:(nonnull MPSNDArrayDescriptor*)descriptor
                                          aliasing:(MPSAliasingStrategy)aliasing;
- (nonnull instancetype)init __attribute__((unavailable));
MPSPROBE_SDK_15(-(nonnull instancetype)initWithBuffer
                : (id<MTLBuffer> _Nonnull)buffer offset
                : (NSUInteger)offset descriptor
                : (MPSNDArrayDescriptor* _Nonnull)descriptor API_AVAILABLE(macos(15.0));)
@end

API_AVAILABLE(macos(10.15))
@interface MPSNDArrayMultiaryBase : MPSKernel
- (nonnull instancetype)initWithDevice:(nonnull id<MTLDevice>)device __attribute__((unavailable));
- (nonnull instancetype)initWithDevice:(nonnull id<MTLDevice>)device
                           sourceCount:(NSUInteger)count NS_DESIGNATED_INITIALIZER;
@end

API_AVAILABLE(macos(10.15))
@interface MPSNDArrayMultiaryKernel : MPSNDArrayMultiaryBase
- (nonnull instancetype)initWithDevice:(nonnull id<MTLDevice>)device
                           sourceCount:(NSUInteger)count NS_DESIGNATED_INITIALIZER;
- (void)encodeToCommandBuffer:(nonnull id<MTLCommandBuffer>)cmdBuf
                 sourceArrays:(nonnull NSArray<MPSNDArray*>*)sourceArrays
             destinationArray:(nonnull MPSNDArray*)destination;
MPSPROBE_SDK_15(-(void)encodeToCommandEncoder
                : (nullable id<MTLComputeCommandEncoder>)encoder commandBuffer
                : (nonnull id<MTLCommandBuffer>)commandBuffer sourceArrays
                : (nonnull NSArray<MPSNDArray*>*)sourceArrays destinationArray
                : (nonnull MPSNDArray*)destination API_AVAILABLE(macos(15.0));)
@end

API_AVAILABLE(macos(10.15))
@interface MPSNDArrayUnaryKernel : MPSNDArrayMultiaryKernel
- (nonnull instancetype)initWithDevice:(nonnull id<MTLDevice>)device;
@end

API_AVAILABLE(macos(15.0))
@interface MPSNDArrayIdentity : MPSNDArrayUnaryKernel
- (nullable MPSNDArray*)reshapeWithCommandBuffer:(nullable id<MTLCommandBuffer>)cmdBuf
                                     sourceArray:(nonnull MPSNDArray*)sourceArray
                                           shape:(nonnull MPSShape*)shape
                                destinationArray:(nullable MPSNDArray*)destinationArray;
@end

API_AVAILABLE(macos(10.15))
@interface MPSNDArrayMatrixMultiplication : MPSNDArrayMultiaryKernel
@end

API_AVAILABLE(macos(10.13))
@interface MPSMatrixDescriptor : NSObject
@end

API_AVAILABLE(macos(10.13))
@interface MPSMatrix : NSObject
- (nonnull instancetype)initWithBuffer:(nonnull id<MTLBuffer>)buffer
                                offset:(NSUInteger)offset
                            descriptor:(nonnull MPSMatrixDescriptor*)descriptor;
@end

API_AVAILABLE(macos(10.13))
@interface MPSMatrixDecompositionLU : MPSKernel
@end

API_AVAILABLE(macos(10.13))
@interface MPSMatrixSolveTriangular : MPSKernel
@end

NS_ASSUME_NONNULL_END

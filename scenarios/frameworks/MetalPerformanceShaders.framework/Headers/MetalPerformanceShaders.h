// The part of Apple's MetalPerformanceShaders that mpsprobe uses. See ../../README.md.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(uint32_t, MPSDataType) {
  MPSDataTypeInvalid = 0,

  MPSDataTypeFloatBit = 0x10000000,
  MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
} API_AVAILABLE(macos(10.13));

/// The length of each dimension, the slowest moving one first.
typedef NSArray<NSNumber*> MPSShape;

API_AVAILABLE(macos(10.15))
@interface MPSCommandBuffer : NSObject <MTLCommandBuffer>
MPSPROBE_SIMULATED_HALF
@property(readonly, nonnull, nonatomic, retain) id<MTLCommandBuffer> rootCommandBuffer;
+ (nonnull instancetype)commandBufferFromCommandQueue:(nonnull id<MTLCommandQueue>)commandQueue;
- (nonnull instancetype)init __attribute__((unavailable));
@end

API_AVAILABLE(macos(10.13))
@interface MPSKernel : NSObject
MPSPROBE_SIMULATED_HALF
- (nonnull instancetype)initWithDevice:(nonnull id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;
@end

API_AVAILABLE(macos(10.15))
@interface MPSNDArrayDescriptor : NSObject
MPSPROBE_SIMULATED_HALF
@property(readwrite, nonatomic) BOOL preferPackedRows API_AVAILABLE(macos(15.0));
+ (nonnull instancetype)descriptorWithDataType:(MPSDataType)dataType
                                         shape:(NSArray<NSNumber*>* _Nonnull)shape;
- (nonnull instancetype)init __attribute__((unavailable));
- (void)transposeDimension:(NSUInteger)dimensionIndex withDimension:(NSUInteger)dimensionIndex2;
@end

API_AVAILABLE(macos(10.15))
@interface MPSNDArray : NSObject
MPSPROBE_SIMULATED_HALF
- (nonnull instancetype)init __attribute__((unavailable));
- (nonnull instancetype)initWithBuffer:(id<MTLBuffer> _Nonnull)buffer
                                offset:(NSUInteger)offset
                            descriptor:(MPSNDArrayDescriptor* _Nonnull)descriptor
    API_AVAILABLE(macos(15.0));
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
- (void)encodeToCommandEncoder:(nullable id<MTLComputeCommandEncoder>)encoder
                 commandBuffer:(nonnull id<MTLCommandBuffer>)commandBuffer
                  sourceArrays:(nonnull NSArray<MPSNDArray*>*)sourceArrays
              destinationArray:(nonnull MPSNDArray*)destination API_AVAILABLE(macos(15.0));
@end

API_AVAILABLE(macos(10.15))
@interface MPSNDArrayMatrixMultiplication : MPSNDArrayMultiaryKernel
@end

NS_ASSUME_NONNULL_END

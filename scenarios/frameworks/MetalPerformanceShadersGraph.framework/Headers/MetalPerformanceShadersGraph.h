// The part of Apple's MetalPerformanceShadersGraph that mpsprobe uses. See ../../README.md.
#pragma once

#import <Foundation/Foundation.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

@class MPSGraphOperation;

NS_ASSUME_NONNULL_BEGIN

API_AVAILABLE(macos(14.0))
@interface MPSGraphObject : NSObject
MPSPROBE_SIMULATED_HALF
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraphTensor : MPSGraphObject <NSCopying>
@property(readonly, nonatomic, nullable) MPSShape* shape;
@property(readonly, nonatomic) MPSDataType dataType;
- (instancetype)init __attribute__((unavailable));
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraphOperation : MPSGraphObject
- (instancetype)init __attribute__((unavailable));
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraphTensorData : MPSGraphObject
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)dataType;
- (instancetype)initWithMPSNDArray:(MPSNDArray*)ndarray;
@end

typedef NSDictionary<MPSGraphTensor*, MPSGraphTensorData*> MPSGraphTensorDataDictionary;

typedef NS_ENUM(uint64_t, MPSGraphOptimization) {
  MPSGraphOptimizationLevel0 = 0,
} API_AVAILABLE(macos(12.3));

API_AVAILABLE(macos(11.0))
@interface MPSGraphCompilationDescriptor : MPSGraphObject
@property(readwrite, nonatomic) MPSGraphOptimization optimizationLevel API_AVAILABLE(macos(12.3));
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraphExecutionDescriptor : MPSGraphObject
@property(readwrite, atomic, copy) MPSGraphCompilationDescriptor* compilationDescriptor;
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraph : MPSGraphObject
- (void)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                        feeds:(MPSGraphTensorDataDictionary*)feeds
             targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
            resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
          executionDescriptor:(MPSGraphExecutionDescriptor* _Nullable)executionDescriptor;
@end

typedef NS_ENUM(NSUInteger, MPSGraphTensorNamedDataLayout) {
  MPSGraphTensorNamedDataLayoutNCHW = 0,
  MPSGraphTensorNamedDataLayoutNHWC = 1,
  MPSGraphTensorNamedDataLayoutOIHW = 2,
  MPSGraphTensorNamedDataLayoutCHW = 4,
  MPSGraphTensorNamedDataLayoutNCDHW = 7,
  MPSGraphTensorNamedDataLayoutOIDHW = 9,
} API_AVAILABLE(macos(11.0));

typedef NS_ENUM(NSUInteger, MPSGraphPaddingStyle) {
  MPSGraphPaddingStyleExplicit = 0,
} API_AVAILABLE(macos(11.0));

typedef NS_ENUM(NSInteger, MPSGraphPaddingMode) {
  MPSGraphPaddingModeConstant = 0,
  MPSGraphPaddingModeReflect = 1,
  MPSGraphPaddingModeSymmetric = 2,
  MPSGraphPaddingModeClampToEdge = 3,
  MPSGraphPaddingModeZero = 4,
} API_AVAILABLE(macos(11.0));

typedef NS_ENUM(NSInteger, MPSGraphScatterMode) {
  MPSGraphScatterModeAdd = 0,
  MPSGraphScatterModeMul = 2,
  MPSGraphScatterModeMin = 4,
  MPSGraphScatterModeMax = 5,
  MPSGraphScatterModeSet = 6,
} API_AVAILABLE(macos(11.3));

typedef NS_ENUM(NSUInteger, MPSGraphResizeMode) {
  MPSGraphResizeNearest = 0,
  MPSGraphResizeBilinear = 1,
} API_AVAILABLE(macos(11.0));

typedef NS_ENUM(NSUInteger, MPSGraphResizeNearestRoundingMode) {
  MPSGraphResizeNearestRoundingModeRoundPreferCeil = 0,
  MPSGraphResizeNearestRoundingModeRoundPreferFloor = 1,
  MPSGraphResizeNearestRoundingModeCeil = 2,
  MPSGraphResizeNearestRoundingModeFloor = 3,
  MPSGraphResizeNearestRoundingModeRoundToEven = 4,
  MPSGraphResizeNearestRoundingModeRoundToOdd = 5,
} API_AVAILABLE(macos(13.0));

typedef NS_ENUM(NSUInteger, MPSGraphPoolingReturnIndicesMode) {
  MPSGraphPoolingReturnIndicesGlobalFlatten2D = 3,
} API_AVAILABLE(macos(12.3));

typedef NS_ENUM(NSUInteger, MPSGraphFFTScalingMode) {
  MPSGraphFFTScalingModeNone = 0,
  MPSGraphFFTScalingModeSize = 1,
  MPSGraphFFTScalingModeUnitary = 2,
} API_AVAILABLE(macos(14.0));

API_AVAILABLE(macos(11.0))
@interface MPSGraphConvolution2DOpDescriptor : MPSGraphObject <NSCopying>
@property(readwrite, nonatomic) NSUInteger strideInX, strideInY, dilationRateInX, dilationRateInY;
@property(readwrite, nonatomic) NSUInteger paddingLeft, paddingRight, paddingTop, paddingBottom;
@property(readwrite, nonatomic) MPSGraphPaddingStyle paddingStyle;
@property(readwrite, nonatomic) MPSGraphTensorNamedDataLayout dataLayout, weightsLayout;
@property(readwrite, nonatomic) NSUInteger groups;
@end

API_AVAILABLE(macos(13.2))
@interface MPSGraphConvolution3DOpDescriptor : MPSGraphObject <NSCopying>
@property(readwrite, nonatomic) NSUInteger strideInX, strideInY, strideInZ;
@property(readwrite, nonatomic) NSUInteger dilationRateInX, dilationRateInY, dilationRateInZ;
@property(readwrite, nonatomic) NSUInteger paddingLeft, paddingRight, paddingTop, paddingBottom;
@property(readwrite, nonatomic) NSUInteger paddingFront, paddingBack;
@property(readwrite, nonatomic) MPSGraphPaddingStyle paddingStyle;
@property(readwrite, nonatomic) MPSGraphTensorNamedDataLayout dataLayout, weightsLayout;
@property(readwrite, nonatomic) NSUInteger groups;
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraphDepthwiseConvolution3DOpDescriptor : MPSGraphObject <NSCopying>
@property(readwrite, nonatomic) MPSGraphPaddingStyle paddingStyle;
@property(readwrite, nonatomic) NSInteger channelDimensionIndex;
@property(readwrite, nonatomic, copy) NSArray<NSNumber*>* paddingValues;
@property(readwrite, nonatomic, copy) NSArray<NSNumber*>* strides;
@property(readwrite, nonatomic, copy) NSArray<NSNumber*>* dilationRates;
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraphPooling2DOpDescriptor : MPSGraphObject <NSCopying>
@property(readwrite, nonatomic) MPSGraphPoolingReturnIndicesMode returnIndicesMode;
@property(readwrite, nonatomic) MPSDataType returnIndicesDataType;
@property(readwrite, nonatomic) MPSGraphTensorNamedDataLayout dataLayout;
@property(readwrite, nonatomic) BOOL ceilMode, includeZeroPadToAverage;
@end

API_AVAILABLE(macos(12.3))
@interface MPSGraphLSTMDescriptor : MPSGraphObject <NSCopying>
@property(readwrite, nonatomic) BOOL bidirectional, training, produceCell;
@end

API_AVAILABLE(macos(14.0))
@interface MPSGraphFFTDescriptor : MPSGraphObject <NSCopying>
@property(readwrite, nonatomic) BOOL inverse, roundToOddHermitean;
@property(readwrite, nonatomic) MPSGraphFFTScalingMode scalingMode;
+ (nullable instancetype)descriptor;
@end

@interface MPSGraph (MemoryOps)
- (MPSGraphTensor*)placeholderWithShape:(MPSShape* _Nullable)shape
                               dataType:(MPSDataType)dataType
                                   name:(NSString* _Nullable)name;
@end

@interface MPSGraph (MPSGraphMatrixMultiplicationOps)
- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                         secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                                    name:(NSString* _Nullable)name;
@end

@interface MPSGraph (MPSGraphTensorShapeOps)
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                         dimension:(NSUInteger)dimensionIndex
                     withDimension:(NSUInteger)dimensionIndex2
                              name:(NSString* _Nullable)name;
@end

@interface MPSGraph (MPSGraphArithmeticOps)
- (MPSGraphTensor*)divisionWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                             secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                        name:(NSString* _Nullable)name;
- (MPSGraphTensor*)additionWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                             secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                        name:(NSString* _Nullable)name;
@end

@interface MPSGraph (MPSGraphActivationOps)
- (MPSGraphTensor*)reLUWithTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;
- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor
                                axis:(NSInteger)axis
                                name:(NSString* _Nullable)name;
@end

typedef NS_ENUM(uint64_t, MPSGraphRandomDistribution) {
  MPSGraphRandomDistributionUniform = 0,
  MPSGraphRandomDistributionNormal = 1,
} API_AVAILABLE(macos(11.0));

API_AVAILABLE(macos(11.0))
@interface MPSGraphRandomOpDescriptor : MPSGraphObject
@property(readwrite, nonatomic) float min;
@property(readwrite, nonatomic) float max;
@property(readwrite, nonatomic) NSInteger minInteger;
@property(readwrite, nonatomic) NSInteger maxInteger;
@property(readwrite, nonatomic) float mean;
@property(readwrite, nonatomic) float standardDeviation;
+ (nullable instancetype)descriptorWithDistribution:(MPSGraphRandomDistribution)distribution
                                           dataType:(MPSDataType)dataType;
@end

@interface MPSGraph (MPSGraphRandomOps)
- (MPSGraphTensor*)randomTensorWithShape:(MPSShape*)shape
                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                    seed:(NSUInteger)seed
                                    name:(NSString* _Nullable)name;
@end

NS_ASSUME_NONNULL_END

// The part of Apple's MetalPerformanceShadersGraph that mpsprobe uses. See ../../README.md.
#pragma once

#import <Foundation/Foundation.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

@class MPSGraphCompilationDescriptor;
@class MPSGraphOperation;

NS_ASSUME_NONNULL_BEGIN

API_AVAILABLE(macos(14.0))
@interface MPSGraphObject : NSObject
MPSPROBE_SIMULATED_HALF
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraphTensor : MPSGraphObject <NSCopying>
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
@end

typedef NSDictionary<MPSGraphTensor*, MPSGraphTensorData*> MPSGraphTensorDataDictionary;

API_AVAILABLE(macos(11.0))
@interface MPSGraphExecutionDescriptor : MPSGraphObject
@end

API_AVAILABLE(macos(11.0))
@interface MPSGraph : MPSGraphObject
- (void)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                        feeds:(MPSGraphTensorDataDictionary*)feeds
             targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
            resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
          executionDescriptor:(MPSGraphExecutionDescriptor* _Nullable)executionDescriptor;
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
  MPSGraphRandomDistributionNormal = 1,
} API_AVAILABLE(macos(11.0));

API_AVAILABLE(macos(11.0))
@interface MPSGraphRandomOpDescriptor : MPSGraphObject
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

// The part of Apple's Metal that mpsprobe uses. See ../../README.md.
#pragma once

#import <Foundation/Foundation.h>
#include <stdint.h>

// GNUstep knows nothing of Apple's releases: there, everything that is declared is available.
#if !defined(__APPLE__) && !defined(API_AVAILABLE)
#define API_AVAILABLE(...)
#endif

// The runtime of GNUstep's classes wants instance variables where a class is declared. This one is
// the simulated device's half of an object, inherited by the classes below.
#if defined(__APPLE__)
#define MPSPROBE_SIMULATED_HALF
#else
#define MPSPROBE_SIMULATED_HALF \
  {                             \
   @public                      \
    void* simulated_;           \
  }
#endif

#if defined(__cplusplus)
#define MTL_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define MTL_EXTERN extern __attribute__((visibility("default")))
#endif

@protocol MTLBlitCommandEncoder;
@protocol MTLBuffer;
@protocol MTLCommandBuffer;
@protocol MTLCommandQueue;
@protocol MTLComputeCommandEncoder;
@protocol MTLComputePipelineState;
@protocol MTLDevice;
@protocol MTLFunction;
@protocol MTLLibrary;
@protocol MTLSharedEvent;
@class MTLCompileOptions;

NS_ASSUME_NONNULL_BEGIN

typedef struct {
  NSUInteger width, height, depth;
} MTLSize;
static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  MTLSize size = {width, height, depth};
  return size;
}

#define MTLResourceStorageModeShift 4

typedef NS_ENUM(NSUInteger, MTLStorageMode) {
  MTLStorageModeShared = 0,
} API_AVAILABLE(macos(10.11));

typedef NS_OPTIONS(NSUInteger, MTLResourceOptions) {
  MTLResourceStorageModeShared API_AVAILABLE(macos(10.11)) = MTLStorageModeShared
                                                             << MTLResourceStorageModeShift,
} API_AVAILABLE(macos(10.11));

typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) {
  MTLCommandBufferStatusNotEnqueued = 0,
  MTLCommandBufferStatusEnqueued = 1,
  MTLCommandBufferStatusCommitted = 2,
  MTLCommandBufferStatusScheduled = 3,
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5,
} API_AVAILABLE(macos(10.11));

API_AVAILABLE(macos(10.11))
MTL_EXTERN NSErrorDomain const MTLCommandBufferErrorDomain;

API_AVAILABLE(macos(10.11))
MTL_EXTERN NSErrorDomain const MTLLibraryErrorDomain;

typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);

API_AVAILABLE(macos(10.11))
MTL_EXTERN id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;

API_AVAILABLE(macos(10.11))
@protocol MTLDevice <NSObject>
@property(nonnull, readonly) NSString* name;
- (nullable id<MTLCommandQueue>)newCommandQueue;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                                      options:(MTLResourceOptions)options;
- (nullable id<MTLBuffer>)newBufferWithBytes:(const void*)pointer
                                      length:(NSUInteger)length
                                     options:(MTLResourceOptions)options;
- (nullable id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                                        options:(nullable MTLCompileOptions*)options
                                          error:(NSError* _Nullable* _Nullable)error;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                  error:(NSError* _Nullable* _Nullable)error;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLLibrary <NSObject>
- (nullable id<MTLFunction>)newFunctionWithName:(NSString*)functionName;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLFunction <NSObject>
@property(readonly) NSString* name;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLCommandQueue <NSObject>
- (nullable id<MTLCommandBuffer>)commandBuffer;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLCommandBuffer <NSObject>
@property(readonly) MTLCommandBufferStatus status;
@property(nullable, readonly) NSError* error;
- (void)commit;
- (void)addScheduledHandler:(MTLCommandBufferHandler)block;
- (void)addCompletedHandler:(MTLCommandBufferHandler)block;
- (void)waitUntilCompleted;
- (nullable id<MTLBlitCommandEncoder>)blitCommandEncoder;
- (nullable id<MTLComputeCommandEncoder>)computeCommandEncoder;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLCommandEncoder <NSObject>
- (void)endEncoding;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;
- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destinationBuffer
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)setBuffer:(nullable id<MTLBuffer>)buffer
           offset:(NSUInteger)offset
          atIndex:(NSUInteger)index;
- (void)dispatchThreads:(MTLSize)threadsPerGrid
    threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup API_AVAILABLE(macos(10.13));
@end

// Nothing of this protocol is used; it is the one that MTLResource refines.
API_AVAILABLE(macos(15.0))
@protocol MTLAllocation <NSObject>
@end

API_AVAILABLE(macos(10.11))
@protocol MTLResource <MTLAllocation>
@end

API_AVAILABLE(macos(10.11))
@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
- (void*)contents;
@end

NS_ASSUME_NONNULL_END

// The part of Apple's Metal that mpsprobe uses. See ../../README.md.
#pragma once

#import <Foundation/Foundation.h>
#include <stdint.h>

// GNUstep knows nothing of Apple's releases: there, everything that is declared is available.
#if !defined(__APPLE__) && !defined(API_AVAILABLE)
#define API_AVAILABLE(...)
#endif

typedef double CFTimeInterval;

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

@protocol MTLArgumentEncoder;
@protocol MTLBlitCommandEncoder;
@protocol MTLBuffer;
@protocol MTLCommandBuffer;
@protocol MTLCommandQueue;
@protocol MTLComputeCommandEncoder;
@protocol MTLComputePipelineState;
@protocol MTLDevice;
@protocol MTLEvent;
@protocol MTLFunction;
@protocol MTLHeap;
@protocol MTLLibrary;
@protocol MTLResource;
@protocol MTLSharedEvent;
@class MTLCompileOptions;
@class MTLHeapDescriptor;
@class MTLSharedEventListener;

NS_ASSUME_NONNULL_BEGIN

typedef struct {
  NSUInteger width, height, depth;
} MTLSize;
static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  MTLSize size = {width, height, depth};
  return size;
}

typedef struct {
  NSUInteger size, align;
} MTLSizeAndAlign;

#define MTLResourceStorageModeShift 4
#define MTLResourceHazardTrackingModeShift 8

typedef NS_ENUM(NSUInteger, MTLStorageMode) {
  MTLStorageModeShared = 0,
  MTLStorageModeManaged = 1,
  MTLStorageModePrivate = 2,
} API_AVAILABLE(macos(10.11));

typedef NS_ENUM(NSUInteger, MTLCPUCacheMode) {
  MTLCPUCacheModeDefaultCache = 0,
} API_AVAILABLE(macos(10.11));

typedef NS_ENUM(NSUInteger, MTLHazardTrackingMode) {
  MTLHazardTrackingModeDefault = 0,
  MTLHazardTrackingModeUntracked = 1,
  MTLHazardTrackingModeTracked = 2,
} API_AVAILABLE(macos(10.15));

typedef NS_ENUM(NSUInteger, MTLPurgeableState) {
  MTLPurgeableStateNonVolatile = 2,
  MTLPurgeableStateEmpty = 4,
} API_AVAILABLE(macos(10.11));

typedef NS_ENUM(NSInteger, MTLHeapType) {
  MTLHeapTypeAutomatic = 0,
} API_AVAILABLE(macos(10.15));

typedef NS_ENUM(NSInteger, MTLGPUFamily) {
  MTLGPUFamilyMac2 = 2002,
} API_AVAILABLE(macos(10.15));

typedef NS_OPTIONS(NSUInteger, MTLResourceUsage) {
  MTLResourceUsageRead = 1 << 0,
  MTLResourceUsageWrite = 1 << 1,
} API_AVAILABLE(macos(10.13));

typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
  MTLLanguageVersion3_0 = (3 << 16) + 0,
  MTLLanguageVersion3_1 = (3 << 16) + 1,
} API_AVAILABLE(macos(10.11));

typedef NS_ENUM(NSInteger, MTLMathMode) {
  MTLMathModeSafe = 0,
  MTLMathModeFast = 2,
} API_AVAILABLE(macos(15.0));

typedef NS_ENUM(NSInteger, MTLMathFloatingPointFunctions) {
  MTLMathFloatingPointFunctionsFast = 0,
  MTLMathFloatingPointFunctionsPrecise = 1,
} API_AVAILABLE(macos(15.0));

typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationGPUTraceDocument = 2,
} API_AVAILABLE(macos(10.15));

typedef NS_OPTIONS(NSUInteger, MTLResourceOptions) {
  MTLResourceStorageModeShared API_AVAILABLE(macos(10.11)) = MTLStorageModeShared
                                                             << MTLResourceStorageModeShift,
  MTLResourceCPUCacheModeDefaultCache = MTLCPUCacheModeDefaultCache,
  MTLResourceStorageModeManaged = MTLStorageModeManaged << MTLResourceStorageModeShift,
  MTLResourceStorageModePrivate = MTLStorageModePrivate << MTLResourceStorageModeShift,
  MTLResourceHazardTrackingModeUntracked = MTLHazardTrackingModeUntracked
                                           << MTLResourceHazardTrackingModeShift,
  MTLResourceHazardTrackingModeTracked = MTLHazardTrackingModeTracked
                                         << MTLResourceHazardTrackingModeShift,
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
MTL_EXTERN NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) NS_RETURNS_RETAINED;

API_AVAILABLE(macos(10.11))
@protocol MTLDevice <NSObject>
@property(nonnull, readonly) NSString* name;
@property(readonly, getter=isLowPower) BOOL lowPower;
@property(readonly) BOOL hasUnifiedMemory;
@property(readonly) uint64_t recommendedMaxWorkingSetSize;
@property(readonly) NSUInteger currentAllocatedSize;
@property(readonly) NSUInteger maxBufferLength;
@property(readonly) uint64_t registryID;
- (BOOL)supportsFamily:(MTLGPUFamily)gpuFamily;
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length
                                            options:(MTLResourceOptions)options;
- (nullable id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor;
- (nullable id<MTLSharedEvent>)newSharedEvent;
- (nullable id<MTLBuffer>)
    newBufferWithBytesNoCopy:(void*)pointer
                      length:(NSUInteger)length
                     options:(MTLResourceOptions)options
                 deallocator:(void (^_Nullable)(void* pointer, NSUInteger length))deallocator;
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
@property(readonly) id<MTLDevice> device;
@property(readonly) NSArray<NSString*>* functionNames;
- (nullable id<MTLFunction>)newFunctionWithName:(NSString*)functionName;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLFunction <NSObject>
@property(readonly) NSString* name;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLCommandQueue <NSObject>
@property(readonly) id<MTLDevice> device;
- (nullable id<MTLCommandBuffer>)commandBuffer;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLCommandBuffer <NSObject>
@property(readonly) MTLCommandBufferStatus status;
@property(nullable, readonly) NSError* error;
@property(readonly) CFTimeInterval kernelStartTime, kernelEndTime API_AVAILABLE(macos(10.15));
@property(readonly) CFTimeInterval GPUStartTime, GPUEndTime API_AVAILABLE(macos(10.15));
- (void)commit;
- (void)addScheduledHandler:(MTLCommandBufferHandler)block;
- (void)addCompletedHandler:(MTLCommandBufferHandler)block;
- (void)waitUntilCompleted;
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
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
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid
       threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)dispatchThreads:(MTLSize)threadsPerGrid
    threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup API_AVAILABLE(macos(10.13));
@end

API_AVAILABLE(macos(10.13))
@protocol MTLArgumentEncoder <NSObject>
@property(readonly) NSUInteger encodedLength;
- (void)setArgumentBuffer:(nullable id<MTLBuffer>)argumentBuffer offset:(NSUInteger)offset;
- (void)setBuffer:(nullable id<MTLBuffer>)buffer
           offset:(NSUInteger)offset
          atIndex:(NSUInteger)index;
@end

// Nothing of this protocol is used; it is the one that MTLResource refines.
API_AVAILABLE(macos(15.0))
@protocol MTLAllocation <NSObject>
@end

API_AVAILABLE(macos(10.11))
@protocol MTLResource <MTLAllocation>
@property(readonly) MTLStorageMode storageMode;
@property(readonly) MTLResourceOptions resourceOptions;
@property(nullable, readonly) id<MTLHeap> heap;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
@end

API_AVAILABLE(macos(10.11))
@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
@property(readonly) uint64_t gpuAddress API_AVAILABLE(macos(13.0));
- (void*)contents;
- (void)didModifyRange:(NSRange)range;
@end

API_AVAILABLE(macos(10.13))
@interface MTLHeapDescriptor : NSObject
MPSPROBE_SIMULATED_HALF
@property(readwrite, nonatomic) NSUInteger size;
@property(readwrite, nonatomic) MTLStorageMode storageMode;
@property(readwrite, nonatomic) MTLCPUCacheMode cpuCacheMode;
@property(readwrite, nonatomic) MTLHazardTrackingMode hazardTrackingMode;
@property(readwrite, nonatomic) MTLResourceOptions resourceOptions;
@property(readwrite, nonatomic) MTLHeapType type;
@end

API_AVAILABLE(macos(10.13))
@protocol MTLHeap <MTLAllocation>
@property(readonly) NSUInteger size;
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                                      options:(MTLResourceOptions)options;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
@end

API_AVAILABLE(macos(10.14))
@protocol MTLEvent <NSObject>
@end

typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent>, uint64_t value);

API_AVAILABLE(macos(10.14))
@interface MTLSharedEventListener : NSObject
MPSPROBE_SIMULATED_HALF
@end

API_AVAILABLE(macos(10.14))
@protocol MTLSharedEvent <MTLEvent>
@property(readwrite) uint64_t signaledValue;
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
@end

API_AVAILABLE(macos(10.11))
@interface MTLCompileOptions : NSObject
MPSPROBE_SIMULATED_HALF
@property(readwrite, nonatomic) BOOL fastMathEnabled;
@property(readwrite, nonatomic) MTLLanguageVersion languageVersion;
@property(readwrite, nonatomic) MTLMathMode mathMode API_AVAILABLE(macos(15.0));
@property(readwrite, nonatomic)
    MTLMathFloatingPointFunctions mathFloatingPointFunctions API_AVAILABLE(macos(15.0));
@end

API_AVAILABLE(macos(10.15))
@interface MTLCaptureDescriptor : NSObject
MPSPROBE_SIMULATED_HALF
@property(nonatomic, strong, nullable) id captureObject;
@property(nonatomic, assign) MTLCaptureDestination destination;
@property(nonatomic, copy, nullable) NSURL* outputURL;
@end

API_AVAILABLE(macos(10.13))
@interface MTLCaptureManager : NSObject
MPSPROBE_SIMULATED_HALF
@property(readonly) BOOL isCapturing;
+ (MTLCaptureManager*)sharedCaptureManager;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor
                             error:(NSError* _Nullable* _Nullable)error;
- (void)stopCapture;
@end

NS_ASSUME_NONNULL_END

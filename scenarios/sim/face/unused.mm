#include <more_foundation.h>

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "scenarios/sim/face/objects.h"

// What programs name, and set, and which changes nothing here. What they call of it besides is not
// there, and says so.

@implementation MTLCompileOptions
MPSPROBE_IGNORED(BOOL, fastMathEnabled, setFastMathEnabled)
MPSPROBE_IGNORED(MTLLanguageVersion, languageVersion, setLanguageVersion)
MPSPROBE_IGNORED(MTLMathMode, mathMode, setMathMode)
MPSPROBE_IGNORED(MTLMathFloatingPointFunctions, mathFloatingPointFunctions,
                 setMathFloatingPointFunctions)
@end

// Nothing is optimised; and see makeRoomForGraph.
@implementation MPSGraphCompilationDescriptor
MPSPROBE_IGNORED(MPSGraphOptimization, optimizationLevel, setOptimizationLevel)
@end

@implementation MPSGraphExecutionDescriptor
MPSPROBE_IGNORED(MPSGraphCompilationDescriptor*, compilationDescriptor, setCompilationDescriptor)
MPSPROBE_IGNORED(BOOL, enableCommitAndContinue, setEnableCommitAndContinue)
@end

@implementation MTLCaptureDescriptor
MPSPROBE_IGNORED(id, captureObject, setCaptureObject)
MPSPROBE_IGNORED(MTLCaptureDestination, destination, setDestination)
MPSPROBE_IGNORED(NSURL*, outputURL, setOutputURL)
@end

@implementation MTLCaptureManager
+ (MTLCaptureManager*)sharedCaptureManager {
  static MTLCaptureManager* const only = [[MTLCaptureManager alloc] init];
  return only;
}
MPSPROBE_METHOD(BOOL, isCapturing, NO)
- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
  return NO;
}
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError**)error {
  return NO;
}
- (void)stopCapture {
}
@end

#define MPSPROBE_NAMED(Class) \
  @implementation Class       \
  @end
#pragma clang diagnostic ignored "-Wincomplete-implementation"
#pragma clang diagnostic ignored "-Wobjc-property-implementation"
#pragma clang diagnostic ignored "-Wprotocol"
MPSPROBE_NAMED(MPSGraphConvolution2DOpDescriptor)
MPSPROBE_NAMED(MPSGraphConvolution3DOpDescriptor)
MPSPROBE_NAMED(MPSGraphDepthwiseConvolution3DOpDescriptor)
MPSPROBE_NAMED(MPSGraphPooling2DOpDescriptor)
MPSPROBE_NAMED(MPSGraphLSTMDescriptor)
MPSPROBE_NAMED(MPSGraphFFTDescriptor)
MPSPROBE_NAMED(MPSMatrixDescriptor)
MPSPROBE_NAMED(MPSMatrix)
MPSPROBE_NAMED(MPSMatrixDecompositionLU)
MPSPROBE_NAMED(MPSMatrixSolveTriangular)

// The system that the simulated device runs on: macOS 15.0.
@implementation NSProcessInfo (Simulated)
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version {
  return version.majorVersion < 15 || (version.majorVersion == 15 && version.minorVersion <= 0);
}
@end
